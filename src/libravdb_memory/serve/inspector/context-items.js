// What is in a prompt, and what was left out, one by one with its figures: a row each, and one whole in the panel.

import { partsTable, stackedBar } from "./charts.js";
import { h } from "./dom.js";
import { count, firstLine, fully, score } from "./format.js";
import { VirtualList } from "./list.js";
import { facts } from "./pieces.js";
import { link } from "./router.js";

const ROW_PX = 38;

/** `figures(item)`: at the end of a row. */
function itemList(app, view, label, items, figures, more = () => []) {
  const list = new VirtualList({
    label,
    className: "snug",
    height: () => ROW_PX,
    rowClass: (item) => `item-row tier-${item.tier}`,
    row: (item) => itemRow(item, item.text, figures(item)),
    open: (item) => openItem(app, view, item, more(item)),
  });
  list.element.addEventListener("focus", () => app.keys.follow(list));
  list.set(items);
  return list;
}

/** The tier is told by its colour, and in words to those who do not see it. */
export function itemRow(item, text, figures) {
  return h("div", { class: "item" }, h("span", { class: "item-line" }, h("span", { class: "unseen" }, `${item.tier}: `), firstLine(text, 160) || item.id), h("span", { class: "item-figures" }, figures));
}

export function chosenList(app, view, items, label = "In the prompt") {
  return itemList(app, view, label, items, (item) => [h("span", null, `${count(item.tokens)} tok`), h("span", null, item.score === null || item.score === undefined ? item.tier : score(item.score))]);
}

export function rejectedList(app, view) {
  return itemList(
    app,
    view,
    "Left out",
    view.rejections,
    (item) => [h("span", { class: "badge warn" }, item.reason), shortBy(item) ? h("span", null, shortBy(item)) : null],
    (item) => [["left out", item.reason], ["short by", shortBy(item)]],
  );
}

/** What both prompts have. */
export function pairList(app, view, pairs, row) {
  const list = itemList(app, view, "In both", pairs, () => []);
  list.row = row;
  list.onOpen = (pair) => openItem(app, view, pair, [["first", sideOf(pair.left)], ["second", sideOf(pair.right)]]);
  list.refresh();
  return list;
}

function sideOf(side) {
  return `${count(side.tokens)} tokens${side.score === null ? "" : `, score ${score(side.score)}`}`;
}

function shortBy(item) {
  if (!item.margin) return null;
  return `${item.reason === "budget" ? `${count(Math.ceil(item.margin))} tokens` : score(item.margin)} short`;
}

function openItem(app, view, item, more) {
  const hasBar = Object.keys(item.bar ?? {}).length > 0;
  const place = item.sessionId ? h("a", { href: link("history", { user: view.userId, session: item.sessionId, from: item.id }) }, item.sessionId) : null;
  const others = Object.entries(item.parts ?? {}).filter(([, value]) => typeof value === "number");
  app.panel.open(
    firstLine(item.text, 60) || item.id,
    h("div", { class: "said", tabindex: "0", "aria-label": "Text of the item" }, item.text || "–"),
    hasBar ? h("div", { class: "stack-of" }, stackedBar(item.bar, Math.max(0.05, item.score ?? 1)), partsTable(item.bar, item.score)) : null,
    facts([["tier", h("span", { class: `badge tier tier-${item.tier}` }, item.tier)], ...more, ["said by", item.role], ["said", item.ts ? fully(item.ts) : null], ["session", place], ["id", h("code", null, item.id)]]),
    others.length ? h("details", null, h("summary", { class: "small quiet" }, "All figures"), facts(others.map(([name, value]) => [name, value.toFixed(4)]))) : null,
  );
}
