// The summaries of a session as a graph over its turns: each stands above what it covers, wide as that is.
// The turns run from left to right; the boundary is where summaries end, the tail is what is always in a prompt.

import { hatch } from "./charts.js";
import { h, s } from "./dom.js";
import { count, dayOf, percent, plural } from "./format.js";

const [ROW, BOX, LEAST, MOST, PAD, BAND] = [58, 36, 62, 150, 16, 22];

/** At least `room` px wide. */
export function summaryGraph(graph, room, open) {
  const known = new Map(graph.nodes.map((node) => [node.id, node]));
  if (!known.size) return h("div", { class: "hint", role: "note" }, `No summary yet: ${plural(graph.turns, "turn")}, all of them told as they are. Old turns are covered once there are enough, or with “Compact now”.`);
  const rest = Math.max(0, graph.turns - [...known.values()].filter((node) => node.level === 1).reduce((sum, node) => sum + node.turns, 0));
  const tail = Math.min(graph.tail.count, rest || graph.tail.count);
  const wanted = placed(graph, known, 1).covered;
  const wider = Math.max(1, Math.min(4, (room * 0.8) / wanted));
  const { spots, covered, levels } = placed(graph, known, wider);
  const restWide = Math.max(90, Math.min(260, rest * 8), room - covered - PAD);
  const tailWide = rest ? Math.max(46, (tail / rest) * restWide) : 0;
  const [width, ground] = [covered + restWide + PAD, PAD + levels * ROW];
  const [pattern, defs] = hatch();
  const groups = graph.nodes.map((node) => nodeGroup(node, spots.get(node.id), open));
  const svg = s(
    "svg",
    { width, height: ground + BAND + 24, role: "group", "aria-label": `${plural(graph.nodes.length, "summary", "summaries")} over ${plural(graph.turns, "turn")}` },
    defs,
    graph.nodes.map((node) => links(node, spots, ground)),
    s("rect", { class: "turn-band", x: PAD, y: ground, width: width - 2 * PAD, height: BAND, rx: 3 }),
    s("rect", { class: "tail-band", x: width - PAD - tailWide, y: ground, width: tailWide, height: BAND, rx: 3, fill: `url(#${pattern})` }),
    s("line", { class: "boundary", x1: covered, x2: covered, y1: 6, y2: ground + BAND + 4 }),
    s("text", { class: "boundary-name", x: covered + 6, y: 14 }, "boundary"),
    s("text", { class: "tail-name", x: width - PAD, y: ground + BAND + 16, "text-anchor": "end" }, `tail, ${plural(graph.tail.count, "turn")}`),
    s("text", { x: PAD, y: ground + BAND + 16 }, `${plural(graph.turns, "turn")} from ${dayOf(Math.min(...graph.nodes.map((node) => node.firstTs)))}`),
    groups,
  );
  roving(groups);
  return h("div", { class: "graph", role: "region", "aria-label": "Graph of summaries" }, svg, graph.cursor ? h("p", { class: "small quiet" }, "The newest summaries; older ones are not drawn.") : null);
}

/** Leaves from left to right in the order of time; every other node over the middle of what it covers. */
function placed(graph, known, wider) {
  const spots = new Map();
  const byTime = graph.nodes.toSorted((a, b) => a.level - b.level || a.firstTs - b.firstTs);
  let x = PAD;
  const inner = (node) => node.children.filter((id) => known.has(id));
  for (const node of byTime.filter((one) => !inner(one).length)) {
    const wide = Math.max(LEAST, Math.min(MOST, node.turns * 5)) * wider;
    spots.set(node.id, { x, wide, y: 0 });
    x += wide + 8;
  }
  const levels = Math.max(...graph.nodes.map((node) => node.level));
  for (const node of byTime) {
    const below = inner(node).map((id) => spots.get(id)).filter(Boolean);
    if (below.length) {
      const from = Math.min(...below.map((spot) => spot.x));
      spots.set(node.id, { x: from, wide: Math.max(...below.map((spot) => spot.x + spot.wide)) - from, y: 0 });
    }
    spots.get(node.id).y = PAD + (levels - node.level) * ROW + 8;
  }
  return { spots, covered: x, levels };
}

function nodeGroup(node, spot, open) {
  const choose = () => {
    for (const other of document.querySelectorAll(".graph .chosen")) other.classList.remove("chosen");
    group.classList.add("chosen");
    open(node);
  };
  const group = s(
    "g",
    {
      class: `node level-${Math.min(4, node.level)}`,
      role: "button",
      tabindex: "-1",
      "aria-label": `Summary of level ${node.level}, ${plural(node.turns, "turn")}, confidence ${percent(node.confidence)}`,
      transform: `translate(${spot.x} ${spot.y})`,
      data: { level: node.level },
      on: {
        click: choose,
        keydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          choose();
        },
      },
    },
    s("title", null, node.preview),
    s("rect", { width: spot.wide, height: BOX, rx: 5 }),
    s("text", { x: 8, y: 15 }, `${count(node.turns)} turns`),
    s("text", { class: "more", x: 8, y: 29 }, percent(node.confidence)),
  );
  return group;
}

function links(node, spots, ground) {
  const top = spots.get(node.id);
  const from = [top.x + top.wide / 2, top.y + BOX];
  const below = node.children.filter((id) => spots.has(id)).map((id) => spots.get(id));
  if (!below.length) return s("path", { class: "link", d: `M${top.x + 4} ${ground}V${from[1]}M${top.x + top.wide - 4} ${ground}V${from[1]}` });
  return below.map((spot) => {
    const to = [spot.x + spot.wide / 2, spot.y];
    const middle = (from[1] + to[1]) / 2;
    return s("path", { class: "link", d: `M${from[0]} ${from[1]}C${from[0]} ${middle} ${to[0]} ${middle} ${to[0]} ${to[1]}` });
  });
}

/** One stop for the Tab key; arrows go from node to node: left and right inside a level, up and down between them. */
function roving(groups) {
  const sorted = groups.toSorted((a, b) => b.dataset.level - a.dataset.level || at(a) - at(b));
  sorted[0]?.setAttribute("tabindex", "0");
  for (const group of sorted) {
    group.addEventListener("keydown", (event) => {
      const next = neighbour(sorted, group, event.key);
      if (!next) return;
      event.preventDefault();
      group.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  }
}

const at = (group) => group.transform.baseVal.getItem(0).matrix.e;

function neighbour(groups, group, key) {
  const level = Number(group.dataset.level);
  const same = groups.filter((other) => Number(other.dataset.level) === level);
  if (key === "ArrowRight") return same[same.indexOf(group) + 1];
  if (key === "ArrowLeft") return same[same.indexOf(group) - 1];
  const by = { ArrowUp: 1, ArrowDown: -1 }[key];
  if (!by) return undefined;
  return groups.filter((other) => Number(other.dataset.level) === level + by).toSorted((a, b) => Math.abs(at(a) - at(group)) - Math.abs(at(b) - at(group)))[0];
}
