// Pictures of figures. Each has its figures as words too, for those who cannot see it.

import { h, s, uniqueId } from "./dom.js";
import { count, percent, score, seconds, signed } from "./format.js";

export const TIERS = ["hard", "soft", "tail", "elevated", "recalled", "recovered"];
export const PARTS = ["dense", "lexical", "around", "fit", "recency", "authority"];
export const PART_NAMES = {
  dense: "meaning",
  lexical: "wording",
  around: "neighbours",
  fit: "who and when",
  recency: "recency",
  authority: "authority",
};
export const SIGNALS = {
  t: "technical",
  h: "novelty",
  r: "repetition",
  d: "personal",
  inputFreq: "said before",
  memSaturation: "kept already",
  p: "specificity",
  a: "actionability",
  dtech: "code structure",
  gconv: "as conversation",
  gtech: "as technical",
};

/** How much of a limit is used, as a bar with its name. */
export function meter(name, used, limit, className = "") {
  const share = limit > 0 ? Math.min(1, used / limit) : 0;
  return h(
    "div",
    { class: `meter ${className}` },
    h("span", { class: "meter-name" }, name),
    h("span", { class: "meter-track", "aria-hidden": "true" }, h("span", { class: "meter-fill", vars: { share } })),
    h("span", { class: "meter-figure" }, `${count(used)} / ${count(limit)}`),
  );
}

/** All tiers of a prompt on one line, and what is left. */
export function budgetLine(tiers, budget) {
  const used = TIERS.filter((tier) => tiers[tier]?.used > 0);
  const words = used.map((tier) => `${tier} ${count(tiers[tier].used)}`).join(", ");
  return h(
    "div",
    { class: "budget-line", role: "img", "aria-label": `Of ${count(budget)} tokens: ${words || "nothing used"}` },
    used.map((tier) => h("span", { class: `tier-${tier}`, vars: { share: tiers[tier].used / Math.max(1, budget) }, title: `${tier}: ${count(tiers[tier].used)}` })),
  );
}

/** The addends of a score. Those below zero stand left of the line. `most` is the score of a full width. */
export function stackedBar(bar, most = 1) {
  const parts = PARTS.filter((part) => bar[part]);
  if (!parts.length) return h("span", { class: "stack quiet" }, "no parts");
  const below = parts.filter((part) => bar[part] < 0);
  const above = parts.filter((part) => bar[part] > 0);
  const piece = (part) => h("span", { class: `part-${part}`, vars: { share: Math.abs(bar[part]) / most }, title: `${PART_NAMES[part]} ${signed(bar[part])}` });
  return h(
    "span",
    { class: "stack", role: "img", "aria-label": parts.map((part) => `${PART_NAMES[part]} ${signed(bar[part])}`).join(", ") },
    h("span", { class: "stack-below" }, below.map(piece)),
    h("span", { class: "stack-above" }, above.map(piece)),
  );
}

export function partsLegend() {
  return h("ul", { class: "legend", "aria-label": "Parts of a score" }, PARTS.map((part) => h("li", null, h("span", { class: `swatch part-${part}`, "aria-hidden": "true" }), PART_NAMES[part])));
}

export function tiersLegend(tiers = TIERS) {
  return h("ul", { class: "legend", "aria-label": "Tiers" }, tiers.map((tier) => h("li", null, h("span", { class: `swatch tier-${tier}`, "aria-hidden": "true" }), tier)));
}

/** The addends of a score, one to a line. */
export function partsTable(bar, total) {
  const parts = PARTS.filter((part) => part in bar);
  const most = Math.max(0.001, ...parts.map((part) => Math.abs(bar[part])));
  return h(
    "table",
    { class: "parts" },
    h("caption", { class: "unseen" }, "Parts of the score"),
    h("tbody", null, parts.map((part) => h("tr", null, h("th", { scope: "row" }, PART_NAMES[part]), h("td", { class: "parts-bar" }, h("span", { class: `part-${part}`, vars: { share: Math.abs(bar[part]) / most }, "aria-hidden": "true" })), h("td", { class: "number" }, signed(bar[part]))))),
    total === undefined || total === null ? null : h("tfoot", null, h("tr", null, h("th", { scope: "row" }, "score"), h("td", null), h("td", { class: "number" }, score(total)))),
  );
}

/** Signals of the gate as lines of 0 to 1. */
export function signalsTable(signals) {
  const names = Object.keys(signals).filter((name) => typeof signals[name] === "number");
  return h(
    "table",
    { class: "parts" },
    h("caption", { class: "unseen" }, "Signals"),
    h("tbody", null, names.map((name) => h("tr", { class: signals[name] ? "" : "zero" }, h("th", { scope: "row", title: name }, SIGNALS[name] ?? name), h("td", { class: "parts-bar" }, h("span", { class: "signal", vars: { share: Math.min(1, Math.abs(signals[name])) }, "aria-hidden": "true" })), h("td", { class: "number" }, score(signals[name]))))),
  );
}

