/** A real daemon in a process of its own, a plugin as its host loads it, and a wire between them that can be cut. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { after } from "node:test";
import { Link } from "../../../plugins/openclaw/src/link.js";
import { Settings } from "../../../plugins/openclaw/src/settings.js";
import { engine } from "../../../plugins/openclaw/src/engine.js";

const PYTHON = process.env.TEST_PYTHON ?? "python3";

let users = 0;
/** @type {Promise<object> | undefined} */
let shared;
after(async () => {
  if (shared) await end(await shared);
});

/** Everything a test needs, with a user of its own; `t` ends it. One that kills its daemon has it for itself. */
export async function stage(t, settings = {}, { alone = false } = {}) {
  if (!alone) shared ??= begun();
  const daemon = await (alone ? begun() : shared);
  const made = alone ? daemon : { ...daemon, folder: mkdtempSync(join(tmpdir(), "lvdb-")) };
  Object.assign(made, { user: `user ${++users}`, warnings: [] });
  made.link = linkTo(made, settings);
  made.engine = engine(made.link);
  t.after(async () => {
    made.link.daemon.close();
    await (alone ? end(made) : rmSync(made.folder, { recursive: true, force: true }));
  });
  return made;
}

async function begun() {
  const folder = mkdtempSync(join(tmpdir(), "lvdb-"));
  const made = { folder, home: join(folder, "home") };
  await start(made);
  return made;
}

async function end(made) {
  await kill(made);
  rmSync(made.folder, { recursive: true, force: true });
}

/** Another process of the host, over the same spool. */
export function linkTo(made, settings = {}) {
  const logger = { info() {}, warn: (text) => made.warnings.push(text) };
  return new Link(new Settings({ home: made.home, userId: made.user, timeoutMs: 10_000, ...settings }), join(made.folder, "spool"), logger);
}

export async function start(made, ...more) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("LIBRAVDB_"));
  const environment = { ...Object.fromEntries(kept), LIBRAVDB_HOME: made.home, LIBRAVDB_EMBEDDING_BACKEND: "hashed" };
  made.daemon = spawn(PYTHON, ["-m", "libravdb_memory", "serve", ...more], { env: environment, stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(made.daemon, "exit").then(() => Promise.reject(new Error("the daemon did not start")));
  const [line] = await Promise.race([once(made.daemon.stdout, "data"), ended]);
  ended.catch(() => {});
  made.endpoint = String(line).trim();
}

export async function kill(made) {
  const { daemon } = made;
  if (!daemon || daemon.exitCode !== null || daemon.signalCode !== null) return;
  daemon.kill("SIGKILL");
  await once(daemon, "exit");
}

/** Until what waits was delivered; after an absence the plugin lets a moment pass. */
export async function delivered(link) {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await link.spool.catchUp()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("turns still wait");
}

/** A wire that writes down what goes through, and can keep answers back. */
export async function wire(t, made) {
  const seen = { calls: [], path: join(made.folder, "wire.sock"), silent: false, loseNext: false };
  const server = createServer((client) => {
    const daemon = connect(join(made.home, "run", "libravdb.sock"));
    const end = () => (client.destroy(), daemon.destroy());
    let held = "";
    client.on("data", (data) => {
      const lines = (held + data).split("\n");
      held = lines.pop();
      for (const line of lines) seen.calls.push(JSON.parse(line));
      daemon.write(data);
    });
    daemon.on("data", (data) => {
      if (seen.loseNext) return (seen.loseNext = false), end();
      if (!seen.silent) client.write(data);
    });
    for (const side of [client, daemon]) side.on("error", end).on("close", end);
  });
  server.listen(seen.path);
  await once(server, "listening");
  t.after(() => server.close());
  return seen;
}

export const user = (content, timestamp) => ({ role: "user", content, timestamp });
export const assistant = (text, timestamp) => ({ role: "assistant", content: [{ type: "text", text }], timestamp, usage: { input: 1 }, provider: "p" });
export const texts = async (made, sessionId, owner = { userId: made.user }) => {
  const told = await made.link.daemon.call("memory_history", { ...owner, sessionId }, { insist: true });
  return told.entries.flatMap((entry) => (entry.kind === "turn" ? [entry.text] : [`<${entry.kind}>`]));
};
