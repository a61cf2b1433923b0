// The keyboard. Law: a key that is typed into a field is never taken for a command, but for Escape.

const VIEWS = { n: "now", c: "context", s: "search", h: "history", r: "rules", g: "gate", e: "health" };
const PAIR_MS = 1200;

export const HELP = [
  ["g n", "Now"],
  ["g c", "Context"],
  ["g s", "Search"],
  ["g h", "History"],
  ["g r", "Rules"],
  ["g g", "Gate"],
  ["g e", "Health"],
  ["/", "to the view's main field; in Now, to Search"],
  ["j  k", "next, previous in a list"],
  ["Enter", "open what is chosen"],
  ["Esc", "close, or leave a field"],
  ["t", "light, dark, as the system"],
  ["?", "these keys"],
];

export class Keys {
  #list = null;
  #pairUntil = 0;

  /** `acts`: view(name), search(), help(), escape(), theme(). */
  constructor(acts) {
    this.acts = acts;
    document.addEventListener("keydown", (event) => this.#pressed(event));
  }

  /** The list that j and k move in. */
  follow(list) {
    this.#list = list;
  }

  #pressed(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return; // a dialog has the keyboard for itself
    if (event.key === "Escape") {
      if (isField(event.target)) event.target.blur();
      else this.acts.escape();
      return;
    }
    if (isField(event.target)) return;
    if (this.#taken(event.key)) event.preventDefault();
  }

  #taken(key) {
    const second = performance.now() < this.#pairUntil;
    this.#pairUntil = 0;
    if (second && VIEWS[key]) return this.#done(() => this.acts.view(VIEWS[key]));
    if (key === "g") return this.#done(() => (this.#pairUntil = performance.now() + PAIR_MS));
    if (key === "/") return this.#done(() => this.acts.search());
    if (key === "?") return this.#done(() => this.acts.help());
    if (key === "t") return this.#done(() => this.acts.theme());
    if ((key === "j" || key === "k") && this.#list) return this.#done(() => this.#list.move(key === "j" ? 1 : -1));
    if (key === "Enter" && this.#list && document.activeElement === document.body) {
      return this.#done(() => this.#list.open());
    }
    return false;
  }

  #done(act) {
    act();
    return true;
  }
}

function isField(element) {
  if (!(element instanceof HTMLElement)) return false;
  if (element instanceof HTMLInputElement) return !["checkbox", "radio", "range", "button"].includes(element.type);
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement || element.isContentEditable;
}
