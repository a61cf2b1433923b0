// The frame around the views: who is signed in, which view is shown, the panel beside it, the keyboard.

import { call, Events, whoami } from "./api.js";
import { fill, h } from "./dom.js";
import { HELP, Keys } from "./keys.js";
import { Panel } from "./panel.js";
import { failure, signIn } from "./pieces.js";
import { go, read } from "./router.js";
import { turn as turnTheme } from "./theme.js";
import { context } from "./context.js";
import { gate } from "./gate.js";
import { health } from "./health.js";
import { history } from "./history.js";
import { now } from "./now.js";
import { rules } from "./rules.js";
import { search } from "./search.js";

const VIEWS = { now, context, search, history, rules, gate, health };
const main = document.getElementById("main");
const announcer = document.getElementById("announcer");

class App {
  events = new Events();
  panel = new Panel(document.getElementById("panel"));
  me = null;
  users = [];
  #shown = null;
  #view = null;

  constructor() {
    this.keys = new Keys({
      view: (name) => go(name, this.#kept(name)),
      search: () => this.#search(),
      help: () => this.help(),
      escape: () => this.panel.close(),
      theme: () => this.announce(`Theme: ${turnTheme()}`),
    });
  }

  announce(text) {
    announcer.textContent = text;
  }

  /** The user that was looked at last, or who spoke last. */
  get user() {
    const last = sessionStorage.getItem("user");
    const mine = this.me?.namespaces;
    return (last && (!mine || mine.includes(last)) ? last : null) ?? this.users[0]?.userId ?? mine?.[0] ?? "";
  }

  set user(value) {
    if (value) sessionStorage.setItem("user", value);
  }

  async start() {
    this.#frame();
    const refused = await this.#signIn().then(() => null, (error) => error);
    try {
      this.me = await whoami(); // a page that is signed in stays so, whatever its link was
    } catch (error) {
      return this.#outside(error, refused?.status === 401);
    }
    this.#tellReach();
    await this.loadUsers().catch(() => {});
    this.events.open();
    window.addEventListener("hashchange", () => this.show());
    window.addEventListener("signed-out", () => this.#outside());
    this.show();
  }

  async loadUsers(contains = "") {
    const mine = this.me.namespaces;
    const told = await call("namespaces", { contains, userIds: mine ?? undefined, limit: 100 });
    const found = told.namespaces.toSorted((a, b) => (b.lastTs ?? 0) - (a.lastTs ?? 0));
    if (!contains) this.users = found;
    return found;
  }

  userGone() {
    sessionStorage.removeItem("user");
    return this.loadUsers().catch(() => {});
  }

  /** What may not be seen, in words; empty where everything may. */
  get unseen() {
    const { name, namespaces } = this.me;
    return namespaces ? `The token “${name}” reaches ${namespaces.join(", ") || "nobody"}. Other users, and what concerns the whole store, are not shown.` : "";
  }

  show() {
    if (document.body.classList.contains("outside")) return;
    const { view, params } = read();
    const name = view in VIEWS ? view : "now";
    this.#mark(name);
    if (this.#view && this.#shown === name) return this.#view.update?.(params);
    this.#view?.leave?.();
    this.panel.close();
    this.keys.follow(null);
    this.#shown = name;
    document.title = `${VIEWS[name].title} · LibraVDB Memory`;
    main.className = `main view-${name}`;
    main.scrollTop = 0;
    fill(main);
    this.#view = VIEWS[name].mount(main, this, params);
    this.announce(VIEWS[name].title);
  }

  help() {
    const dialog = h(
      "dialog",
      { class: "dialog", "aria-labelledby": "keys-title", on: { close: () => dialog.remove() } },
      h("h2", { id: "keys-title" }, "Keys"),
      h("dl", { class: "keys" }, HELP.map(([keys, what]) => h("div", null, h("dt", null, keys.split(" ").filter(Boolean).map((key) => h("kbd", null, key))), h("dd", null, what)))),
      h("form", { method: "dialog", class: "actions" }, h("button", { type: "button", on: { click: () => this.signOut(dialog) } }, "Sign out"), h("button", { class: "primary", autofocus: true }, "Close")),
    );
    document.body.append(dialog);
    dialog.showModal();
  }

  async signOut(dialog) {
    await call("sign-out").catch(() => {});
    dialog.close();
    this.#outside();
  }

  #kept(name) {
    return ["context", "search", "history"].includes(name) ? { user: this.user } : {};
  }

  #search() {
    const field = main.querySelector("[data-main]");
    if (field) field.focus();
    else go("search", { user: this.user });
  }

  async #signIn() {
    const token = location.hash.match(/^#sign-in=(.+)$/)?.[1];
    if (!token) return;
    window.history.replaceState(null, "", location.pathname);
    await call("sign-in", { token: decodeURIComponent(token) });
  }

  #outside(error = null, linkUsed = false) {
    if (document.body.classList.contains("outside")) return;
    this.events.close();
    this.panel.close();
    this.#view?.leave?.();
    this.#view = null;
    document.body.classList.add("outside");
    fill(main, error && error.status !== 401 ? failure(error) : signIn(linkUsed, (token) => this.#enter(token)));
  }

  async #enter(token) {
    await call("sign-in", { token });
    location.reload();
  }

  #tellReach() {
    if (!this.unseen) return;
    const place = document.getElementById("reach");
    place.hidden = false;
    place.title = this.unseen;
    place.textContent = `only ${this.me.namespaces.join(", ") || "nobody"}`;
  }

  #frame() {
    const nav = document.getElementById("views");
    fill(
      nav,
      Object.entries(VIEWS).map(([name, view]) =>
        h("a", { href: `#/${name}`, data: { view: name } }, h("span", null, view.title), h("kbd", { "aria-hidden": "true" }, `g ${view.key}`)),
      ),
    );
    document.getElementById("help").addEventListener("click", () => this.help());
    document.getElementById("theme").addEventListener("click", () => this.announce(`Theme: ${turnTheme()}`));
    const live = document.getElementById("live");
    this.events.on("state", (state) => {
      live.dataset.state = state;
      document.getElementById("live-text").textContent = { open: "live", waiting: "connecting", closed: "not live" }[state];
    });
  }

  #mark(name) {
    for (const item of document.querySelectorAll("#views a")) {
      if (item.dataset.view === name) {
        item.setAttribute("aria-current", "page");
        item.scrollIntoView({ block: "nearest", inline: "nearest" });
      } else item.removeAttribute("aria-current");
    }
  }
}

new App().start();
