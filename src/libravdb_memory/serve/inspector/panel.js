// The panel beside a view: one thing in detail. Beside the view where there is room, above it where there is none.

import { fill, h } from "./dom.js";

export class Panel {
  #back = null;

  constructor(element) {
    this.element = element;
  }

  open(title, ...content) {
    if (this.element.hidden) this.#back = document.activeElement;
    const heading = h("h2", { tabindex: "-1" }, title);
    fill(
      this.element,
      h(
        "div",
        { class: "panel-head" },
        heading,
        h("button", { class: "icon", type: "button", "aria-label": "Close details", on: { click: () => this.close() } }, "✕"),
      ),
      h("div", { class: "panel-body" }, content),
    );
    this.element.hidden = false;
    document.body.classList.add("with-panel");
    heading.focus({ preventScroll: true });
    this.element.scrollTop = 0;
  }

  /** Where it covers the view, it closes. */
  stepAside() {
    if (getComputedStyle(this.element).position === "fixed") this.close();
  }

  close() {
    if (this.element.hidden) return;
    this.element.hidden = true;
    document.body.classList.remove("with-panel");
    fill(this.element);
    if (this.#back?.isConnected) this.#back.focus({ preventScroll: true });
    this.#back = null;
  }
}
