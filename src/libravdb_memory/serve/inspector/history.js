// History: the sessions of a user; of one session its turns, and the graph of what covers them.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { askErase } from "./erase.js";
import { compact, count, dayOf, fully, percent, plural, when } from "./format.js";
import { VirtualList } from "./list.js";
import { calmly, empty, facts, failure, field, head, into, userField } from "./pieces.js";
import { go, link } from "./router.js";
import { openTurn, turnRow } from "./turn.js";
import { summaryGraph } from "./history-graph.js";

export const history = { title: "History", key: "h", mount: (outlet, app, params) => new History(outlet, app, params) };

const PAGE = 200;

class History {
  #params = {};
  #list = null;
  #off = [];
  #shown = 0;

  constructor(outlet, app, params) {
    this.app = app;
    this.outlet = outlet;
    const again = calmly(() => !this.left && this.#params.session && this.#session(), 300);
    const mine = (event) => event.sessionId === this.#params.session && event.userId === this.#params.user;
    this.#off = [
      app.events.on("summary", (node) => mine(node) && again()),
      app.events.on("turn", (turn) => mine(turn) && this.#list?.atTop && this.#list.chosen < 0 && !this.#params.from && again()),
      app.events.on("erasure", again),
      app.events.on("reset", again),
    ];
    this.gone = async ({ detail }) => {
      if (detail.id) return again();
      if (detail.all) await app.userGone();
      return go("history", { user: detail.all ? app.user : this.#params.user });
    };
    window.addEventListener("erased", this.gone);
    this.update(params);
  }

  update(params) {
    this.#shown += 1;
    const user = params.user ?? this.app.user;
    this.#params = { ...params, user };
    if (user) this.app.user = user;
    if (user && params.session) this.#session();
    else this.#sessions();
  }

  leave() {
    this.left = true;
    this.#shown += 1;
    this.#list?.dispose();
    for (const off of this.#off) off();
    window.removeEventListener("erased", this.gone);
  }

  #take(list) {
    this.#list?.dispose();
    this.#list = list;
    this.app.keys.follow(list);
    return list.element;
  }

  async #sessions() {
    const { user } = this.#params;
    const userInput = userField(this.app, user);
    const contains = h("input", { type: "search", "data-main": "", placeholder: "part of its name" });
    const form = h("form", { class: "form", on: { submit: (event) => event.preventDefault() } }, field("User", userInput), field("Session", contains, "grow"), user ? h("button", { type: "button", class: "danger", on: { click: () => askErase(this.app, { userId: user, all: true }, `everything of ${user}`) } }, "Erase all …") : null);
    const notes = h("div");
    let cursor = null;
    const ask = async (after) => {
      const told = await call("sessions", { userId: userInput.value, contains: contains.value, limit: 100, after });
      cursor = told.cursor;
      return told;
    };
    const list = new VirtualList({
      label: "Sessions, last spoken in first",
      height: () => 56,
      row: (session) => sessionRow(session),
      open: (session) => go("history", { user: userInput.value, session: session.sessionId }),
      more: async () => (cursor ? (await ask(cursor)).sessions : []),
      failed: (error) => error && fill(notes, failure(error)),
    });
    const load = async () => {
      const told = userInput.value ? await into(notes, ask(), (told) => [h("p", { class: "quiet small" }, plural(told.total, "session"))]) : null;
      list.set(told?.sessions ?? []);
      list.element.hidden = !list.items.length;
      if (told && !told.sessions.length) fill(notes, empty("No sessions", "Nothing was said to this user's memory yet.", 'libravdb add "Hello" --user ada --session monday'));
      if (!userInput.value) fill(notes, empty("Nobody yet", "The first turn makes the first user and the first session:", 'libravdb add "Hello" --user ada --session monday'));
    };
    const slow = calmly(load);
    userInput.addEventListener("change", () => go("history", { user: userInput.value }));
    contains.addEventListener("input", slow);
    fill(this.outlet, head("History", "Every session, turn by turn, exactly as it was said."), form, notes, this.#take(list));
    await load();
  }

  async #session() {
    const { user, session, from, node } = this.#params;
    const mine = this.#shown;
    const [graph, error] = await call("session_graph", { userId: user, sessionId: session }).then((told) => [told, null], (error) => [null, error]);
    if (mine !== this.#shown) return; // another view is there by now, or another session
    if (error) return fill(this.outlet, head("History", session), failure(error));
    const place = { userId: user, sessionId: session };
    let cursor = null;
    const order = from ? "oldest" : "newest";
    const ask = async (given) => {
      const told = await call("turns", { ...place, limit: PAGE, order, ...given });
      cursor = told.cursor;
      return told;
    };
    const list = new VirtualList({
      label: from ? "Turns, oldest first" : "Turns, newest first",
      height: (width) => (width < 640 ? 96 : 62),
      row: (turn) => turnRow(turn, { narrow: list.element.clientWidth < 640, place: false }),
      rowClass: (turn) => `${turn.id === graph.boundary?.turn ? "boundary-row" : ""} ${graph.tail.firstTs && turn.ts >= graph.tail.firstTs && !turn.coveredBy ? "tail-row" : ""}`,
      open: (turn) => openTurn(this.app, turn),
      more: async () => (cursor ? (await ask({ after: cursor })).turns : []),
      failed: (error) => fill(notes, error && failure(error)),
    });
    const notes = h("div");
    const picture = summaryGraph(graph, this.outlet.clientWidth - 52, (chosen) => this.#node(chosen, graph));
    fill(
      this.outlet,
      h("div", { class: "view-head" }, h("h1", null, session), h("p", null, plural(graph.turns, "turn"), ` of ${user}, `, plural(graph.nodes.length, "summary", "summaries")), h("div", { class: "actions" }, h("a", { href: link("history", { user }) }, "All sessions"), from ? h("a", { href: link("history", { user, session }) }, "Newest turns") : null, h("button", { type: "button", on: { click: (event) => this.#compact(event.target, notes) } }, "Compact now"), h("button", { type: "button", class: "danger", on: { click: () => askErase(this.app, place, `the session ${session}`) } }, "Erase …"))),
      notes,
      picture,
      this.#take(list),
    );
    picture.scrollLeft = picture.scrollWidth;
    const told = await into(notes, ask({ from }), () => []);
    if (!told || mine !== this.#shown) return;
    list.set(told.turns);
    if (from) list.choose(0);
    const wanted = node && graph.nodes.find((one) => one.id === node);
    if (wanted) this.#node(wanted, graph);
  }

  #node(node, graph) {
    const place = { userId: graph.userId, sessionId: graph.sessionId };
    const below = h("div", { class: "stack-of" });
    const expand = h("button", { type: "button", on: { click: () => this.#expand(node, place, below, expand) } }, `Expand to ${plural(node.turns, "turn")}`);
    const paper = node.certificate;
    this.app.panel.open(
      `Summary, level ${node.level}`,
      h("div", { class: "said", tabindex: "0", "aria-label": "Text of the summary" }, node.preview),
      facts([
        ["covers", `${plural(node.turns, "turn")}, ${dayOf(node.firstTs)} to ${dayOf(node.lastTs)}`],
        ["size", `${count(node.tokens)} tokens for ${count(node.sourceTokens)} (${percent(node.tokens / Math.max(1, node.sourceTokens))})`],
        ["confidence", percent(node.confidence)],
        ["of it", `aligned ${percent(node.align)}, covering ${percent(node.cover)}`],
        ["made", `${fully(node.compactedAt)}, ${node.method}`],
        ["by", node.engine],
        ["id", h("code", null, node.id)],
      ]),
      paper ? h("section", { class: "stack-of" }, h("h3", null, "Certificate"), facts([["facts", `${count(paper.kept)} of ${count(paper.facts)} kept, ${count(paper.pinned)} word by word`], ["dropped", paper.dropped?.length ? paper.dropped.map(String).join(", ") : "none"], ["read", paper.unread ? `${count(paper.unread)} characters were not read (${percent(paper.share)} was)` : "everything"]])) : null,
      h("div", { class: "actions" }, expand, h("a", { href: link("history", { user: place.userId, session: place.sessionId, from: node.firstTurn }) }, "In the session")),
      below,
    );
  }

  async #expand(node, place, below, button) {
    button.disabled = true;
    const failed = h("div");
    let cursor = null;
    const ask = async () => {
      const told = await call("memory_expand", { userId: place.userId, id: node.id, limit: 200, after: cursor });
      cursor = told.cursor;
      return told.items;
    };
    const list = new VirtualList({
      label: "The exact turns, oldest first",
      className: "snug",
      guess: (turn, width) => 42 + 21 * Math.ceil((turn.text.length * 7) / width),
      row: (turn) => [h("div", { class: "row-meta" }, h("time", null, when(turn.ts)), h("span", { class: "role" }, turn.role ?? "summary")), h("div", { class: "whole-text" }, turn.text)],
      open: (turn) => {
        this.app.panel.stepAside();
        go("history", { user: place.userId, session: place.sessionId, from: turn.id });
      },
      more: async () => (cursor ? ask() : []),
      failed: (error) => fill(failed, error && failure(error)),
    });
    const first = await ask().catch((error) => {
      fill(below, failure(error));
    });
    if (!first) return;
    fill(below, h("h3", null, "The exact turns"), list.element, failed);
    list.set(first);
  }

  async #compact(button, notes) {
    button.disabled = true;
    try {
      const told = await call("memory_compact", { userId: this.#params.user, sessionId: this.#params.session });
      if (this.left) return;
      if (told.reason) fill(notes, h("p", { class: "hint", role: "status" }, `Nothing was compacted: ${told.reason}`));
      else this.#session();
    } catch (error) {
      fill(notes, failure(error));
    }
    button.disabled = false;
  }
}

function sessionRow(session) {
  return h(
    "div",
    null,
    h("div", { class: "row-text role" }, session.sessionId),
    h("div", { class: "row-meta" }, h("time", { title: fully(session.lastTs) }, when(session.lastTs)), h("span", null, plural(session.turns, "turn")), h("span", null, `${compact(session.tokens)} tokens`), session.summaries ? h("span", { class: "badge" }, plural(session.summaries, "summary", "summaries")) : null),
  );
}
