import assert from "node:assert/strict";
import { readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { assistant, delivered, kill, linkTo, stage, start, texts, user, wire } from "./daemon.js";
import { Refused, Unavailable } from "../../../plugins/openclaw/src/daemon.js";
import { engine } from "../../../plugins/openclaw/src/engine.js";
import { Full } from "../../../plugins/openclaw/src/spool.js";

const A = { sessionId: "s1", sessionKey: "agent:main:a" };
const turn = (key, ...said) => ({ ...A, advancementKey: key, messages: said.map((text, place) => (place % 2 ? assistant(text, 1000 + place) : user(text, 1000 + place))) });

test("a turn that is committed twice is stored once, and the host is told", async (t) => {
  const made = await stage(t);
  assert.deepEqual(await made.engine.commitTurn(turn("k1", "hello", "hi")), { status: "committed" });
  assert.deepEqual(await engine(made.link).commitTurn(turn("k1", "hello", "hi")), { status: "duplicate" });
  assert.deepEqual(await texts(made, "s1"), ["hello", "hi"]);
});

test("custom, excluded and heartbeat messages are not stored, and nothing of accounts is sent", async (t) => {
  const made = await stage(t);
  const seen = await wire(t, made);
  const link = linkTo(made, { endpoint: `unix:${seen.path}` });
  const messages = [user("kept", 1), { role: "custom", content: "banner" }, { ...user("hidden", 2), excludeFromContext: true }, { ...assistant("yes", 3), apiKey: "sk-secret" }];
  await engine(link).commitTurn({ ...A, advancementKey: "k", messages, runtimeContext: { config: { apiKey: "sk-secret" } } });
  await engine(link).commitTurn({ ...A, advancementKey: "k2", messages: [user("HEARTBEAT", 4)], isHeartbeat: true });
  assert.deepEqual(await texts(made, "s1"), ["kept", "yes"]);
  const sent = JSON.stringify(seen.calls);
  assert.ok(!sent.includes("sk-secret") && !sent.includes("provider") && !sent.includes("HEARTBEAT"));
  link.daemon.close();
});

test("a history of five hundred messages stays within the window turn after turn, and assembling again changes nothing", async (t) => {
  const made = await stage(t);
  const history = [];
  for (let place = 0; place < 250; place += 1) {
    history.push(user(`question ${place} ${"about the survey of the northern shore ".repeat(8)}`, place * 2));
    history.push(assistant(`answer ${place} ${"with every sample weighed and filed ".repeat(8)}`, place * 2 + 1));
  }
  for (let round = 0; round < 5; round += 1) {
    const built = await made.engine.assemble({ ...A, messages: history, tokenBudget: 8000, prompt: "and now?" });
    assert.ok(built.estimatedTokens <= 8000, `${built.estimatedTokens}`);
    assert.equal(built.messages[0].role, "user");
    assert.ok(built.messages.length >= 4 && built.messages.length < history.length);
    assert.equal(built.messages.at(-1), history.at(-1), "the host's own object");
    const again = await made.engine.assemble({ ...A, messages: built.messages, tokenBudget: 12_000, prompt: "and now?" });
    assert.deepEqual(again.messages, built.messages);
    history.push(user(`more ${round}`, 1000 + round * 2), assistant(`fine ${round}`, 1001 + round * 2));
  }
  const [oldest] = await made.link.daemon.call("memory_search", { userId: made.user, query: "question 3 survey", k: 50 }).then((found) => found.results.filter((hit) => hit.text.startsWith("question 3 ")));
  assert.ok(oldest, "what left the window was stored first");
});

test("tool calls and results stay together", async (t) => {
  const made = await stage(t);
  const history = [];
  for (let place = 0; place < 60; place += 1) {
    history.push(user(`look ${place}`, place * 4));
    history.push({ role: "assistant", content: [{ type: "toolCall", id: `c${place}`, name: "look", arguments: { place } }], timestamp: place * 4 + 1 });
    history.push({ role: "toolResult", toolCallId: `c${place}`, toolName: "look", content: [{ type: "text", text: "seen ".repeat(60) }], timestamp: place * 4 + 2 });
    history.push(assistant(`done ${place}`, place * 4 + 3));
  }
  for (const tokenBudget of [1200, 2000, 3000, 5000]) {
    const { messages } = await made.engine.assemble({ ...A, messages: history, tokenBudget, prompt: "?" });
    const calls = messages.flatMap((message) => (Array.isArray(message.content) ? message.content.filter((part) => part.type === "toolCall").map((part) => part.id) : []));
    const results = messages.filter((message) => message.role === "toolResult").map((message) => message.toolCallId);
    assert.deepEqual(calls, results);
    assert.ok(messages.length < history.length);
  }
});

test("the addition to the system prompt is there on the first call, and tells of the tools where they are", async (t) => {
  const made = await stage(t);
  await made.engine.commitTurn(turn("k1", "the harbour code is 7731", "noted"));
  const built = await made.engine.assemble({ sessionId: "s2", sessionKey: "agent:main:b", messages: [], tokenBudget: 8000, prompt: "what is the harbour code?", availableTools: new Set(["memory_search"]) });
  assert.match(built.systemPromptAddition, /7731/);
  assert.match(built.systemPromptAddition, /memory_search/);
  assert.deepEqual(built.messages, []);
});

test("without a daemon the host's messages are unchanged, and what is said arrives later, once and in order", async (t) => {
  const made = await stage(t, {}, { alone: true });
  await made.engine.commitTurn(turn("k1", "one"));
  await kill(made);
  const history = [user("one", 1), assistant("1", 2)];
  const built = await made.engine.assemble({ ...A, messages: history, tokenBudget: 8000, prompt: "two" });
  assert.deepEqual(built.messages, history);
  assert.equal(built.systemPromptAddition, undefined);
  for (const key of ["k2", "k3", "k2"]) assert.deepEqual(await made.engine.commitTurn(turn(key, `turn ${key}`)), { status: "committed" });
  assert.equal((await made.engine.bootstrap(A)).bootstrapped, false);
  assert.match((await made.engine.compact({ ...A, force: true })).reason, /^already under target/, "words that fail no turn");
  assert.ok(made.warnings.length === 1, "said once, not at every call");
  await start(made);
  await delivered(made.link);
  assert.deepEqual(await texts(made, "s1"), ["one", "turn k2", "turn k3"]);
});

test("what waited is delivered by the next process", async (t) => {
  const made = await stage(t, {}, { alone: true });
  await kill(made);
  await made.engine.commitTurn(turn("k1", "said before the host ended"));
  await start(made);
  const next = linkTo(made);
  await delivered(next);
  assert.deepEqual(await texts({ ...made, link: next }, "s1"), ["said before the host ended"]);
  next.daemon.close();
});

test("a daemon that is silent holds no call longer than its time, and the next ones not at all", async (t) => {
  const made = await stage(t);
  const seen = await wire(t, made);
  const link = linkTo(made, { endpoint: `unix:${seen.path}`, timeoutMs: 1000 });
  seen.silent = true;
  const began = Date.now();
  const history = [user("one", 1)];
  assert.deepEqual((await engine(link).assemble({ ...A, messages: history, tokenBudget: 8000 })).messages, history);
  assert.ok(Date.now() - began < 5000);
  const then = Date.now();
  for (let calls = 0; calls < 50 && Date.now() < link.daemon.notBefore; calls += 1) await engine(link).assemble({ ...A, messages: history, tokenBudget: 8000 });
  assert.ok(Date.now() - then < 900, "none of them waited its time");
  link.daemon.close();
});

test("an answer that was lost is asked for again, and the turn is stored once", async (t) => {
  const made = await stage(t);
  const seen = await wire(t, made);
  const link = linkTo(made, { endpoint: `unix:${seen.path}` });
  seen.loseNext = true;
  await engine(link).commitTurn(turn("k1", "once"));
  assert.equal(seen.calls.filter((call) => call.method === "after_turn").length, 2);
  assert.deepEqual(await texts(made, "s1"), ["once"]);
  link.daemon.close();
});

test("what the daemon refuses for good is laid aside and blocks nothing", async (t) => {
  const made = await stage(t, {}, { alone: true });
  await kill(made);
  await made.link.spool.say("after_turn", { userId: made.user, sessionId: "s1", advancementKey: "bad", messages: "no list" });
  await made.engine.commitTurn(turn("k1", "good"));
  await start(made);
  await delivered(made.link);
  assert.deepEqual(await texts(made, "s1"), ["good"]);
  assert.ok(made.warnings.some((text) => text.includes("laid aside")));
});

test("a call that no version of the daemon knows is laid aside, and the turns behind it arrive", async (t) => {
  const made = await stage(t);
  await made.link.spool.keep({ method: "unknown_future_method", params: {} });
  for (const said of ["one", "two"]) await made.engine.commitTurn(turn(said, said));
  assert.deepEqual(await texts(made, "s1"), ["one", "two"]);
  assert.equal((await made.link.spool.state()).waiting, 0);
  assert.ok(made.warnings.some((text) => text.includes("laid aside")));
});

test("what the daemon refuses for its own condition waits, all else does not", () => {
  for (const code of [-32030, -32031, -32010, -32011, -32020, -32005]) assert.equal(new Refused("", code).forGood, false, `${code}`);
  for (const code of [-32601, -32600, -32602, -32603, -32003, -32700, 0]) assert.equal(new Refused("", code).forGood, true, `${code}`);
});

test("what waits keeps its order when the clock steps back, also over processes", async (t) => {
  const made = await stage(t);
  const real = made.link.spool.daemon;
  made.link.spool.daemon = { call: async () => Promise.reject(new Unavailable("away")) };
  const clock = t.mock.method(Date, "now");
  for (const [at, said] of [[9_000_000, "one"], [9_000_000, "two"], [5_000_000, "three"]]) {
    clock.mock.mockImplementation(() => at);
    await made.engine.commitTurn(turn(said, said));
  }
  const next = linkTo(made);
  clock.mock.mockImplementation(() => 1_000_000);
  await next.spool.keep({ method: "after_turn", params: { userId: made.user, sessionId: "s1", advancementKey: "four", messages: [user("four", 1)] } });
  clock.mock.restore();
  made.link.spool.daemon = real;
  await delivered(made.link);
  assert.deepEqual(await texts(made, "s1"), ["one", "two", "three", "four"]);
  next.daemon.close();
});

test("a large turn is sent in parts, and counts once like any other", async (t) => {
  const made = await stage(t);
  const seen = await wire(t, made);
  const link = linkTo(made, { endpoint: `unix:${seen.path}`, timeoutMs: 30_000 });
  const large = "seen ".repeat(80_000);
  const whole = { ...A, advancementKey: "K", messages: [user("hi", 1), ...[2, 3, 4].map((at) => assistant(`${at} ${large}`, at)), user("bye", 5)] };
  assert.deepEqual(await engine(link).commitTurn(whole), { status: "committed" });
  assert.deepEqual((await texts(made, "s1")).map((text) => text.slice(0, 3)), ["hi", "2 s", "3 s", "4 s", "bye"]);
  assert.deepEqual(seen.calls.filter((call) => call.method === "after_turn").map((call) => call.params.messages.length), [3, 2]);
  assert.deepEqual(await engine(link).commitTurn(whole), { status: "duplicate" });
  link.daemon.close();
});

test("a message larger than a frame is laid aside with a warning, and the rest of its turn is stored", async (t) => {
  const made = await stage(t);
  const messages = [user("hi", 1), assistant("y".repeat(15_100_000), 2), user("bye", 3)];
  assert.deepEqual(await made.engine.commitTurn({ ...A, advancementKey: "K", messages }), { status: "committed" });
  assert.deepEqual(await texts(made, "s1"), ["hi", "bye"]);
  assert.ok(made.warnings.some((text) => text.includes("too large")));
  const [aside, ...more] = readdirSync(join(made.folder, "spool", "refused"));
  assert.ok(aside && more.length === 0);
  assert.equal(JSON.parse(readFileSync(join(made.folder, "spool", "refused", aside), "utf8")).params.messages.length, 1);
});

test("a full spool gives turns back to the host, says so, keeps what it has, and takes turns again when it was delivered", async (t) => {
  const made = await stage(t, {}, { alone: true });
  await kill(made);
  made.link.spool.limit = 3 * 4096;
  for (const key of ["k1", "k2", "k3"]) assert.deepEqual(await made.engine.commitTurn(turn(key, key)), { status: "committed" });
  const before = readdirSync(join(made.folder, "spool"));
  await assert.rejects(made.engine.commitTurn(turn("k4", "k4")), Full);
  await made.engine.afterTurn({ ...A, messages: [user("an older host goes on", 9)], prePromptMessageCount: 0 });
  assert.deepEqual(readdirSync(join(made.folder, "spool")), before, "nothing makes way, nothing is left half written");
  assert.equal(made.warnings.filter((text) => text.includes("nothing more can wait")).length, 2, "said for each, not once a minute");
  assert.deepEqual(await made.link.spool.state(), { waiting: 3, refused: 0, bytes: 3 * 4096, limit: 3 * 4096, full: true });
  await start(made);
  await delivered(made.link);
  assert.deepEqual(await engine(made.link).commitTurn(turn("k4", "k4")), { status: "committed" }, "as the host delivers it again");
  assert.deepEqual(await texts(made, "s1"), ["k1", "k2", "k3", "k4"]);
  await kill(made);
  assert.deepEqual(await made.engine.commitTurn(turn("k5", "k5")), { status: "committed" }, "there is room again");
});

test("what another process spooled counts too", async (t) => {
  const made = await stage(t, {}, { alone: true });
  await kill(made);
  const other = linkTo(made);
  made.link.spool.limit = 2 * 4096;
  await made.engine.commitTurn(turn("k1", "one"));
  await other.spool.keep({ method: "after_turn", params: {} });
  await assert.rejects(made.engine.commitTurn(turn("k2", "two")), Full);
  other.daemon.close();
});

test("a turn that no disk takes stays with the host, and leaves nothing behind", async (t) => {
  const made = await stage(t, {}, { alone: true });
  await kill(made);
  writeFileSync(join(made.folder, "spool"), "no folder");
  await assert.rejects(made.engine.commitTurn(turn("k1", "one")));
  rmSync(join(made.folder, "spool"));
  await start(made);
  while (Date.now() < made.link.daemon.notBefore) await made.engine.assemble({ ...A, messages: [], tokenBudget: 8000 });
  assert.deepEqual(await made.engine.commitTurn(turn("k1", "one")), { status: "committed" });
  assert.deepEqual(await texts(made, "s1"), ["one"]);
});

test("where it cannot be read what waits, nothing goes before it", async (t) => {
  const made = await stage(t);
  symlinkSync(join(made.folder, "spool"), join(made.folder, "spool"));
  await assert.rejects(made.engine.commitTurn(turn("k1", "one")), /ELOOP/);
  const history = [user("hello", 1)];
  assert.deepEqual((await made.engine.assemble({ ...A, messages: history, tokenBudget: 8000 })).messages, history);
  rmSync(join(made.folder, "spool"));
  assert.deepEqual(await made.engine.commitTurn(turn("k1", "one")), { status: "committed" });
  assert.deepEqual(await texts(made, "s1"), ["one"]);
});

test("a compaction that the host calls off ends at once", async (t) => {
  const made = await stage(t);
  assert.match((await made.engine.compact({ ...A, abortSignal: AbortSignal.abort() })).reason, /aborted/);
});

test("what the daemon refuses for good blocks nothing, also when there is no room to lay it aside", async (t) => {
  const made = await stage(t);
  made.link.spool.limit = 0;
  await made.engine.commitTurn(turn("k1", "said"));
  assert.deepEqual(await made.engine.commitTurn(turn("k1", "said otherwise")), { status: "committed" });
  assert.ok(made.warnings.some((text) => text.includes("in the host's transcript alone")));
});

test("a turn that the daemon refuses is laid aside, and the host need not deliver it again", async (t) => {
  const made = await stage(t);
  await made.engine.commitTurn(turn("k1", "said"));
  assert.deepEqual(await made.engine.commitTurn(turn("k1", "said otherwise")), { status: "committed" });
  assert.deepEqual(await texts(made, "s1"), ["said"]);
  assert.equal(readdirSync(join(made.folder, "spool", "refused")).length, 1);
});

test("messages without a time are told apart by what they say", async (t) => {
  const made = await stage(t);
  for (const said of ["first thing", "second thing", "first thing"]) await made.engine.ingest({ ...A, message: { role: "user", content: said } });
  assert.deepEqual(await texts(made, "s1"), ["first thing", "second thing"]);
});

test("after a reset the same session id is a new session of memory, told by a hook or by an empty history", async (t) => {
  const made = await stage(t);
  await made.engine.commitTurn(turn("k1", "old"));
  await made.link.reset(A);
  await made.engine.commitTurn(turn("k2", "new"));
  assert.deepEqual(await texts(made, "s1"), ["new"]);
  const built = await made.engine.assemble({ ...A, messages: [], tokenBudget: 4000, prompt: "hello" });
  assert.ok(!(built.systemPromptAddition ?? "").includes("<recent_session_tail"));
  await made.engine.commitTurn(turn("k3", "newest"));
  assert.deepEqual(await texts(made, "s1"), ["newest"]);
});

test("a reset while the daemon is away counts when it is back", async (t) => {
  const made = await stage(t, {}, { alone: true });
  await made.engine.commitTurn(turn("k1", "old"));
  await kill(made);
  await made.engine.commitTurn(turn("k2", "last before the reset"));
  await made.link.reset(A);
  await made.engine.commitTurn(turn("k3", "first after it"));
  await start(made);
  await delivered(made.link);
  assert.deepEqual(await texts(made, "s1"), ["first after it"]);
  assert.deepEqual(await texts(made, "s1~0"), ["old", "last before the reset"]);
});

test("older hosts deliver a turn piece by piece, and a piece that comes twice counts once", async (t) => {
  const made = await stage(t);
  const messages = [user("first", 1), assistant("one", 2), user("second", 3)];
  await made.engine.afterTurn({ ...A, messages: messages.slice(0, 1), prePromptMessageCount: 0 });
  await made.engine.afterTurn({ ...A, messages: messages.slice(0, 2), prePromptMessageCount: 1 });
  await made.engine.afterTurn({ ...A, messages: messages.slice(0, 2), prePromptMessageCount: 1 });
  await made.engine.afterTurn({ ...A, messages, prePromptMessageCount: 2 });
  assert.deepEqual(await texts(made, "s1"), ["first", "one", "second"]);
});

test("a subagent shares its parent's memory until it is swept, and a failed spawn leaves nothing", async (t) => {
  const made = await stage(t, { userId: "", scope: "session" });
  const parent = "agent:main:a";
  const child = "agent:other:subagent:1";
  await made.engine.prepareSubagentSpawn({ parentSessionKey: parent, childSessionKey: child });
  await made.engine.commitTurn({ sessionId: "c1", sessionKey: child, advancementKey: "k", messages: [user("found it", 1)] });
  assert.deepEqual(await texts(made, "c1", { sessionKey: parent }), ["found it"]);
  const other = linkTo(made, { userId: "", scope: "session" });
  assert.equal((await other.where({ sessionKey: child })).userId, `session-key:${parent}`, "known in other processes too");
  other.daemon.close();
  await made.engine.onSubagentEnded({ childSessionKey: child, reason: "swept" });
  assert.equal((await made.link.where({ sessionKey: child })).sessionKey, child);
  const failed = await made.engine.prepareSubagentSpawn({ parentSessionKey: parent, childSessionKey: "agent:main:subagent:2" });
  await failed.rollback();
  const begun = await made.link.daemon.call("bootstrap_session", { linkedKey: "agent:main:subagent:2", sessionKey: "x" });
  assert.equal(begun.linked, undefined);
});

test("a window that the model found too large is smaller in the same turn, and whole again after it", async (t) => {
  const made = await stage(t);
  const history = Array.from({ length: 40 }, (_, place) => (place % 2 ? assistant("words ".repeat(80), place) : user(`${place} ${"words ".repeat(80)}`, place)));
  const ask = async () => (await made.engine.assemble({ ...A, messages: history, tokenBudget: 3000, prompt: "?" })).messages.length;
  const whole = await ask();
  await made.engine.compact({ ...A, force: true });
  assert.ok((await ask()) < whole);
  await made.engine.commitTurn(turn("k", "fine"));
  assert.equal(await ask(), whole);
  assert.match((await made.engine.compact({ sessionId: "nobody", sessionKey: "x" })).reason, /^already under target/);
});
