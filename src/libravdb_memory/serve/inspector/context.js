// Context: the prompt as the model gets it, what each piece cost, what did not fit, and what another budget would change.

import { call, latest } from "./api.js";
import { budgetLine, meter, TIERS, tiersLegend } from "./charts.js";
import { fill, h } from "./dom.js";
import { count, firstLine, fully, plural, when } from "./format.js";
import { calmly, choice, empty, failure, field, head, into, offered, tabs, userField } from "./pieces.js";
import { go, link, note } from "./router.js";
import { compared } from "./context-compare.js";
import { chosenList, rejectedList } from "./context-items.js";
import { promptText } from "./context-text.js";

export const context = { title: "Context", key: "c", mount: (outlet, app, params) => new ContextView(outlet, app, params) };

const MOST_CHANGES = 40;

class ContextView {
  #ask = latest();
  #params = {};
  #receipts = [];
  #lists = [];

  constructor(outlet, app, params) {
    this.app = app;
    this.user = userField(app, "");
    this.session = offered("", (typed) => this.#sessions(typed), { placeholder: "any" });
    this.prompt = h("textarea", { rows: 2, "data-main": "", placeholder: "What would you ask the agent?" });
    this.budget = h("input", { type: "number", min: 1, step: 50, placeholder: "default" });
    this.recent = h("select", { on: { change: () => this.recent.value && go("context", { user: this.user.value, receipt: this.recent.value }) } });
    this.result = h("div", { class: "stack-of" });
    const form = h(
      "form",
      { class: "form card", on: { submit: (event) => this.#assemble(event) } },
      field("Prompt", this.prompt, "wide"),
      field("User", this.user),
      field("Session", this.session),
      field("Budget, tokens", this.budget, "narrow"),
      field("Recent prompts", this.recent, "grow"),
      h("button", { class: "primary" }, "Assemble"),
    );
    this.prompt.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && form.requestSubmit());
    this.user.addEventListener("change", () => this.#loadRecent());
    fill(outlet, head("Context", "The prompt of memory exactly as the model gets it, and why."), h("div", { class: "stack-of" }, form, this.result));
    this.off = app.events.on("context", (made) => made.userId === this.user.value && this.#loadRecent());
    this.update(params);
  }

  update(params) {
    this.#params = params;
    this.user.value = params.user ?? this.app.user;
    if (params.session) this.session.value = params.session;
    if (params.prompt) this.prompt.value = params.prompt;
    this.#loadRecent();
    if (params.receipt && params.with) return this.#openTwo(params.receipt, params.with);
    if (params.receipt) return this.#open(params.receipt, params.budget ? Number(params.budget) : undefined);
    return fill(this.result, empty("No prompt yet", "Type what you would ask the agent, and see what it would be given. From a terminal:", `libravdb context "How do I reach the staging db?" --user ${this.app.user || "ada"}`));
  }

  leave() {
    this.left = true;
    this.off();
    this.#take([]);
  }

  /** The lists that are shown from now on; j and k move in the first that has rows. */
  #take(lists) {
    for (const list of this.#lists) list.dispose();
    this.#lists = lists;
    this.app.keys.follow(lists.find((list) => list.items.length) ?? null);
  }

  async #sessions(typed) {
    const told = await call("sessions", { userId: this.user.value, contains: typed, limit: 50 });
    return told.sessions.map((session) => session.sessionId);
  }

  async #loadRecent() {
    const user = this.user.value;
    const none = { receipts: [] };
    const told = user ? await call("receipts", { userId: user, limit: 25 }).catch(() => none) : none;
    this.#receipts = told.receipts;
    fill(this.recent, h("option", { value: "" }, told.receipts.length ? "choose …" : "none yet"), told.receipts.map((one) => h("option", { value: one.id }, `${when(one.createdMs)}  ${firstLine(one.prompt, 60)}`)));
    this.recent.value = this.#receipts.some((one) => one.id === this.#params.receipt) ? this.#params.receipt : "";
  }

  async #assemble(event) {
    event.preventDefault();
    const user = this.user.value;
    if (!user || !this.prompt.value.trim()) return this.prompt.focus();
    this.app.user = user;
    this.result.setAttribute("aria-busy", "true");
    try {
      const told = await call("assemble_context", { userId: user, sessionId: this.session.value, prompt: this.prompt.value, budget: Number(this.budget.value) || undefined });
      if (!this.left) go("context", { user, receipt: told.receiptId });
    } catch (error) {
      fill(this.result, failure(error));
    }
    this.result.removeAttribute("aria-busy");
  }

  #openTwo(left, right) {
    return into(this.result, call("compare_receipts", { left, right }), (told) => {
      this.prompt.value = told.left.prompt;
      this.session.value = told.left.sessionId ?? "";
      const { nodes, lists } = compared(this.app, told);
      this.#take(lists);
      return nodes;
    });
  }

