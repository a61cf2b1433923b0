// Rules: authored documents with the tier and the modality of every block in its place, what they cost and where they clash.

import { call } from "./api.js";
import { meter, tiersLegend } from "./charts.js";
import { fill, h, lengthOf, sliceable } from "./dom.js";
import { bytes, count, firstLine, plural } from "./format.js";
import { calmly, empty, head, into } from "./pieces.js";
import { link } from "./router.js";

export const rules = { title: "Rules", key: "r", mount: (outlet, app, params) => new Rules(outlet, app, params) };

class Rules {
  #params = {};

  constructor(outlet, app, params) {
    this.app = app;
    this.top = h("div", { class: "stack-of" });
    this.names = h("nav", { class: "documents", "aria-label": "Documents" });
    this.document = h("div", { class: "stack-of" });
    this.grid = h("div", { class: "rules" }, this.names, this.document);
    fill(outlet, head("Rules", "What is in every prompt because somebody wrote it down."), h("div", { class: "stack-of" }, this.top, this.grid));
    this.off = app.events.on("documents", calmly(() => this.update(this.#params), 200));
    this.update(params);
  }

  leave() {
    this.off();
  }

  async update(params) {
    this.#params = params;
    const told = await into(this.top, call("documents"), (told) => this.#overview(told));
    this.grid.hidden = !told?.documents.length;
    if (!told?.documents.length) return;
    const name = params.name ?? told.documents[0].name;
    fill(this.names, told.documents.map((one) => this.#link(one, name)));
    await into(this.document, call("document", { name }), (one) => this.#show(one));
    document.getElementById(`line-${params.line}`)?.scrollIntoView({ block: "center" });
  }

  #overview(told) {
    if (!told.documents.length) return [empty("No rules yet", "Write rules in Markdown, one to a line, and load them: what must be kept is then in every prompt.", "libravdb rules load AGENTS.md --core")];
    const { budget } = told;
    const clashes = told.contradictions.map((clash) =>
      h("div", { class: "failure", role: "note" }, h("strong", null, "Contradiction: "), "the same is demanded and forbidden", h("div", { class: "clash" }, [...clash.obligatory, ...clash.forbidden].map((place) => h("span", null, place_(place), place.text ? ` ${firstLine(place.text, 80)}` : "")))),
    );
    const twice = told.duplicates.map((one) => h("p", { class: "hint" }, `Said ${plural(one.places.length, "time")}: “${firstLine(one.places[0]?.text || one.rule, 100)}” – `, one.places.map((place, at) => [at ? ", " : "", place_(place)])));
    return [h("section", { class: "card stack-of", "aria-label": "What rules cost" }, meter("hard", budget.hardUsed, budget.hardLimit, "tier-hard"), meter("soft", budget.softUsed, budget.softLimit, "tier-soft"), h("p", { class: "small quiet" }, `Of a budget of ${count(budget.tokens)} tokens. Hard rules are in every prompt, soft ones where they fit, lore where it is called for.`)), ...clashes, ...twice];
  }

  #link(one, name) {
    const tokens = one.tokens.hard + one.tokens.soft + one.tokens.lore;
    return h(
      "a",
      { href: link("rules", { name: one.name }), "aria-current": one.name === name ? "page" : null },
      one.name,
      h("small", null, `${plural(one.blocks, "block")} · ${count(tokens)} tokens · ${bytes(one.bytes)}`),
      one.contradictions ? h("span", { class: "badge bad" }, plural(one.contradictions, "contradiction")) : null,
      one.problem ? h("span", { class: "badge bad" }, one.problem) : null,
    );
  }

  #show(one) {
    return [
      h("div", { class: "under" }, h("h2", null, one.name), tiersLegend(["hard", "soft", "lore"])),
      one.blocks.length ? h("div", null, one.blocks.map(blockRow)) : h("p", { class: "quiet" }, "There is nothing in this document."),
    ];
  }
}

function place_(place) {
  return h("a", { href: link("rules", { name: place.document, line: place.line }) }, `${place.document}:${place.line}`);
}

function blockRow(block) {
  const flags = [
    block.contradicts?.length || block.contradicts === true ? h("span", { class: "badge bad" }, "contradicts another") : null,
    block.repeats?.length || block.repeats === true ? h("span", { class: "badge warn" }, "said elsewhere too") : null,
    block.fits === false ? h("span", { class: "badge bad" }, "does not fit") : null,
    block.promoted ? h("span", { class: "badge", title: "a rule by its words" }, "promoted") : null,
    (block.modalities ?? []).map((modality) => h("span", { class: "badge" }, modality)),
  ].flat().filter(Boolean);
  return h(
    "div",
    { class: `block tier-${block.tier} ${block.fits === false ? "unfit" : ""}`, id: `line-${block.line}` },
    h("span", { class: "line-number" }, block.line),
    h("div", { class: "block-text" }, marked(block.text, block.marks ?? [])),
    h("div", { class: "block-side" }, flags, h("span", { class: `badge tier tier-${block.tier}` }, block.tier), h("span", { class: "number" }, `${count(block.tokens)} tok`)),
  );
}

/** A text with some of its places marked, sign for sign the same. */
export function marked(text, marks, className = (mark) => mark.modality) {
  const slice = sliceable(text);
  const parts = [];
  let at = 0;
  for (const mark of marks.toSorted((a, b) => a.start - b.start)) {
    if (mark.start < at || mark.end <= mark.start) continue;
    parts.push(slice(at, mark.start), h("mark", { class: className(mark), title: mark.modality ?? mark.title }, slice(mark.start, mark.end)));
    at = mark.end;
  }
  return [...parts, slice(at, lengthOf(text))];
}
