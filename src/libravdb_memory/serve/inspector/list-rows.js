// Where the rows of a list stand. Law: rows follow each other without gaps, whatever is known of their heights.

/** Rows of one height. */
export class EvenRows {
  constructor(list, height) {
    Object.assign(this, { list, height });
  }

  get tall() {
    return this.height(this.list.element.clientWidth || 800);
  }

  top(index) {
    return index * this.tall;
  }

  at(y) {
    return Math.floor(y / this.tall);
  }

  learn() {
    return false;
  }

  forget() {}
}

/** Rows as high as what is in them: guessed until they are seen, then measured. */
export class MeasuredRows {
  #known = new WeakMap();
  #items = null;
  #tops = [0];

  constructor(list, guess) {
    Object.assign(this, { list, guess });
  }

  top(index) {
    this.#stand();
    return this.#tops[Math.max(0, Math.min(index, this.list.items.length))];
  }

  at(y) {
    this.#stand();
    let [low, high] = [0, Math.max(0, this.list.items.length - 1)];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#tops[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Takes the heights of rows that are there; whether any was not known so. */
  learn(rows) {
    let learnt = false;
    for (const [index, row] of rows) {
      const { height } = row.getBoundingClientRect();
      if (height && Math.abs(this.top(index + 1) - this.top(index) - height) > 0.01) {
        this.#known.set(this.list.items[index], height);
        learnt = true;
      }
    }
    if (learnt) this.#items = null;
    return learnt;
  }

  /** Another width gives other heights. */
  forget() {
    this.#known = new WeakMap();
    this.#items = null;
  }

  #stand() {
    const { items, element } = this.list;
    if (this.#items === items && this.#tops.length === items.length + 1) return;
    const width = element.clientWidth || 800;
    this.#items = items;
    this.#tops = [0];
    for (const item of items) this.#tops.push(this.#tops.at(-1) + (this.#known.get(item) ?? this.guess(item, width)));
  }
}
