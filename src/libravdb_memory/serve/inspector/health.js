// Health: the store, its indexes, how long calls take, the journal; and verification and backup with their progress.

import { call } from "./api.js";
import { latencySpark } from "./charts.js";
import { fill, h } from "./dom.js";
import { bytes, compact, count, fully, lasting, plural, seconds, when } from "./format.js";
import { calmly, empty, facts, failure, head, into } from "./pieces.js";

export const health = { title: "Health", key: "e", mount: (outlet, app) => new Health(outlet, app) };

const KINDS = { verify: "Verification", backup: "Backup" };

class Health {
  #jobs = new Map();

  constructor(outlet, app) {
    this.app = app;
    this.body = h("div", { class: "stack-of" });
    this.jobs = h("div", { "aria-live": "polite", hidden: true });
    this.verify = h("button", { type: "button", on: { click: () => this.#start("verify") } }, "Verify");
    this.backup = h("button", { type: "button", on: { click: () => this.#start("backup") } }, "Back up");
    fill(outlet, head("Health", "The store, its indexes, and how long everything takes.", this.verify, this.backup), h("div", { class: "stack-of" }, this.jobs, this.body));
    const again = calmly(() => this.load(), 800);
    this.off = [app.events.on("job", (job) => this.#moved(job)), app.events.on("health", again), app.events.on("reset", again)];
    this.load();
    if (!app.unseen) call("jobs").then((told) => told.jobs.slice(0, 6).toReversed().forEach((job) => this.#moved(job)), () => {});
  }

  update() {
    this.load();
  }

  leave() {
    clearInterval(this.polling);
    for (const off of this.off) off();
  }

  load() {
    if (this.app.unseen) {
      this.verify.hidden = this.backup.hidden = true;
      return fill(this.body, empty("Not for this token", `${this.app.unseen} Sign in as the owner to see how the store is doing:`, "libravdb ui"));
    }
    return into(this.body, call("overview"), (told) => this.#show(told));
  }

  async #start(kind) {
    this.verify.disabled = this.backup.disabled = true;
    try {
      const { job } = await call("job_start", { kind });
      this.#moved(job);
      this.#poll(job.id);
    } catch (error) {
      this.jobs.hidden = false;
      this.jobs.prepend(failure(error));
    }
    this.verify.disabled = this.backup.disabled = false;
  }

  /** Events tell how a job moves; where none come, it is asked for. */
  #poll(jobId) {
    clearInterval(this.polling);
    this.polling = setInterval(async () => {
      const { job } = await call("job", { jobId }).catch(() => ({ job: null }));
      if (job) this.#moved(job);
      if (!job || job.state !== "running") clearInterval(this.polling);
    }, 1000);
  }

  #moved(job) {
    const known = this.#jobs.get(job.id);
    if (known && known.state !== "running" && job.state === "running") return;
    this.#jobs.set(job.id, job);
    const newest = [...this.#jobs.values()].toSorted((a, b) => b.startedMs - a.startedMs).slice(0, 4);
    this.jobs.hidden = false;
    fill(this.jobs, h("section", { class: "card", "aria-label": "Jobs" }, newest.map(jobRow)));
    if (known?.state === "running" && job.state !== "running") this.app.announce(`${KINDS[job.kind] ?? job.kind}: ${job.state}`);
  }

  #show(told) {
    const { counts, sizes, indexing, model, compaction } = told;
    const state = (bad, text) => h("span", { class: `badge ${bad ? "bad" : "good"}` }, text);
    return [
      h(
        "div",
        { class: "cards" },
        h("section", { class: "card" }, h("h2", null, "Store"), facts([["on disk", bytes(sizes.diskBytes)], ["vectors", bytes(sizes.vectorBytes)], ["in memory", bytes(sizes.residentBytes)], ["turns", count(counts.turns)], ["summaries", count(counts.summaries)], ["documents", count(counts.documents)], ["records", count(counts.records)], ["edges", count(counts.edges)], ["receipts", count(counts.receipts)], ["users", count(counts.namespaces)], ["at", h("code", null, told.path)]])),
        h("section", { class: "card" }, h("h2", null, "Indexes and model"), facts([["embedding", indexing.failure ? state(true, indexing.failure) : state(false, indexing.pending ? `${compact(indexing.pending)} to go` : "up to date")], ["cannot be embedded", indexing.unembeddable ? count(indexing.unembeddable) : null], ["model", model.label], ["ready", state(!model.ready, model.ready ? "ready" : "not ready")], ["by meaning", model.searchesByMeaning ? "yes" : "no, by wording alone"], ...Object.entries(told.indexes).map(([name, words]) => [name, words])])),
        h("section", { class: "card" }, h("h2", null, "Daemon"), facts([["version", told.version], ["up", lasting(told.uptimeS)], ["process", told.pid], ["address", told.http ? h("code", null, told.http) : null], ["compaction", compaction.failure || compaction.modelFailure ? state(true, compaction.failure || compaction.modelFailure) : compaction.running ? "running" : compaction.waiting ? `${plural(compaction.waiting, "session")} waiting` : "idle"], ["failures", Object.entries(told.failures).map(([kind, amount]) => `${kind} ${count(amount)}`).join(", ") || "none"]])),
      ),
      h("section", { class: "card" }, h("h2", null, "How long calls take"), told.latency.methods.length ? latencyTable(told.latency) : h("p", { class: "quiet small" }, "No call yet.")),
      h(
        "div",
        { class: "cards" },
        h("section", { class: "card" }, h("h2", null, "Journal"), told.journal.length ? h("ol", { class: "rows", tabindex: "0", "aria-label": "Journal" }, told.journal.map((entry) => h("li", null, h("time", { title: fully(entry.ts) }, when(entry.ts)), h("span", null, `${entry.hook} · ${entry.sessionId ?? ""}`)))) : h("p", { class: "quiet small" }, "Hosts have told of no session yet.")),
        h("section", { class: "card" }, h("h2", null, "Sources"), told.sources.length ? h("ul", { class: "rows" }, told.sources.map((source) => h("li", null, typeof source === "string" ? source : Object.values(source).filter((value) => typeof value !== "object").join(" · ")))) : h("p", { class: "quiet small" }, "No folder is watched.")),
      ),
    ];
  }
}

function latencyTable({ methods, boundsS }) {
  const busiest = methods.toSorted((a, b) => b.count - a.count);
  return h(
    "div",
    { class: "latency", tabindex: "0", role: "region", "aria-label": "How long calls take" },
    h(
      "table",
      null,
      h("thead", null, h("tr", null, ["method", "calls", "failed", "mean", "half within", "95% within", "spread"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", null, busiest.map((one) => h("tr", null, h("th", { scope: "row" }, h("code", null, one.method)), h("td", null, compact(one.count)), h("td", null, one.failed ? h("span", { class: "badge bad" }, count(one.failed)) : "0"), h("td", null, seconds(one.meanS)), h("td", null, seconds(one.p50S)), h("td", null, seconds(one.p95S)), h("td", null, latencySpark(one.buckets, boundsS, one.method))))),
    ),
  );
}

function jobRow(job) {
  const running = job.state === "running";
  const bar = running ? h("progress", { "aria-label": KINDS[job.kind] ?? job.kind, max: job.total || 1, ...(job.total ? { value: job.done } : {}) }) : null;
  const words = running ? (job.total ? `${count(job.done)} of ${count(job.total)}` : "under way") : outcome(job);
  return h(
    "div",
    { class: "job" },
    h("div", { class: "actions" }, h("strong", null, KINDS[job.kind] ?? job.kind), h("span", { class: `badge ${running ? "" : job.state === "failed" || job.result?.ok === false ? "bad" : "good"}` }, running ? "running" : job.state), h("span", { class: "quiet" }, words), h("time", { class: "quiet" }, when(job.startedMs))),
    bar,
    job.result?.problems?.length ? h("ul", { class: "problems" }, job.result.problems.map((one) => h("li", null, `${one.kind}, ${one.where}: ${one.detail} `, one.remedy ? h("code", null, one.remedy) : null))) : null,
  );
}

function outcome(job) {
  if (job.state === "failed") return typeof job.error === "string" ? job.error : job.error?.message ?? "failed";
  if (job.kind === "backup") return job.result?.path ?? "done";
  const checked = Object.values(job.result?.checked ?? {}).reduce((sum, amount) => sum + amount, 0);
  return job.result?.ok ? `${count(checked)} checked, all sound, in ${seconds(((job.endedMs ?? job.startedMs) - job.startedMs) / 1000)}` : plural(job.result?.problems?.length ?? 0, "problem");
}
