// What is in a prompt, and what was left out, one by one with its figures.

import { partsTable, stackedBar } from "./charts.js";
import { h } from "./dom.js";
import { count, firstLine, fully, score } from "./format.js";
import { facts } from "./pieces.js";
import { link } from "./router.js";

export function itemDetails(view, item) {
  return details(view, item, [h("span", null, `${count(item.tokens)} tok`), h("span", null, item.score === null || item.score === undefined ? item.tier : score(item.score))], []);
}

export function rejectionDetails(view, item) {
  const margin = !item.margin ? null : `${item.reason === "budget" ? `${count(Math.ceil(item.margin))} tokens` : score(item.margin)} short`;
  return details(view, item, [h("span", { class: "badge warn" }, item.reason), margin ? h("span", null, margin) : null], [
    ["left out", item.reason],
    ["short by", margin],
  ]);
}

function details(view, item, figures, more) {
  const hasBar = Object.keys(item.bar ?? {}).length > 0;
  const place = item.sessionId ? h("a", { href: link("history", { user: view.userId, session: item.sessionId, from: item.id }) }, item.sessionId) : null;
  const others = Object.entries(item.parts ?? {}).filter(([, value]) => typeof value === "number");
  return h(
    "details",
    { class: `item tier-${item.tier}`, data: { item: item.id } },
    h("summary", null, h("span", { class: "item-line" }, firstLine(item.text, 160) || item.id), h("span", { class: "item-figures" }, figures)),
    h(
      "div",
      null,
      h("div", { class: "said" }, item.text || "–"),
      hasBar ? h("div", { class: "stack-of" }, stackedBar(item.bar, Math.max(0.05, item.score ?? 1)), partsTable(item.bar, item.score)) : null,
      facts([["tier", h("span", { class: `badge tier tier-${item.tier}` }, item.tier)], ...more, ["said by", item.role], ["said", item.ts ? fully(item.ts) : null], ["session", place], ["id", h("code", null, item.id)]]),
      others.length ? h("details", null, h("summary", { class: "small quiet" }, "All figures"), facts(others.map(([name, value]) => [name, value.toFixed(4)]))) : null,
    ),
  );
}
