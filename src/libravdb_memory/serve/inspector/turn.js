// One turn: as a row of a list, and whole in the panel.

import { call } from "./api.js";
import { SIGNALS, signalsTable, verdict } from "./charts.js";
import { h } from "./dom.js";
import { askErase } from "./erase.js";
import { count, firstLine, fully, hiddenSigns, plural, score, when } from "./format.js";
import { facts, failure } from "./pieces.js";
import { link } from "./router.js";

export function turnRow(turn, { threshold, narrow, place = true } = {}) {
  const meta = h(
    "div",
    { class: "row-meta" },
    h("time", { title: fully(turn.ts) }, when(turn.ts)),
    h("span", { class: `role ${turn.role}` }, turn.speaker || turn.role),
    place ? h("span", { class: "shrinks" }, `${turn.userId} · ${turn.sessionId}`) : null,
    h("span", null, `${count(turn.tokens)} tok`),
    turn.masked?.length ? h("span", { class: "badge warn" }, "masked") : null,
    hiddenSigns(turn.text).length ? h("span", { class: "badge warn" }, "hidden signs") : null,
    turn.regretted ? h("span", { class: "badge bad" }, "regretted") : null,
    turn.coveredBy ? h("span", { class: "badge" }, "summarised") : null,
  );
  const judged = turn.role === "user" ? (turn.gate ? verdict(turn.gate, threshold) : h("span", { class: "verdict none" }, "judging …")) : null;
  return h(
    "div",
    { class: `feed-row ${narrow ? "narrow-row" : ""}` },
    meta,
    narrow ? null : judged ?? h("span"),
    h("div", { class: "row-text" }, firstLine(turn.text, 400)),
    narrow ? judged : heard(turn.gate),
  );
}

/** The signals that spoke loudest. */
function heard(judged) {
  const loud = Object.entries(judged?.signals ?? {})
    .filter(([name, value]) => name in SIGNALS && !name.startsWith("g") && value >= 0.05)
    .sort(([, one], [, other]) => other - one);
  return h("div", { class: "loudest" }, loud.slice(0, 2).map(([name, value]) => h("span", null, `${SIGNALS[name]} `, h("b", null, score(value)))));
}

/** Shows a turn whole. `extra` stands above the text. */
export function openTurn(app, turn, { extra = null, threshold } = {}) {
  const text = h("div", { class: "said", tabindex: "0", "aria-label": "Text of the turn" }, turn.text);
  const hidden = h("p", { class: "hint", hidden: true });
  tellHidden(hidden, turn.text);
  app.panel.open(
    `${turn.speaker || turn.role}, ${when(turn.ts)}`,
    extra,
    text,
    hidden,
    turn.masked?.length ? h("p", { class: "hint" }, `Masked when it came in: ${turn.masked.join(", ")}.`) : null,
    turn.gate ? h("section", { class: "stack-of" }, h("h3", null, "The gate"), verdict(turn.gate, threshold), turn.gate.signals ? signalsTable(turn.gate.signals) : null) : null,
    facts([
      ["user", turn.userId],
      ["session", turn.sessionId],
      ["id", h("code", null, turn.id)],
      ["said", fully(turn.ts)],
      ["size", `${plural(turn.tokens ?? 0, "token")}, ${plural(turn.length ?? turn.text.length, "character")}`],
      ["summary", turn.coveredBy ? h("a", { href: link("history", { user: turn.userId, session: turn.sessionId, node: turn.coveredBy }) }, "show what covers it") : null],
    ]),
    h(
      "div",
      { class: "actions" },
      h("a", { href: link("history", { user: turn.userId, session: turn.sessionId, from: turn.id }) }, "In its session"),
      h("a", { href: link("search", { user: turn.userId, q: firstLine(turn.text, 200) }) }, "Find similar"),
      h("button", { type: "button", class: "danger", on: { click: () => askErase(app, { userId: turn.userId, sessionId: turn.sessionId, id: turn.id }, "this turn") } }, "Erase …"),
    ),
  );
  if (turn.truncated) whole(turn, text, hidden);
}

/** What is read here is what was said only where nothing in it hides. */
function tellHidden(place, text) {
  const signs = hiddenSigns(text);
  place.hidden = !signs.length;
  place.textContent = `Holds signs that are not seen or turn the text around: ${signs.slice(0, 8).join(", ")}${signs.length > 8 ? " …" : ""}`;
}

async function whole(turn, place, hidden) {
  try {
    const told = await call("memory_get", { userId: turn.userId, sessionId: turn.sessionId, id: turn.id });
    place.textContent = told.turn.text;
    tellHidden(hidden, told.turn.text);
  } catch (error) {
    place.after(failure(error));
  }
}
