// Now: what is being said, what the gate makes of it, and how the daemon is doing.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { bytes, compact, lasting, percent, plural, seconds } from "./format.js";
import { VirtualList } from "./list.js";
import { calmly, empty, head, into } from "./pieces.js";
import { openTurn, turnRow } from "./turn.js";

const MOST = 5000;
const SPEED_MS = 60_000;

export const now = { title: "Now", key: "n", mount: (outlet, app) => new Now(outlet, app) };

class Now {
  #off = [];
  #waiting = [];
  #overview = null;
  #arrivals = [];

  constructor(outlet, app) {
    this.app = app;
    this.stats = h("dl", { class: "stats", "aria-label": "Counts and health" });
    this.notes = h("div", { class: "stack-of", role: "status" });
    this.newer = h("button", { type: "button", class: "newer", hidden: true, on: { click: () => this.#showWaiting(true) } });
    this.list = new VirtualList({
      label: "Turns, newest first",
      height: (width) => (width < 640 ? 96 : 62),
      row: (turn) => turnRow(turn, { threshold: this.threshold, narrow: this.list.element.clientWidth < 640 }),
      rowClass: (turn) => (turn.fresh ? "fresh" : ""),
      open: (turn) => openTurn(app, turn, { threshold: this.threshold }),
    });
    this.wrap = h("div", { class: "feed-wrap" }, this.newer, this.list.element);
    fill(outlet, head("Now", "Turns as they come in, and what the gate makes of them."), this.stats, this.notes, this.wrap);
    app.keys.follow(this.list);
    this.list.element.addEventListener("scroll", () => this.list.atTop && this.#showWaiting());
    const again = calmly(() => this.#count(), 400);
    const reload = calmly(() => this.load(), 200);
    const on = (name, act) => this.#off.push(app.events.on(name, act));
    on("turn", (turn) => this.#came(turn, again));
    on("gate", (judged) => this.#judged(judged));
    on("health", again);
    on("erasure", reload);
    on("reset", reload);
    window.addEventListener("erased", reload);
    this.#off.push(() => window.removeEventListener("erased", reload));
    this.timer = setInterval(() => this.#stats(), 5000);
    this.load();
  }

  get threshold() {
    return this.#overview?.gate.threshold ?? 0.35;
  }

  async load() {
    await this.#count();
    const told = await into(this.notes, call("latest_turns", { limit: 200, userIds: this.app.me.namespaces ?? undefined }), () => this.#limits());
    if (!told) return;
    this.#waiting = [];
    this.list.set(told.turns);
    this.#bare();
  }

  leave() {
    clearInterval(this.timer);
    this.list.dispose();
    for (const off of this.#off) off();
  }

  async #count() {
    if (this.app.unseen) return (this.stats.hidden = true);
    this.#overview = await call("overview").catch(() => this.#overview);
    this.#stats();
  }

  #limits() {
    return this.app.unseen ? [h("p", { class: "hint" }, this.app.unseen)] : [];
  }

  #bare() {
    this.wrap.hidden = !this.list.items.length;
    if (this.list.items.length) return;
    fill(this.notes, this.#limits(), empty("Nothing is remembered yet", "Tell it something, and it appears here at once:", 'libravdb add "The staging database moved to port 5433." --user ada --session monday'));
  }

  #came(turn, again) {
    this.#arrivals.push(Date.now());
    if (this.list.items.some((known) => same(known, turn)) || this.#waiting.some((known) => same(known, turn))) return;
    turn.fresh = true;
    this.#waiting.unshift(turn);
    if (this.wrap.hidden) {
      this.wrap.hidden = false;
      fill(this.notes, this.#limits());
    }
    this.#showWaiting();
    again();
  }

  #judged(judged) {
    const known = [...this.list.items, ...this.#waiting].find((turn) => same(turn, judged));
    if (!known) return;
    known.gate = { score: judged.score, durable: judged.durable, echo: judged.echo ?? false, signals: judged.signals };
    this.list.refresh();
  }

  /** New turns wait while somebody reads further down, or has one open. */
  #showWaiting(now = this.list.atTop && this.app.panel.element.hidden) {
    if (now && this.#waiting.length) {
      this.list.element.scrollTop = 0;
      this.list.prepend(this.#waiting);
      if (this.list.items.length > MOST) this.list.items.length = MOST;
      this.#waiting = [];
    }
    this.newer.hidden = !this.#waiting.length;
    this.newer.textContent = `↑ ${plural(this.#waiting.length, "new turn")}`;
  }

  #stats() {
    const told = this.#overview;
    if (!told) return;
    const since = Date.now() - SPEED_MS;
    this.#arrivals = this.#arrivals.filter((at) => at > since);
    const judged = told.gate.judged;
    const search = told.latency.methods.find((one) => one.method === "assemble_context") ?? told.latency.methods.find((one) => one.method === "memory_search");
    const stat = (name, value, more = "", bad = false) => h("div", { class: `stat ${bad ? "bad" : ""}` }, h("dt", null, name), h("dd", null, value, more ? h("small", null, ` ${more}`) : null));
    fill(
      this.stats,
      stat("turns", compact(told.counts.turns), plural(told.counts.namespaces, "user")),
      stat("summaries", compact(told.counts.summaries)),
      stat("durable", judged ? percent(told.gate.durable / judged) : "–", `of ${compact(judged)}`),
      stat("this minute", compact(this.#arrivals.length), "turns"),
      stat("to embed", compact(told.indexing.pending), told.indexing.failure ? "stopped" : told.indexing.pending ? "behind" : "up to date", Boolean(told.indexing.failure)),
      stat(search ? "context, 95%" : "latency", search ? seconds(search.p95S) : "–"),
      stat("on disk", bytes(told.sizes.diskBytes)),
      stat("up", lasting(told.uptimeS)),
    );
  }
}

const same = (one, other) => one.id === other.id && one.userId === other.userId && one.sessionId === other.sessionId;
