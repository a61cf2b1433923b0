// Small things that several views show: fields, facts, failures, and what to do where there is nothing yet.

import { h, uniqueId } from "./dom.js";

export function head(title, about, ...actions) {
  return h("div", { class: "view-head" }, h("h1", null, title), h("p", null, about), actions.length ? h("div", { class: "actions" }, actions) : null);
}

export function facts(pairs) {
  const told = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, told.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

export function field(label, control, className = "") {
  control.id ||= uniqueId("field");
  return h("div", { class: `field ${className}` }, h("label", { for: control.id }, label), control);
}

export function choice(options, value, props = {}) {
  const select = h("select", props, options.map(([key, name]) => h("option", { value: key }, name)));
  select.value = value ?? "";
  return select;
}

/** A field that offers what `offer(typed)` finds. */
export function offered(value, offer, props = {}) {
  const list = h("datalist", { id: uniqueId("offers") });
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...props, value, list: list.id });
  const look = async () => {
    const found = await offer(input.value).catch(() => []);
    list.replaceChildren(...found.map((name) => h("option", { value: name })));
  };
  input.addEventListener("focus", look);
  input.addEventListener("input", look);
  input.after?.(list);
  queueMicrotask(() => input.isConnected && input.after(list));
  return input;
}

export function userField(app, value) {
  const offer = async (typed) => {
    const users = app.users.length < 100 || !typed ? app.users : await app.loadUsers(typed);
    return users.map((user) => user.userId);
  };
  return offered(value, offer, { name: "user", required: true });
}

export function empty(title, text, ...commands) {
  return h("div", { class: "empty" }, h("h2", null, title), h("p", null, text), commands.map((line) => h("code", { class: "command" }, line)));
}

export function failure(error) {
  return h("div", { class: "failure", role: "alert" }, h("strong", null, error.message), error.hint ? h("p", { class: "small" }, error.hint) : null);
}

/** `enter(token)` signs in by a token; what it throws is told. */
export function signIn(linkUsed, enter) {
  const token = h("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true });
  const told = h("div", { role: "status" });
  const submit = async (event) => {
    event.preventDefault();
    try {
      await enter(token.value.trim());
    } catch (error) {
      told.replaceChildren(error.status === 401 ? h("p", { class: "failure" }, "This token is not known.") : failure(error));
      token.select();
    }
  };
  return h(
    "div",
    { class: "empty" },
    h("h1", null, linkUsed ? "That link has been used" : "Sign in"),
    h("p", null, "The inspector opens with a link that works once. Ask for one in a terminal on this machine:"),
    h("code", { class: "command" }, "libravdb ui"),
    h("p", null, "You stay signed in for twelve hours, or until the daemon stops."),
    h("details", { class: "by-token" }, h("summary", null, "Sign in with a token"), h("p", { class: "small" }, "You then see as far as the token reaches. The owner of the store makes one:"), h("code", { class: "command" }, "libravdb tokens add reader --namespace ada"), h("form", { class: "form", on: { submit } }, field("Token", token, "grow"), h("button", { class: "primary" }, "Sign in")), told),
  );
}

/** Puts what a promise leads to into a place; failures too, but for what was given up. */
export async function into(place, promise, show) {
  place.setAttribute("aria-busy", "true");
  try {
    const told = await promise;
    place.replaceChildren(...[show(told)].flat(Infinity).filter(Boolean));
    return told;
  } catch (error) {
    if (error.name !== "AbortError") place.replaceChildren(failure(error));
    if (!error.status && error.name !== "AbortError" && error.kind !== "away") throw error;
    return null;
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/** Waits until nothing came for a while. */
export function calmly(act, ms = 140) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), ms);
  };
}

/** Tabs: `parts` are [name, element]; `chosen(at)` hears which is shown. */
export function tabs(label, parts, chosen = () => {}) {
  const chips = parts.map(([name, body], at) => {
    body.id ||= uniqueId("tab");
    body.setAttribute("role", "tabpanel");
    return h("button", { type: "button", role: "tab", "aria-controls": body.id, on: { click: () => choose(at) } }, name);
  });
  function choose(shown) {
    chips.forEach((chip, at) => {
      chip.setAttribute("aria-selected", at === shown ? "true" : "false");
      chip.tabIndex = at === shown ? 0 : -1;
      parts[at][1].hidden = at !== shown;
    });
    chosen(shown);
  }
  const bar = h("div", { class: "tabs", role: "tablist", "aria-label": label }, chips);
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = (chips.indexOf(document.activeElement) + by + chips.length) % chips.length;
    choose(next);
    chips[next].focus();
    event.preventDefault();
  });
  choose(0);
  return { element: h("div", null, bar, parts.map(([, body]) => body)), choose };
}
