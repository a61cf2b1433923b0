// A list of any length of which only what is seen exists. Rows have one height; it may follow the width of the list.
// Law: what is chosen stays chosen, and what is looked at stays in place, when rows come in above.

import { h, uniqueId } from "./dom.js";

const OVERSCAN = 8;
const NEAR_THE_END = 40;
const AGAIN_MS = 1500;

export class VirtualList {
  items = [];
  chosen = -1;
  #rows = new Map();
  #loading = false;
  #ended = false;
  #painting = 0;
  #filled = 0;
  #againAt = 0;

  /** `height(width)`: of a row in px; `row(item)`: its children; `more()`: further items, none when there are no more;
   * `failed(error)`: that they could not be had, or null once they could. */
  constructor({ label, height, row, open, more = null, failed = () => {}, rowClass = () => "" }) {
    Object.assign(this, { height, row, onOpen: open, more, failed, rowClass });
    this.id = uniqueId("list");
    this.spacer = h("div", { class: "list-rows", role: "presentation" });
    this.element = h(
      "div",
      {
        class: "list",
        role: "listbox",
        tabindex: "0",
        "aria-label": label,
        on: {
          scroll: () => this.#soon(),
          keydown: (event) => this.#pressed(event),
          click: (event) => this.#clicked(event),
        },
      },
      this.spacer,
    );
    this.sized = new ResizeObserver(() => this.refresh());
    this.sized.observe(this.element);
  }

  get rowHeight() {
    return this.height(this.element.clientWidth || 800);
  }

  get atTop() {
    return this.element.scrollTop < this.rowHeight / 2;
  }

  set(items, { keep = false } = {}) {
    this.items = items;
    this.#filled += 1;
    this.#loading = false;
    this.#againAt = 0;
    this.#ended = !this.more;
    if (!keep) {
      this.chosen = -1;
      this.element.scrollTop = 0;
    }
    this.refresh();
  }

  append(items) {
    this.items.push(...items);
    this.#soon();
  }

  /** New rows above. What is looked at stays where it is, unless that is the very top. */
  prepend(items) {
    const stay = !this.atTop;
    this.items.unshift(...items);
    if (this.chosen >= 0) this.chosen += items.length;
    if (stay) this.element.scrollTop += items.length * this.rowHeight;
    this.refresh();
  }

  refresh() {
    for (const row of this.#rows.values()) row.remove();
    this.#rows.clear();
    this.paint();
  }

  move(by) {
    this.choose(this.chosen < 0 ? 0 : this.chosen + by);
    this.element.focus({ preventScroll: true });
  }

  choose(index) {
    if (!this.items.length) return;
    this.chosen = Math.max(0, Math.min(this.items.length - 1, index));
    const top = this.chosen * this.rowHeight;
    const view = this.element;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + this.rowHeight > view.scrollTop + view.clientHeight) view.scrollTop = top + this.rowHeight - view.clientHeight;
    this.refresh();
  }

  open() {
    if (this.chosen >= 0 && this.items[this.chosen]) this.onOpen(this.items[this.chosen]);
  }

  dispose() {
    this.sized.disconnect();
    cancelAnimationFrame(this.#painting);
  }

  #soon() {
    cancelAnimationFrame(this.#painting);
    this.#painting = requestAnimationFrame(() => this.paint());
  }

  paint() {
    const height = this.rowHeight;
    const view = this.element;
    const first = Math.max(0, Math.floor(view.scrollTop / height) - OVERSCAN);
    const last = Math.min(this.items.length, Math.ceil((view.scrollTop + view.clientHeight) / height) + OVERSCAN);
    this.spacer.style.height = `${this.items.length * height}px`;
    for (const [index, row] of this.#rows) {
      if (index < first || index >= last) {
        row.remove();
        this.#rows.delete(index);
      }
    }
    for (let index = first; index < last; index += 1) if (!this.#rows.has(index)) this.#put(index, height);
    const active = this.#rows.get(this.chosen);
    if (active) view.setAttribute("aria-activedescendant", active.id);
    else view.removeAttribute("aria-activedescendant");
    if (last > this.items.length - NEAR_THE_END) this.#fetch();
  }

  #put(index, height) {
    const item = this.items[index];
    const row = h(
      "div",
      {
        id: `${this.id}-${index}`,
        class: `row ${this.rowClass(item)}`,
        role: "option",
        "aria-selected": index === this.chosen ? "true" : "false",
        "aria-posinset": index + 1,
        "aria-setsize": this.#ended ? this.items.length : -1,
        data: { index },
      },
      this.row(item),
    );
    row.style.height = `${height}px`;
    row.style.transform = `translateY(${index * height}px)`;
    this.#rows.set(index, row);
    const after = [...this.#rows.keys()].filter((other) => other > index).sort((a, b) => a - b)[0];
    this.spacer.insertBefore(row, after === undefined ? null : this.#rows.get(after));
  }

  async #fetch() {
    if (this.#loading || this.#ended || !this.more || performance.now() < this.#againAt) return;
    this.#loading = true;
    const mine = this.#filled;
    const [page, error] = await this.more().then((items) => [items, null], (error) => [null, error]);
    if (mine !== this.#filled) return; // the list holds something else by now
    this.#loading = false;
    if (error) this.#againAt = performance.now() + AGAIN_MS; // the next scrolling after that tries it again
    else if (page.length) this.append(page);
    else this.#ended = true;
    this.failed(error);
  }

  #pressed(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.choose(this.chosen < 0 && event.key !== "End" ? 0 : this.chosen + steps[event.key]);
    else if (event.key === "Enter") this.open();
    else return;
    event.preventDefault();
  }

  #clicked(event) {
    const row = event.target.closest("[data-index]");
    if (!row) return;
    this.choose(Number(row.dataset.index));
    this.open();
  }
}
