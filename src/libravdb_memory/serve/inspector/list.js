// A list of any length of which only what is seen exists. Rows have one height, which may follow the width of the list,
// or each its own.
// Law: what is chosen stays chosen, and what is looked at stays in place, when rows come in above or turn out higher.

import { h, uniqueId } from "./dom.js";
import { EvenRows, MeasuredRows } from "./list-rows.js";

const OVERSCAN = 8;
const ROUNDS = 5; // rows that are measured make room for others, which are measured too
const NEAR_THE_END = 40;
const AGAIN_MS = 1500;

export class VirtualList {
  items = [];
  chosen = -1;
  #rows = new Map();
  #loading = false;
  #ended = false;
  #painting = 0;
  #sizing = 0;
  #filled = 0;
  #last = 0;
  #width = 0;
  #againAt = 0;

  /** `height(width)`: of every row in px, or `guess(item, width)`: of one that was not seen yet, then it is as high as what
   * is in it; `row(item)`: its children; `more()`: further items, none when there are no more; `failed(error)`: that they
   * could not be had, or null once they could. With the class `snug` it is no higher than its rows. */
  constructor({ label, height, guess, row, open, more = null, failed = () => {}, rowClass = () => "", className = "" }) {
    Object.assign(this, { row, onOpen: open, more, failed, rowClass });
    this.places = guess ? new MeasuredRows(this, guess) : new EvenRows(this, height);
    this.isMeasured = Boolean(guess);
    this.id = uniqueId("list");
    this.spacer = h("div", { class: "list-rows", role: "presentation" });
    this.element = h(
      "div",
      {
        class: `list ${className}`,
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
    this.sized = new ResizeObserver(() => {
      cancelAnimationFrame(this.#sizing);
      this.#sizing = requestAnimationFrame(() => this.#resized());
    });
    this.sized.observe(this.element);
  }

  get atTop() {
    return this.element.scrollTop < this.places.top(1) / 2;
  }

  set(items, { keep = false } = {}) {
    this.#filled += 1;
    this.#loading = false;
    this.#againAt = 0;
    this.#ended = !this.more;
    if (keep) return this.#inPlace(() => (this.items = items));
    this.items = items;
    this.chosen = -1;
    this.element.scrollTop = 0;
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
    if (stay) this.element.scrollTop += this.places.top(items.length);
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
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = this.element.scrollTop;
      this.#reveal(this.chosen);
      this.refresh();
      if (this.element.scrollTop === before) break;
    }
  }

  /** Of a row that is higher than the list, its beginning. */
  #reveal(index) {
    const view = this.element;
    const [top, bottom] = [this.places.top(index), this.places.top(index + 1)];
    if (top < view.scrollTop || bottom - top > view.clientHeight) view.scrollTop = top;
    else if (bottom > view.scrollTop + view.clientHeight) view.scrollTop = bottom - view.clientHeight;
  }

  open() {
    if (this.chosen >= 0 && this.items[this.chosen]) this.onOpen(this.items[this.chosen]);
  }

  dispose() {
    this.sized.disconnect();
    cancelAnimationFrame(this.#painting);
    cancelAnimationFrame(this.#sizing);
  }

  #soon() {
    cancelAnimationFrame(this.#painting);
    this.#painting = requestAnimationFrame(() => this.paint());
  }

  #resized() {
    const width = this.element.clientWidth;
    if (width === this.#width || !width) return this.refresh();
    this.#width = width;
    this.#inPlace(() => this.places.forget());
  }

  /** Changes where rows stand, but not what is looked at: the row that is chosen, if it is seen, else the uppermost. */
  #inPlace(change) {
    const view = this.element;
    const [from, to] = [view.scrollTop, view.scrollTop + view.clientHeight];
    const seen = this.chosen >= 0 && this.places.top(this.chosen) < to && this.places.top(this.chosen + 1) > from;
    const looked = seen ? this.chosen : this.places.at(from);
    const within = from - this.places.top(looked);
    change();
    this.refresh();
    view.scrollTop = this.places.top(looked) + within;
    this.refresh();
  }

  paint() {
    for (let round = 0; round < ROUNDS; round += 1) {
      this.#show();
      if (!this.#measure()) break;
    }
    const active = this.#rows.get(this.chosen);
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
    if (this.#last > this.items.length - NEAR_THE_END) this.#fetch();
  }

  /** What is seen, and a little around it. */
  #show() {
    const view = this.element;
    this.spacer.style.height = `${this.places.top(this.items.length)}px`;
    const first = Math.max(0, this.places.at(view.scrollTop) - OVERSCAN);
    this.#last = Math.min(this.items.length, this.places.at(view.scrollTop + view.clientHeight) + 1 + OVERSCAN);
    for (const [index, row] of this.#rows) {
      if (index < first || index >= this.#last) {
        row.remove();
        this.#rows.delete(index);
      }
    }
    for (let index = first; index < this.#last; index += 1) if (!this.#rows.has(index)) this.#put(index);
  }

  /** Whether rows had to move; what is looked at stays in place. */
  #measure() {
    const view = this.element;
    const looked = this.places.at(view.scrollTop);
    const within = view.scrollTop - this.places.top(looked);
    if (!this.places.learn(this.#rows)) return false;
    this.spacer.style.height = `${this.places.top(this.items.length)}px`;
    for (const [index, row] of this.#rows) row.style.transform = `translateY(${this.places.top(index)}px)`;
    view.scrollTop = this.places.top(looked) + within;
    return true;
  }

  #put(index) {
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
    if (!this.isMeasured) row.style.height = `${this.places.tall}px`;
    row.style.transform = `translateY(${this.places.top(index)}px)`;
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

  /** The row that is chosen a page further down, or up. */
  #page(down) {
    const { places, chosen } = this;
    const step = this.element.clientHeight - (places.top(chosen + 1) - places.top(chosen));
    if (down) return Math.max(chosen + 1, places.at(places.top(chosen) + step));
    const above = places.top(chosen) - step;
    const index = places.at(above);
    return Math.min(chosen - 1, places.top(index) < above ? index + 1 : index);
  }

  #pressed(event) {
    const steps = { ArrowDown: () => this.chosen + 1, ArrowUp: () => this.chosen - 1, PageDown: () => this.#page(true), PageUp: () => this.#page(false), Home: () => 0, End: () => Infinity };
    if (event.key in steps) this.choose(this.chosen < 0 && event.key !== "End" ? 0 : steps[event.key]());
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
