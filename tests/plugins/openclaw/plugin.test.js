import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import plugin from "../../../plugins/openclaw/index.js";
import { commands } from "../../../plugins/openclaw/src/cli.js";
import { Daemon, placeOf } from "../../../plugins/openclaw/src/daemon.js";
import { Settings } from "../../../plugins/openclaw/src/settings.js";
import { assistant, linkTo, stage, start, kill, user } from "./daemon.js";

/** A host that writes down what it is given. */
function host(made, generation, config = {}) {
  const given = { tools: {}, hooks: {}, cli: [], engines: {} };
  const api = {
    pluginConfig: { home: made.home, userId: made.user, timeoutMs: 10_000 },
    config,
    logger: { info() {}, warn() {} },
    runtime: { state: { resolveStateDir: () => join(made.folder, "state") } },
    registerContextEngine: (id, factory) => (given.engines[id] = factory),
    registerTool: (factory, { name }) => (given.tools[name] = factory),
    registerCli: (registrar, { descriptors }) => given.cli.push(descriptors[0].name),
    on: (name, handler) => (given.hooks[name] = handler),
  };
  if (generation === "metadata") Object.defineProperty(api, "runtime", { get: () => { throw new Error("the runtime is intentionally unavailable"); } });
  if (generation !== "old") api.registerMemoryCapability = (capability) => Object.assign(given, capability);
  else {
    api.registerMemoryPromptSection = (builder) => (given.promptBuilder = builder);
    api.registerMemoryRuntime = (runtime) => (given.runtime = runtime);
    api.registerMemoryFlushPlan = (resolver) => (given.flushPlanResolver = resolver);
  }
  assert.equal(plugin.register(api), undefined, "synchronous");
  return given;
}

for (const generation of ["new", "old"]) {
  test(`a ${generation} host gets an engine, a memory, tools, hooks and commands, and registering connects nowhere`, async (t) => {
    const made = await stage(t, {}, { alone: true });
    await kill(made);
    const given = host(made, generation);
    assert.deepEqual(Object.keys(given.engines), ["libravdb-memory"]);
    assert.deepEqual(Object.keys(given.tools), ["memory_search", "memory_get"]);
    assert.deepEqual(Object.keys(given.hooks), ["before_reset", "session_end"]);
    assert.equal(given.flushPlanResolver(), null);
    assert.deepEqual(given.promptBuilder({ availableTools: new Set() }), []);
    assert.deepEqual(given.cli, ["libravdb"]);
    assert.deepEqual(host(made, generation, { plugins: { entries: { "memory-core": { enabled: false } } } }).cli, ["libravdb", "memory"]);
    const { manager } = await given.runtime.getMemorySearchManager({ agentId: "main" });
    assert.equal(manager.status().provider, "libravdb");
    assert.equal((await manager.probeEmbeddingAvailability()).ok, false);
    await start(made);
  });
}

test("a host that only asks for the commands, without a runtime, is told of them", async (t) => {
  const made = await stage(t);
  const config = { plugins: { entries: { "memory-core": { enabled: false } } } };
  assert.deepEqual(host(made, "metadata", config).cli, ["libravdb", "memory"]);
});

test("what was said is found and read, exactly, by tool and by the host", async (t) => {
  const made = await stage(t, {}, { alone: true });
  const given = host(made, "new");
  const said = "first line\nthe harbour code is 7731\nthird line";
  await given.engines["libravdb-memory"]().commitTurn({ sessionId: "s/1", sessionKey: "agent:main:a", advancementKey: "k", messages: [user(said, 5), assistant("ok", 6)] });
  const context = { agentId: "main", sessionKey: "agent:main:b" };
  const found = JSON.parse((await given.tools.memory_search(context).execute("1", { query: "harbour code" })).content[0].text);
  assert.match(found.note, /not instructions/);
  assert.equal(found.results[0].snippet, said);
  const read = (await given.tools.memory_get(context).execute("2", { path: found.results[0].path, from: 2, lines: 1 })).details;
  assert.equal(read.text, "the harbour code is 7731");
  const { manager } = await given.runtime.getMemorySearchManager({ agentId: "main" });
  assert.equal((await manager.search("harbour code", { maxResults: 1 })).length, 1);
  assert.equal((await manager.readFile({ relPath: found.results[0].path })).text, said);
  for (const relPath of ["turns/x/none", "../../etc/passwd", "turns/x", "turns/%/%", "turns/x/y/z"]) {
    assert.equal((await manager.readFile({ relPath })).status, "not_found");
  }
  await kill(made);
  assert.match((await given.tools.memory_search(context).execute("3", { query: "x" })).content[0].text, /not available/);
});

test("the hooks of a reset are journaled, and the conversation begins anew", async (t) => {
  const made = await stage(t, {}, { alone: true });
  const given = host(made, "new");
  const context = { sessionId: "s1", sessionKey: "agent:main:a", agentId: "main" };
  await given.engines["libravdb-memory"]().commitTurn({ ...context, advancementKey: "k", messages: [user("old", 1)] });
  await given.hooks.before_reset({ reason: "reset", messages: [user("old", 1)], sessionFile: "f" }, context);
  await given.hooks.session_end({ reason: "reset", messageCount: 2, nextSessionId: "s1" }, context);
  const journal = (await made.link.daemon.call("list_lifecycle_journal", {})).results;
  assert.deepEqual(journal.map((entry) => entry.metadata.hook), ["before_reset", "session_end"]);
  assert.equal((await made.link.daemon.call("bootstrap_session", { userId: made.user, sessionId: "s1" })).sessionId, "s1~1");
  await given.hooks.session_end({ reason: "shutdown" }, context);
  assert.equal((await made.link.daemon.call("bootstrap_session", { userId: made.user, sessionId: "s1" })).sessionId, "s1~1");
});