  async #open(receiptId, budget) {
    const view = await into(this.result, this.#ask("receipt_view", { receiptId, budget }), (view) => this.#show(view));
    if (!view) return;
    this.user.value = view.userId;
    this.session.value = view.sessionId ?? "";
    this.prompt.value = view.prompt;
    this.app.announce(`${plural(view.tokens, "token")} of ${count(view.budget)}, ${plural(view.items.length, "item")}`);
  }

  #show(view) {
    const most = Math.max(2 * view.originalBudget, 2000);
    const slider = h("input", { type: "range", min: 50, max: most, step: 50, value: String(view.budget), "aria-valuetext": `${view.budget} tokens` });
    const figure = h("output", null, count(view.budget));
    const again = h("button", { type: "button", on: { click: () => this.#move(view, slider, view.originalBudget, figure, body) } }, "As given");
    const body = h("div", { class: "stack-of" });
    const slow = calmly(() => this.#move(view, slider, Number(slider.value), figure, body), 120);
    slider.addEventListener("input", () => {
      figure.textContent = count(Number(slider.value));
      slider.setAttribute("aria-valuetext", `${slider.value} tokens`);
      slow();
    });
    slider.id = "budget-slider";
    this.#body(body, view);
    return [
      h(
        "section",
        { class: "card stack-of", "aria-label": "Budget" },
        h("div", { class: "slider" }, h("label", { for: "budget-slider" }, "Budget"), slider, figure, again),
        (this.line = h("div", { class: "stack-of" })),
      ),
      body,
      this.#budget(view),
    ].filter((part) => part instanceof Node);
  }

  async #move(original, slider, budget, figure, body) {
    if (this.left) return;
    slider.value = String(budget);
    figure.textContent = count(budget);
    const other = budget === original.originalBudget ? undefined : budget;
    note("context", { user: original.userId, receipt: original.receiptId, budget: other });
    try {
      const view = await this.#ask("receipt_view", { receiptId: original.receiptId, budget: other });
      this.#body(body, view, original);
      this.#budget(view);
      this.app.announce(`${view.entered.length} enter, ${view.left.length} leave; ${count(view.tokens)} of ${count(view.budget)} tokens`);
    } catch (error) {
      if (error.name !== "AbortError") fill(body, failure(error));
    }
  }

  #budget(view) {
    const known = Object.fromEntries([...view.items, ...view.rejections].map((item) => [item.id, item.text]));
    const change = (item, sort, sign) => h("span", { class: `change ${sort}`, title: known[item.id] ?? item.id }, `${sign} ${firstLine(known[item.id] ?? item.id, 40)}`);
    const changes = (items, sort, sign) => [items.slice(0, MOST_CHANGES).map((item) => change(item, sort, sign)), items.length > MOST_CHANGES ? h("span", { class: `change ${sort}` }, `${sign} ${count(items.length - MOST_CHANGES)} more`) : null];
    const moved = view.budget !== view.originalBudget;
    fill(
      this.line,
      budgetLine(view.tiers, view.budget),
      h("div", { class: "meters" }, TIERS.filter((tier) => view.tiers[tier]).map((tier) => meter(tier, view.tiers[tier].used, view.tiers[tier].limit, `tier-${tier}`))),
      h("div", { class: "changes" }, moved ? [changes(view.entered, "entered", "+"), changes(view.left, "left", "−"), view.entered.length + view.left.length ? null : h("span", { class: "quiet" }, "Nothing enters, nothing leaves.")] : h("span", { class: "quiet" }, `As given: ${count(view.tokens)} of ${count(view.budget)} tokens. Move the slider to see what enters and leaves.`)),
    );
  }

  #body(place, view) {
    if (view.text === null) return fill(place, h("p", { class: "hint" }, `It cannot be assembled again: ${view.reason}`));
    const [items, rejected] = [chosenList(this.app, view, view.items), rejectedList(this.app, view)];
    this.#take([items, rejected]);
    const leftOut = h("div", { class: "stack-of" }, view.rejections.length ? rejected.element : h("p", { class: "quiet small" }, "Everything that was found fitted."), this.#whyNot(view));
    const inside = h("div", null, view.items.length ? items.element : h("p", { class: "quiet small" }, "Nothing is in this prompt."));
    const parts = tabs("Parts of the prompt", [[`In the prompt ${view.items.length}`, inside], [`Left out ${view.rejections.length}`, leftOut], ["Compare", this.#compare(view)]], (at) => this.app.keys.follow([items, rejected, null][at]));
    const text = promptText(view, (item) => {
      parts.choose(0);
      items.element.focus({ preventScroll: true });
      items.choose(view.items.indexOf(item));
      items.open();
    });
    return fill(
      place,
      view.degraded ? h("p", { class: "hint" }, `${view.degraded.reason}: hard rules need ${plural(view.degraded.hardTokens, "token")} and the tail ${count(view.degraded.tailTokens)}, of ${count(view.degraded.budget)}. Both are kept whole.`) : null,
      view.notes?.length ? h("p", { class: "hint" }, view.notes.join(" ")) : null,
      h(
        "div",
        { class: "columns" },
        h("section", { class: "stack-of", "aria-label": "The prompt" }, h("div", { class: "under" }, h("span", null, `${count(view.tokens)} tokens · ${fully(view.createdMs)}`), tiersLegend(TIERS.filter((tier) => view.items.some((item) => item.tier === tier)))), text, h("p", { class: "quiet small" }, "Receipt ", h("code", null, view.receiptId), view.identical ? " · replays to the same bytes" : view.reason ? ` · ${view.reason}` : "")),
        h("section", { class: "card", "aria-label": "Parts" }, parts.element),
      ),
    );
  }

  #whyNot(view) {
    const id = h("input", { type: "text", spellcheck: "false", placeholder: "id of a turn" });
    const answer = h("p", { class: "small", role: "status" });
    const ask = async (event) => {
      event.preventDefault();
      try {
        const told = await call("why_not", { receiptId: view.receiptId, recordId: id.value.trim() });
        answer.textContent = told.reason;
      } catch (error) {
        answer.textContent = error.message;
      }
    };
    return h("form", { class: "form", on: { submit: ask } }, field("Why is it not here?", id, "grow"), h("button", null, "Ask"), h("div", { class: "field wide" }, answer));
  }

  #compare(view) {
    const others = this.#receipts.filter((one) => one.id !== view.receiptId);
    if (!others.length) return h("p", { class: "quiet small" }, "There is no other prompt of this user to compare with yet.");
    const pick = choice(others.map((one) => [one.id, `${when(one.createdMs)}  ${firstLine(one.prompt, 50)}`]), others[0].id);
    const open = (event) => {
      event.preventDefault();
      location.hash = link("context", { user: view.userId, receipt: view.receiptId, with: pick.value });
    };
    return h("form", { class: "form", on: { submit: open } }, field("With which prompt?", pick, "grow"), h("button", null, "Compare"));
  }
}
