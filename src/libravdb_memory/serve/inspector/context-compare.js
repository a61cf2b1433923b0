// Two prompts side by side: what both have, what only one has.

import { budgetLine, TIERS } from "./charts.js";
import { h } from "./dom.js";
import { count, firstLine, fully, score, signed } from "./format.js";
import { facts } from "./pieces.js";
import { link } from "./router.js";
import { itemDetails } from "./context-items.js";

/** `texts`: what is known of the items by their id. */
export function compared({ left, right, both, onlyLeft, onlyRight }, texts) {
  return [
    h("div", { class: "two" }, side("First", left), side("Second", right)),
    h("div", { class: "two" }, only("Only in the first", left, onlyLeft), only("Only in the second", right, onlyRight)),
    h(
      "section",
      { class: "card" },
      h("h2", null, `In both: ${both.length}`),
      h("div", { class: "latency", tabindex: "0", role: "region", "aria-label": "In both" }, h("table", null, h("thead", null, h("tr", null, ["tier", "text", "tokens", "score", "change"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", null, both.map((pair) => pairRow(pair, texts))))),
    ),
  ];
}

function pairRow(pair, texts) {
  const change = pair.left.score !== null && pair.right.score !== null ? pair.right.score - pair.left.score : null;
  return h(
    "tr",
    null,
    h("td", null, h("span", { class: `badge tier tier-${pair.tier}` }, pair.tier)),
    h("td", { class: "pair-text" }, firstLine(texts.get(pair.id), 120) || h("code", null, firstLine(pair.id, 40))),
    h("td", null, pair.left.tokens === pair.right.tokens ? count(pair.left.tokens) : `${count(pair.left.tokens)} → ${count(pair.right.tokens)}`),
    h("td", null, pair.left.score === null ? "–" : `${score(pair.left.score)} → ${score(pair.right.score)}`),
    h("td", null, change ? signed(change) : "–"),
  );
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

function only(title, view, items) {
  return h("section", { class: "card" }, h("h2", null, `${title}: ${items.length}`), items.length ? items.map((item) => itemDetails(view, item)) : h("p", { class: "quiet small" }, "Nothing."));
}
