// Two prompts side by side: what both have, what only one has.

import { budgetLine, TIERS } from "./charts.js";
import { h } from "./dom.js";
import { count, firstLine, fully, score, signed } from "./format.js";
import { facts } from "./pieces.js";
import { link } from "./router.js";
import { chosenList, itemRow, pairList } from "./context-items.js";

/** Two prompts as nodes and their lists. */
export function compared(app, { left, right, both, onlyLeft, onlyRight }) {
  const lists = [pairList(app, left, both, pairRow), chosenList(app, left, onlyLeft, "Only in the first"), chosenList(app, right, onlyRight, "Only in the second")];
  const [shared, first, second] = lists;
  const nodes = [
    h("div", { class: "two" }, side("First", left), side("Second", right)),
    h("div", { class: "two" }, part("Only in the first", first), part("Only in the second", second)),
    part("In both", shared),
  ];
  return { nodes, lists };
}

function part(title, list) {
  return h("section", { class: "card" }, h("h2", null, `${title}: ${count(list.items.length)}`), list.items.length ? list.element : h("p", { class: "quiet small" }, "Nothing."));
}

function pairRow(pair) {
  const change = pair.left.score !== null && pair.right.score !== null ? pair.right.score - pair.left.score : null;
  const tokens = pair.left.tokens === pair.right.tokens ? count(pair.left.tokens) : `${count(pair.left.tokens)} → ${count(pair.right.tokens)}`;
  const scores = pair.left.score === null ? pair.tier : `${score(pair.left.score)} → ${score(pair.right.score)}`;
  return itemRow(pair, pair.text, [h("span", null, `${tokens} tok`), h("span", null, scores), change ? h("span", null, signed(change)) : null]);
}

function side(name, view) {
  return h(
    "section",
    { class: "card stack-of" },
    h("h2", null, h("a", { href: link("context", { user: view.userId, receipt: view.receiptId }) }, name), `: ${firstLine(view.prompt, 90)}`),
    budgetLine(view.tiers, view.budget),
    facts([["tokens", `${count(view.tokens)} of ${count(view.budget)}`], ["session", view.sessionId], ["made", fully(view.createdMs)], ["tiers", TIERS.filter((tier) => view.tiers[tier]?.used).map((tier) => `${tier} ${count(view.tiers[tier].used)}`).join(" · ")]]),
  );
}