/** The gate's word on one turn: kept or not, and how far from the threshold. */
export function verdict(judged, threshold = 0.35) {
  if (!judged) return h("span", { class: "verdict none" }, "not judged");
  return h(
    "span",
    { class: `verdict ${judged.durable ? "kept" : "passed"}` },
    h("span", { class: "verdict-track", "aria-hidden": "true", vars: { share: Math.min(1, judged.score ?? 0), threshold } }, h("span", { class: "verdict-fill" }), h("span", { class: "verdict-mark" })),
    h("span", { class: "verdict-score" }, score(judged.score)),
    h("span", { class: "verdict-word" }, judged.echo ? "echo" : judged.durable ? "durable" : "passing"),
  );
}

/** How the gate's scores are spread, and where it parts them. */
export function gateHistogram(bins, threshold, width = 640) {
  const [height, foot] = [200, 24];
  const most = Math.max(1, ...bins.map((bin) => bin.count));
  const step = width / Math.max(1, bins.length);
  const tall = (value) => (value / most) * (height - foot - 14);
  const bars = bins.map((bin, at) => {
    const x = at * step + 1.5;
    const wide = Math.max(1, step - 3);
    const top = height - foot - tall(bin.count);
    const words = `${score(bin.from)} to ${score(bin.to)}: ${count(bin.count)} turns, ${count(bin.durable)} durable, ${count(bin.wanted)} wanted later`;
    return s(
      "g",
      null,
      s("title", null, words),
      s("rect", { class: "hit", x: at * step, y: 0, width: step, height: height - foot }),
      s("rect", { class: "bin-passing", x, y: top, width: wide, height: tall(bin.count - bin.durable), rx: 1.5 }),
      s("rect", { class: "bin-durable", x, y: top + tall(bin.count - bin.durable), width: wide, height: tall(bin.durable), rx: 1.5 }),
      bin.wanted ? s("rect", { class: "bin-wanted", x: x + wide / 2 - 1.5, y: height - foot - tall(bin.wanted), width: 3, height: tall(bin.wanted) }) : null,
    );
  });
  const at = threshold * width;
  return s(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Scores of ${count(bins.reduce((sum, bin) => sum + bin.count, 0))} judged turns; the threshold is ${score(threshold)}` },
    s("line", { class: "axis", x1: 0, x2: width, y1: height - foot + 0.5, y2: height - foot + 0.5 }),
    bars,
    s("line", { class: "threshold", x1: at, x2: at, y1: 0, y2: height - foot }),
    s("text", { class: "threshold-name", x: at + 6, y: 11 }, `threshold ${score(threshold)}`),
    [0, 0.25, 0.5, 0.75, 1].map((value) => s("text", { class: "tick", x: value * width, y: height - 7, "text-anchor": value === 0 ? "start" : value === 1 ? "end" : "middle" }, score(value))),
  );
}

/** The share of turns that proved useful, by score: steps that never go down. */
export function calibrationCurve({ steps, proposed, target }, threshold, width = 640) {
  const [height, foot] = [200, 24];
  const x = (value) => value * width;
  const y = (value) => (1 - value) * (height - foot - 8) + 8;
  let line = "";
  steps.forEach((step, at) => {
    const to = steps[at + 1]?.start ?? 1;
    line += `${at ? "L" : "M"}${x(step.start).toFixed(1)} ${y(step.useful).toFixed(1)}L${x(to).toFixed(1)} ${y(step.useful).toFixed(1)}`;
  });
  return s(
    "svg",
    { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Share of turns used later by score, in ${count(steps.length)} steps${proposed === null ? "" : `; a threshold of ${score(proposed)} would reach ${percent(target)}`}` },
    s("line", { class: "axis", x1: 0, x2: width, y1: height - foot + 0.5, y2: height - foot + 0.5 }),
    s("line", { class: "target", x1: 0, x2: width, y1: y(target), y2: y(target) }),
    s("text", { class: "tick", x: 4, y: y(target) - 5 }, `target ${percent(target)}`),
    s("path", { class: "curve", d: line }),
    s("line", { class: "threshold", x1: x(threshold), x2: x(threshold), y1: 8, y2: height - foot }),
    proposed === null || proposed === undefined ? null : s("line", { class: "proposed", x1: x(proposed), x2: x(proposed), y1: 8, y2: height - foot }),
    [0, 0.25, 0.5, 0.75, 1].map((value) => s("text", { class: "tick", x: x(value), y: height - 7, "text-anchor": value === 0 ? "start" : value === 1 ? "end" : "middle" }, score(value))),
  );
}

/** How long calls took: a small column for every bound. */
export function latencySpark(buckets, bounds, name) {
  const most = Math.max(1, ...buckets);
  const step = 120 / Math.max(1, buckets.length);
  return s(
    "svg",
    { class: "spark", viewBox: "0 0 120 28", role: "img", "aria-label": `How long ${name} took` },
    buckets.map((value, at) => {
      const tall = value ? Math.max(2, (Math.sqrt(value) / Math.sqrt(most)) * 26) : 0.8;
      const label = `${at < bounds.length ? `up to ${seconds(bounds[at])}` : "longer"}: ${count(value)}`;
      return s("rect", { class: value ? "spark-bar" : "spark-none", x: at * step + 0.5, y: 28 - tall, width: Math.max(1, step - 1), height: tall }, s("title", null, label));
    }),
  );
}

export function hatch() {
  const id = uniqueId("hatch");
  return [id, s("defs", null, s("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("line", { class: "hatch", x1: 0, y1: 0, x2: 0, y2: 6 })))];
}
