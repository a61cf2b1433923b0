// A prompt as one text, its pieces coloured by tier. Law: the text nodes together are the text, sign for sign.

import { h, lengthOf, sliceable } from "./dom.js";

export function promptText(view, open) {
  const slice = sliceable(view.text);
  const entered = new Set(view.entered.map((item) => item.id));
  const pieces = view.items.filter((item) => item.end > item.start).toSorted((a, b) => a.start - b.start);
  const nodes = [];
  let at = 0;
  for (const item of pieces) {
    if (item.start < at) continue; // pieces inside others are told in the list
    nodes.push(slice(at, item.start));
    nodes.push(
      h(
        "span",
        {
          class: `piece tier-${item.tier} ${entered.has(item.id) ? "entered" : ""}`,
          title: `${item.tier} · ${item.tokens} tokens`,
          on: { click: () => open(item) },
        },
        slice(item.start, item.end),
      ),
    );
    at = item.end;
  }
  nodes.push(slice(at, lengthOf(view.text)));
  return h("pre", { class: "prompt-text", tabindex: "0", "aria-label": "The prompt, as the model gets it" }, nodes);
}
