// Erasing. Law: nothing is erased before a person saw what goes and said so twice, the second time by typing.

import { call } from "./api.js";
import { fill, h } from "./dom.js";
import { count, firstLine, plural } from "./format.js";
import { failure, field } from "./pieces.js";

const WORD = "erase";

/** `what`: parameters of memory_forget; `name`: in words. Answers true when it was erased. */
export function askErase(app, what, name) {
  return new Promise((resolve) => {
    const body = h("div", { class: "stack-of", "aria-busy": "true" }, h("p", { class: "quiet" }, "Looking what would go …"));
    const actions = h("div", { class: "actions" });
    const dialog = h("dialog", { class: "dialog", "aria-labelledby": "erase-title" }, h("h2", { id: "erase-title" }, `Erase ${name}?`), body, actions);
    let erased = false;
    const cancel = () => h("button", { type: "button", on: { click: () => dialog.close() } }, "Keep it");
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(erased);
    });
    document.body.append(dialog);
    fill(actions, cancel());
    dialog.showModal();

    call("erase_preview", what).then(showFirst, (error) => fill(body, failure(error)));

    function showFirst(preview) {
      body.removeAttribute("aria-busy");
      fill(body, whatGoes(preview));
      const go = h("button", { type: "button", class: "danger", on: { click: () => showSecond(preview) } }, "Continue …");
      fill(actions, cancel(), go);
      go.focus();
    }

    function showSecond(preview) {
      const typed = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
      const final = h("button", { type: "submit", class: "danger final", disabled: true }, `Erase ${plural(preview.turns, "turn")} for good`);
      const form = h("form", { class: "stack-of" }, h("p", null, "There is no way back: not from this store, not from its indexes, not from its receipts. Backups made before still hold it."), field(`Type ${WORD} to go on`, typed), h("div", { class: "actions" }, cancel(), final));
      typed.addEventListener("input", () => (final.disabled = typed.value.trim().toLowerCase() !== WORD));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        if (!final.disabled) erase(form, final);
      });
      fill(body, form);
      fill(actions);
      typed.focus();
    }

    async function erase(form, final) {
      final.disabled = true;
      try {
        const told = await call("memory_forget", what);
        erased = true;
        dialog.close();
        app.panel.close();
        app.announce(`${plural(told.records, "record")} erased.`);
        window.dispatchEvent(new CustomEvent("erased", { detail: what }));
      } catch (error) {
        form.append(failure(error));
        final.disabled = false;
      }
    }
  });
}

function whatGoes(preview) {
  const parts = [
    [preview.turns, "turn", "turns"],
    [preview.summaries, "summary", "summaries"],
    [preview.rules, "standing rule", "standing rules"],
    [preview.receipts, "receipt", "receipts"],
    [preview.copies, "copy", "copies"],
  ].filter(([amount]) => amount);
  return [
    h("p", null, "This goes, everywhere, with what was made from it:"),
    h("ul", { class: "gone" }, parts.map(([amount, one, many]) => h("li", null, h("b", null, `${count(amount)}${one === "receipt" && preview.receiptsExact === false ? "+" : ""}`), amount === 1 ? one : many))),
    preview.sample?.length ? h("ul", { class: "samples", tabindex: "0", "aria-label": "First turns that go" }, preview.sample.map((turn) => h("li", null, firstLine(turn.text, 160)))) : null,
    preview.alsoNamed?.length ? h("div", null, h("h3", null, "Made from it, and going too"), h("ul", { class: "samples", tabindex: "0", "aria-label": "Made from it" }, preview.alsoNamed.map((made) => h("li", null, `${made.kind}: ${firstLine(made.preview, 140)}`)))) : null,
    preview.uncovered ? h("p", { class: "hint" }, `${plural(preview.uncovered, "other turn")} ${preview.uncovered === 1 ? "loses its" : "lose their"} summary and ${preview.uncovered === 1 ? "stays" : "stay"}.`) : null,
  ];
}
