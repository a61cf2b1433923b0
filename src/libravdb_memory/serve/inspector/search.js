// Search: what is found for a question, and why in that order.

import { call, latest } from "./api.js";
import { PARTS, partsLegend, partsTable, stackedBar } from "./charts.js";
import { fill, h } from "./dom.js";
import { firstLine, fully, plural, score, when } from "./format.js";
import { VirtualList } from "./list.js";
import { choice, empty, failure, field, head, userField } from "./pieces.js";
import { note } from "./router.js";
import { openTurn } from "./turn.js";

const SCOPES = [["session", "this session"], ["history", "all turns"], ["summaries", "summaries"]];
const DAY_MS = 86_400_000;
const PAGE = 50;
const MOST = 200; // the daemon ranks no more

export const search = { title: "Search", key: "s", mount: (outlet, app, params) => new Search(outlet, app, params) };

class Search {
  #ask = latest();
  #most = 1;
  #asked = {};
  #cursor = null;

  constructor(outlet, app, params) {
    this.app = app;
    this.user = userField(app, "");
    this.query = h("input", { type: "search", "data-main": "", placeholder: "which port does the staging database use?" });
    this.session = h("input", { type: "text", placeholder: "any", spellcheck: "false" });
    this.role = choice([["", "anyone"], ["user", "user"], ["assistant", "assistant"], ["tool", "tool"], ["system", "system"]], "");
    this.since = h("input", { type: "date" });
    this.until = h("input", { type: "date" });
    this.scopes = SCOPES.map(([value, name]) => [value, h("input", { type: "checkbox", value }), name]);
    this.told = h("p", { role: "status" });
    this.notes = h("div");
    this.list = new VirtualList({
      label: "Found, best first",
      height: (width) => (width < 640 ? 116 : 74),
      row: (found) => this.#row(found),
      open: (found) => this.#open(found),
      more: () => this.#more(),
      failed: (error) => error && fill(this.notes, failure(error)),
    });
    const form = h(
      "form",
      { class: "form", role: "search", on: { submit: (event) => this.#submit(event) } },
      field("Question", this.query, "grow"),
      field("User", this.user),
      h("button", { class: "primary" }, "Search"),
    );
    const filters = h(
      "details",
      { class: "filters" },
      h("summary", { class: "small quiet" }, "Filters"),
      h("div", { class: "form" }, field("Session", this.session), field("Said by", this.role), field("From", this.since), field("To", this.until), h("fieldset", { class: "checks" }, h("legend", null, "Look in"), this.scopes.map(([, box, name]) => h("label", null, box, name)))),
    );
    filters.addEventListener("change", () => this.query.value && this.run());
    this.filters = filters;
    fill(outlet, head("Search", "What memory finds, and what each score is made of."), form, filters, h("div", { class: "under" }, this.told, partsLegend()), this.notes, this.list.element);
    app.keys.follow(this.list);
    this.update(params);
    if (!params.q) this.query.focus();
  }

  update(params) {
    this.user.value = params.user ?? this.app.user;
    this.query.value = params.q ?? "";
    this.session.value = params.session ?? "";
    this.role.value = params.role ?? "";
    this.since.value = params.since ?? "";
    this.until.value = params.until ?? "";
    const wanted = (params.scopes ?? "").split(",");
    for (const [value, box] of this.scopes) box.checked = wanted.includes(value);
    if (params.session || params.role || params.since || params.until || params.scopes) this.filters.open = true;
    if (this.query.value) this.run();
    else this.#teach();
  }

  leave() {
    this.list.dispose();
  }

  #submit(event) {
    event.preventDefault();
    this.run();
  }

  async run() {
    const scopes = this.scopes.filter(([, box]) => box.checked).map(([value]) => value);
    const asked = { user: this.user.value, q: this.query.value, session: this.session.value, role: this.role.value, since: this.since.value, until: this.until.value, scopes: scopes.join(",") };
    if (!asked.user || !asked.q.trim()) return this.#teach();
    note("search", asked);
    this.app.user = asked.user;
    this.list.element.setAttribute("aria-busy", "true");
    try {
      const day = (value) => (value ? new Date(`${value}T00:00:00`).getTime() : undefined);
      const until = day(asked.until);
      const params = { userId: asked.user, query: asked.q, sessionId: asked.session, role: asked.role, scopes: scopes.length ? scopes : undefined, since: day(asked.since), until: until && until + DAY_MS - 1, k: PAGE };
      const told = await this.#ask("search_explained", params);
      this.#asked = params;
      this.#show(told);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.told.textContent = "";
      this.list.set([]);
      this.list.element.hidden = true;
      fill(this.notes, failure(error));
    }
    this.list.element.removeAttribute("aria-busy");
  }

  #show(told) {
    const above = (found) => PARTS.reduce((sum, part) => sum + Math.max(0, found.bar?.[part] ?? 0), 0);
    this.#most = Math.max(0.05, ...told.results.map(above));
    this.#cursor = told.cursor;
    this.told.textContent = `${told.total >= MOST ? `The best ${MOST} results` : plural(told.total, "result")} in ${Math.round(told.tookMs)} ms`;
    fill(this.notes, told.degraded.map((reason) => h("p", { class: "hint" }, reason)), told.results.length ? null : empty("Nothing found", "No turn of this user comes near. Try other words, or look without filters."));
    this.list.element.hidden = !told.results.length;
    this.list.set(told.results);
  }

  async #more() {
    if (!this.#cursor) return [];
    const told = await call("search_explained", { ...this.#asked, after: this.#cursor });
    this.#cursor = told.cursor;
    return told.results;
  }

  #teach() {
    this.told.textContent = "";
    this.list.element.hidden = true;
    fill(this.notes, empty("Ask it something", "By meaning, by wording, by name: type a question above. The same from a terminal:", `libravdb search "which port does the staging db use?" --user ${this.app.user || "ada"}`));
  }

  #row(found) {
    const narrow = this.list.element.clientWidth < 640;
    return h(
      "div",
      { class: `found-row ${narrow ? "narrow-row" : ""}` },
      h("span", { class: "found-score number" }, score(found.score)),
      h("div", null, h("div", { class: "row-meta" }, h("span", { class: "role" }, found.speaker || found.role || "summary"), h("span", { class: "shrinks" }, found.sessionId), h("time", { title: fully(found.ts) }, when(found.ts))), h("div", { class: "row-text", vars: { lines: 2 } }, firstLine(found.text, 300))),
      stackedBar(found.bar ?? {}, this.#most),
    );
  }

  #open(found) {
    const extra = h("section", { class: "stack-of" }, h("h3", null, "Score"), Object.keys(found.bar ?? {}).length ? partsTable(found.bar, found.score) : h("p", null, score(found.score)));
    openTurn(this.app, found, { extra });
  }
}
