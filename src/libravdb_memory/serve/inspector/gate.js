// Gate: how turns were judged, whether that was right, and how a text would be judged.

import { call, latest } from "./api.js";
import { calibrationCurve, gateHistogram, signalsTable, verdict } from "./charts.js";
import { fill, h } from "./dom.js";
import { count, percent, plural, score } from "./format.js";
import { calmly, empty, facts, failure, field, head, into, userField } from "./pieces.js";
import { note } from "./router.js";
import { marked } from "./rules.js";

export const gate = { title: "Gate", key: "g", mount: (outlet, app, params) => new Gate(outlet, app, params) };

/** A threshold is proposed only where some score reaches the target. */
function reached(calibration) {
  const best = Math.max(0, ...(calibration?.steps ?? []).map((step) => step.useful));
  return calibration && best < calibration.target ? { ...calibration, proposed: null } : calibration;
}

class Gate {
  #ask = latest();

  constructor(outlet, app, params) {
    this.app = app;
    this.user = userField(app, params.user ?? app.user);
    this.text = h("textarea", { rows: 4, "data-main": "", placeholder: "Paste a text and see how it would be judged" });
    this.heard = h("div", { class: "stack-of", "aria-live": "polite" });
    this.report = h("div", { class: "stack-of" });
    const judge = calmly(() => this.#judge(), 220);
    this.text.addEventListener("input", judge);
    this.user.addEventListener("change", () => {
      this.#judge();
      if (app.unseen) this.#load();
    });
    const tryIt = h("section", { class: "card stack-of" }, h("h2", null, "Try a text"), field("Text", this.text, "wide"), field("Judged for the user", this.user), this.heard);
    fill(outlet, head("Gate", "Which turns are worth keeping in mind, and whether that proved right."), h("div", { class: "columns" }, this.report, tryIt));
    const again = calmly(() => this.#load(), 1500);
    this.off = [app.events.on("gate", again), app.events.on("reset", again)];
    this.update(params);
  }

  update(params) {
    if (params.text) {
      this.text.value = params.text;
      this.#judge();
    }
    this.#load();
  }

  leave() {
    this.left = true;
    for (const off of this.off) off();
  }

  #load() {
    if (this.left) return null;
    const user = this.app.unseen ? this.user.value : undefined;
    return into(this.report, call("gate_report", { userId: user, bins: 20 }), (told) => this.#show(told));
  }

  #show(told) {
    if (!told.judged) return [empty("Nothing judged yet", "The gate judges what users say, once, shortly after it came in.", 'libravdb add "Always deploy from the release branch." --user ada --session monday')];
    const { regret } = told;
    const calibration = reached(told.calibration);
    const wide = Math.max(260, Math.min(720, this.report.clientWidth - 34));
    const swatch = (name, text) => h("li", null, h("span", { class: "swatch", vars: { tone: `var(--${name})` }, "aria-hidden": "true" }), text);
    return [
      h("section", { class: "card stack-of" }, h("h2", null, "Scores"), gateHistogram(told.bins, told.threshold, wide), h("ul", { class: "legend" }, swatch("good", "durable"), swatch("edge", "passing"), swatch("fit", "wanted later")), h("p", { class: "small quiet" }, `${count(told.durable)} of ${plural(told.judged, "judged turn")}${this.app.unseen ? ` of ${this.user.value}` : ""} are durable (${percent(told.durable / told.judged)}).${told.window < told.judged ? ` The pictures and figures here are of the newest ${count(told.window)}.` : ""}`)),
      h("section", { class: "card stack-of" }, h("h2", null, "Was it right?"), facts([["refused", count(regret.refused)], ["regretted", `${count(regret.regretted)} (${percent(regret.rate, 1)}): refused, and wanted later`], ["kept", count(regret.kept)], ["used since", `${count(regret.used)} (${percent(regret.kept ? regret.used / regret.kept : 0)})`]])),
      calibration?.steps?.length ? h("section", { class: "card stack-of" }, h("h2", null, "Calibration"), calibrationCurve(calibration, told.threshold, wide), h("p", { class: "small quiet" }, `Share of turns that proved useful, by score. ${calibration.proposed === null ? "No threshold reaches the target yet." : `A threshold of ${score(calibration.proposed)} would reach ${percent(calibration.target)}.`}`)) : null,
    ].filter(Boolean);
  }

  async #judge() {
    if (this.left) return;
    const text = this.text.value;
    note("gate", { text: text.slice(0, 500), user: this.user.value });
    if (!text.trim() || !this.user.value) return fill(this.heard);
    try {
      const told = await this.#ask("gate_explain", { userId: this.user.value, text });
      const spans = told.fired.flatMap((fired) => fired.spans.map(([start, end]) => ({ start, end, title: `${fired.family}: ${fired.pattern}, weight ${fired.weight}` })));
      const families = new Map();
      for (const fired of told.fired) families.set(fired.family, [...(families.get(fired.family) ?? []), fired.pattern]);
      fill(
        this.heard,
        verdict(told, told.threshold),
        told.fired.length ? h("div", { class: "said", tabindex: "0", "aria-label": "The text, what was heard in it marked" }, marked(told.heard || text, spans, () => "heard")) : null,
        signalsTable(told.signals),
        told.fired.length ? facts([...families].map(([family, patterns]) => [family, [...new Set(patterns)].join(", ")])) : h("p", { class: "small quiet" }, "No pattern fired."),
      );
    } catch (error) {
      if (error.name !== "AbortError") fill(this.heard, failure(error));
    }
  }
}