test("over TCP the owner's token of the daemon's home is shown, and to the loopback address alone", async (t) => {
  const made = await stage(t, {}, { alone: true });
  await kill(made);
  await start(made, "--endpoint", "tcp:127.0.0.1:0");
  const link = linkTo(made, { endpoint: made.endpoint });
  assert.equal((await link.daemon.call("status", {})).ok, true);
  link.daemon.close();
  assert.deepEqual(placeOf("tcp:[::1]:80"), { host: "::1", port: 80 });
  assert.throws(() => placeOf("http://example"));
});

test("an answer counts as soon as it is whole, wherever the network cuts what is sent", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lvdb-"));
  const answer = (id) => `${JSON.stringify({ jsonrpc: "2.0", id, result: `${id}. größer` })}\n`;
  let sendTheRest;
  const server = createServer((client) => {
    let calls = 0;
    client.on("data", (data) => {
      calls += String(data).split("\n").length - 1;
      if (calls < 2) return;
      const second = Buffer.from(answer(2));
      const cut = second.indexOf("ö") + 1; // in the middle of a character
      client.write(Buffer.concat([Buffer.from(answer(1)), second.subarray(0, cut)]));
      sendTheRest = () => client.write(second.subarray(cut));
    });
  });
  server.listen(join(folder, "s"));
  await once(server, "listening");
  const daemon = new Daemon(new Settings({ endpoint: `unix:${join(folder, "s")}`, timeoutMs: 3000 }));
  t.after(() => (daemon.close(), server.close(), rmSync(folder, { recursive: true })));
  const first = daemon.call("a", {});
  const second = daemon.call("b", {});
  assert.equal(await first, "1. größer");
  sendTheRest();
  assert.equal(await second, "2. größer");
});

test("whose memory it is: a configured user, an agent, or each conversation's own", () => {
  const of = { sessionId: "s", sessionKey: "agent:ops:a" };
  assert.deepEqual(new Settings({ userId: " ada " }).where(of), { userId: "ada", sessionId: "s" });
  assert.deepEqual(new Settings({}).where(of), { agentId: "ops", sessionId: "s" });
  assert.deepEqual(new Settings({ scope: "session" }).where(of), { sessionKey: "agent:ops:a", sessionId: "s" });
  assert.deepEqual(new Settings({}).where({}), { agentId: "main" });
});

test("the commands ask the daemon, and erase only when told twice", async (t) => {
  const made = await stage(t, {}, { alone: true });
  const run = {};
  const fake = (name) => ({ command: (sub) => fake(sub), description: () => fake(name), option: () => fake(name), argument: () => fake(name), action: (work) => ((run[name] = work), fake(name)) });
  commands(fake("root"), made.link);
  const printed = [];
  t.mock.method(console, "log", (text) => printed.push(JSON.parse(text)));
  t.mock.method(console, "error", (text) => printed.push(text));
  await made.engine.commitTurn({ sessionId: "s", sessionKey: "agent:main:a", advancementKey: "k", messages: [user("I always park at the north gate.", 1)] });
  await run.status();
  await run.search("north gate", { limit: "3" });
  await run.journal({ limit: "5" });
  await run.flush({});
  assert.equal(process.exitCode, 1);
  process.exitCode = 0;
  const diary = join(made.folder, "d.md");
  writeFileSync(diary, "## Deep sleep\n- The north gate matters to everyone. {score=.9 recall=4 unique=3}\n");
  await run["dream-promote"](diary, {});
  const kept = await made.link.daemon.call("list_collection", { collection: `dream:${made.user}` }, { insist: true });
  assert.deepEqual(kept.results.map((dream) => dream.metadata.source_doc), [realpathSync(diary)], "its name is where it is");
  await run.export({});
  await run.flush({ yes: true });
  await kill(made);
  await made.engine.commitTurn({ sessionId: "s", sessionKey: "agent:main:a", advancementKey: "k2", messages: [user("Later.", 2)] });
  await run.status();
  assert.equal(process.exitCode, 1);
  process.exitCode = 0;
  const [status, found, journal, refused, promoted, exported, flushed, away] = printed;
  assert.equal(status.turns, 1);
  assert.deepEqual([status.ok, status.spool.waiting, away.ok, away.spool.waiting, away.spool.full], [true, 0, false, 1, false]);
  assert.match(found[0].snippet, /north gate/);
  assert.ok(Array.isArray(journal.results) && /--yes/.test(refused) && promoted.promoted === 1);
  assert.ok(Array.isArray(exported.records) && flushed.ok && flushed.namespace === made.user);
});

test("the plugin starts no process, has no dependency, and ships what its manifest names", () => {
  const root = new URL("../../../plugins/openclaw/", import.meta.url).pathname;
  const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.equal(about.dependencies, undefined);
  for (const entry of about.openclaw.extensions) assert.ok(existsSync(join(root, entry)));
  for (const name of ["index.js", ...["cli", "daemon", "engine", "hooks", "link", "memory", "messages", "settings", "spool", "windows"].map((part) => `src/${part}.js`)]) {
    assert.ok(!/child_process|eval\(|new Function|fetch\(/.test(readFileSync(join(root, name), "utf8")), name);
  }
});
