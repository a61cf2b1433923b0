// Rules: authored documents with the tier and the modality of every block in its place, what they cost and where they clash.

import { call } from "./api.js";
import { meter, tiersLegend } from "./charts.js";
import { fill, h, lengthOf, sliceable } from "./dom.js";
import { bytes, count, firstLine, plural } from "./format.js";
import { VirtualList } from "./list.js";
import { calmly, empty, facts, head, into } from "./pieces.js";
import { go } from "./router.js";

export const rules = { title: "Rules", key: "r", mount: (outlet, app, params) => new Rules(outlet, app, params) };

const LINE_PX = 24;
const FRAME_PX = 15; // of a row, around its text
const LETTERS = 8.2; // px of one, about

class Rules {
  #params = {};
  #name = null;

  constructor(outlet, app, params) {
    this.app = app;
    this.top = h("div", { class: "stack-of" });
    this.findings = new VirtualList({ label: "Contradictions and repetitions", className: "snug findings", guess: () => 56, row: findingRow, open: (found) => this.#openFinding(found) });
    this.documents = new VirtualList({ label: "Documents", className: "snug documents", guess: () => 58, row: documentRow, open: (one) => go("rules", { name: one.name }) });
    this.blocks = new VirtualList({ label: "Blocks, in their order", className: "snug blocks", guess: lines, row: blockRow, rowClass: (block) => `block-row tier-${block.tier} ${block.fits === false ? "unfit" : ""}`, open: (block) => this.#openBlock(block) });
    this.told = h("div");
    this.grid = h("div", { class: "rules" }, this.documents.element, h("div", null, this.told, this.blocks.element));
    fill(outlet, head("Rules", "What is in every prompt because somebody wrote it down."), h("div", { class: "stack-of" }, this.top, this.findings.element, this.grid));
    for (const list of [this.findings, this.documents, this.blocks]) list.element.addEventListener("focus", () => app.keys.follow(list));
    app.keys.follow(this.blocks);
    this.off = app.events.on("documents", calmly(() => this.update(this.#params), 200));
    this.update(params);
  }

  leave() {
    this.off();
    for (const list of [this.findings, this.documents, this.blocks]) list.dispose();
  }

  async update(params) {
    const again = params === this.#params;
    this.#params = params;
    const told = await into(this.top, call("documents"), (told) => this.#overview(told));
    if (params !== this.#params) return; // another is asked for by now
    const found = told ? [...told.contradictions, ...told.duplicates] : [];
    this.findings.element.hidden = !found.length;
    this.findings.set(found, { keep: again });
    this.grid.hidden = !told?.documents.length;
    if (!told?.documents.length) return;
    const name = params.name ?? told.documents[0].name;
    this.documents.set(told.documents, { keep: true });
    this.documents.choose(told.documents.findIndex((one) => one.name === name));
    const one = await into(this.told, call("document", { name }), (one) => this.#show(one));
    if (params !== this.#params) return;
    this.blocks.element.hidden = !one?.blocks.length;
    this.blocks.set(one?.blocks ?? [], { keep: again && this.#name === name });
    this.#name = name;
    if (params.line && !again) this.#goTo(Number(params.line));
  }

  /** The block in which a line stands. */
  #goTo(line) {
    const after = this.blocks.items.findIndex((block) => block.line > line);
    this.blocks.choose(after < 0 ? this.blocks.items.length - 1 : after - 1);
    this.blocks.element.scrollIntoView({ block: "nearest" });
    this.blocks.element.focus({ preventScroll: true });
  }

  #overview(told) {
    if (!told.documents.length) return [empty("No rules yet", "Write rules in Markdown, one to a line, and load them: what must be kept is then in every prompt.", "libravdb rules load AGENTS.md --core")];
    const { budget } = told;
    return [h("section", { class: "card stack-of", "aria-label": "What rules cost" }, meter("hard", budget.hardUsed, budget.hardLimit, "tier-hard"), meter("soft", budget.softUsed, budget.softLimit, "tier-soft"), h("p", { class: "small quiet" }, `Of a budget of ${count(budget.tokens)} tokens. Hard rules are in every prompt, soft ones where they fit, lore where it is called for.`))];
  }

  #show(one) {
    return [
      h("div", { class: "under" }, h("h2", null, one.name), tiersLegend(["hard", "soft", "lore"])),
      one.blocks.length ? null : h("p", { class: "quiet" }, "There is nothing in this document."),
    ];
  }

  #openBlock(block) {
    this.app.panel.open(
      `${this.#name}, line ${block.line}`,
      h("div", { class: "said", tabindex: "0", "aria-label": "Text of the block" }, marked(block.text, block.marks)),
      h("div", { class: "actions" }, flags(block)),
      facts([["tier", tierBadge(block.tier)], ["kind", block.kind], ["modality", block.modalities.join(", ")], ["size", plural(block.tokens, "token")], ["id", h("code", null, block.id)]]),
    );
  }

  #openFinding(found) {
    const list = new VirtualList({
      label: "Where it is said",
      className: "snug",
      guess: () => 56,
      row: ([what, place]) => [h("div", { class: "row-meta" }, h("span", { class: "role" }, `${place.document}:${place.line}`), what ? h("span", { class: "badge" }, what) : null), h("div", null, firstLine(place.text, 300))],
      open: ([, place]) => {
        this.app.panel.stepAside();
        go("rules", { name: place.document, line: place.line });
      },
    });
    this.app.panel.open(found.places ? `Said ${plural(found.places.length, "time")}` : "Contradiction", h("p", { class: "small quiet" }, found.places ? "Once is enough; each costs its tokens." : "The same is demanded and forbidden."), list.element);
    list.set(placesOf(found));
  }
}

/** How high a text will be, about. */
function lines(block, width) {
  const letters = Math.max(12, (width - (width <= 520 ? 70 : 300)) / LETTERS);
  const many = block.text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / letters)), 0);
  return FRAME_PX + (many + (width <= 520 ? 1 : 0)) * LINE_PX;
}

function placesOf(found) {
  if (found.places) return found.places.map((place) => ["", place]);
  return [...found.obligatory.map((place) => ["demanded", place]), ...found.forbidden.map((place) => ["forbidden", place])];
}

function findingRow(found) {
  const places = placesOf(found).map(([, place]) => place);
  const where = places.slice(0, 3).map((place) => `${place.document}:${place.line}`).join(", ") + (places.length > 3 ? " …" : "");
  if (found.places) return [h("span", { class: "badge warn" }, "repetition"), ` Said ${plural(places.length, "time")}: “${firstLine(places[0]?.text || found.rule, 100)}” – ${where}`];
  const words = places.filter((place) => place.text).slice(0, 2).map((place) => `“${firstLine(place.text, 80)}”`).join(" / ");
  return [h("span", { class: "badge bad" }, "contradiction"), ` The same is demanded and forbidden: ${words || found.action} – ${where}`];
}

function documentRow(one) {
  const tokens = one.tokens.hard + one.tokens.soft + one.tokens.lore;
  return [
    one.name,
    h("small", null, `${plural(one.blocks, "block")} · ${count(tokens)} tokens · ${bytes(one.bytes)}`),
    one.contradictions ? h("span", { class: "badge bad" }, plural(one.contradictions, "contradiction")) : null,
    one.problem ? h("span", { class: "badge bad" }, one.problem) : null,
  ];
}

function tierBadge(tier) {
  return h("span", { class: `badge tier tier-${tier}` }, tier);
}

function flags(block) {
  return [
    block.contradicts ? h("span", { class: "badge bad" }, "contradicts another") : null,
    block.repeats ? h("span", { class: "badge warn" }, "said elsewhere too") : null,
    block.fits === false ? h("span", { class: "badge bad" }, "does not fit") : null,
    block.promoted ? h("span", { class: "badge", title: "a rule by its words" }, "promoted") : null,
  ];
}

function blockRow(block) {
  return h(
    "div",
    { class: "block" },
    h("span", { class: "line-number" }, block.line),
    h("div", { class: "block-text" }, marked(block.text, block.marks)),
    h("div", { class: "block-side" }, flags(block), block.modalities.map((modality) => h("span", { class: "badge" }, modality)), tierBadge(block.tier), h("span", { class: "number" }, `${count(block.tokens)} tok`)),
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
