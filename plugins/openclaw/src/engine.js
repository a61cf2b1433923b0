/**
 * The context engine: what the host calls while people talk.
 *
 * Laws: no method fails because the daemon is away, slow or ill; the host then goes on with its own messages. An
 * instance lives for one turn and holds nothing. What a prompt consists of is the daemon's decision alone. A turn that is
 * refused for good is laid aside and counts as committed: the host would deliver it again and again. Only a turn that
 * neither daemon nor disk takes is given back to the host, by throwing: it keeps the turn and delivers it again.
 */
import { createHash } from "node:crypto";
import { Refused } from "./daemon.js";
import { inParts, said, shownOf } from "./messages.js";
import { promptLines } from "./memory.js";

/** @import { AssembleParams, Assembled, CompactParams, Conversation, Message, SpawnParams, TurnParams } from "./host.js" */
/** @import { Link } from "./link.js" */

export const ID = "libravdb-memory";
const COMPACT_MS = 60_000;
const CHARACTERS_PER_TOKEN = 4;
const SMALLER = 0.7;
const UNDER_TARGET = "already under target"; // words by which hosts know that a turn may go on
const GONE = new Set(["deleted", "swept"]);

/** @param {Link} link */
export function engine(link) {
  return {
    info: {
      id: ID,
      name: "LibraVDB Memory",
      ownsCompaction: true,
      acceptedHostParams: ["sessionKey", "prompt", "sessionTarget"],
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },

    /** @param {Conversation} params */
    async bootstrap(params) {
      try {
        await link.daemon.call("bootstrap_session", await link.where(params));
        return { bootstrapped: true };
      } catch (error) {
        return { bootstrapped: false, reason: link.away("bootstrap", error) };
      }
    },

    /** @param {AssembleParams} params @returns {Promise<Assembled>} */
    async assemble(params) {
      link.windows.begin(params.sessionId);
      try {
        return await assembled(link, params);
      } catch (error) {
        link.away("assemble", error);
        const messages = link.windows.again(params.sessionId, params.messages);
        return { messages, estimatedTokens: roughly(messages) };
      }
    },

    /** @param {TurnParams} params @returns {Promise<{ status: "committed" | "duplicate" }>} */
    async commitTurn(params) {
      link.windows.end(params.sessionId);
      const stored = params.isHeartbeat ? undefined : await delivered(link, params, params.advancementKey ?? "", params.messages);
      return { status: stored?.fresh === 0 ? "duplicate" : "committed" };
    },

    /** Hosts before 2026.8.1: once for each call of the model, each with what is new. @param {TurnParams} params */
    async afterTurn(params) {
      const fresh = params.messages.slice(params.prePromptMessageCount ?? 0);
      if (params.isHeartbeat || fresh.length === 0) return;
      await delivered(link, params, keyOf(fresh, params.prePromptMessageCount ?? 0), fresh).catch((error) => link.away("afterTurn", error));
      link.windows.end(params.sessionId);
    },

    /** Required of every engine, called where there is no afterTurn. @param {Conversation & { message: Message, isHeartbeat?: boolean }} params */
    async ingest(params) {
      await this.afterTurn({ ...params, messages: [params.message] });
      return { ingested: !params.isHeartbeat };
    },

    async maintain() {
      return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
    },

    /**
     * The transcript stays as it is: old turns are covered by summaries in memory, and every prompt is assembled within
     * its budget. In the middle of a turn this means that the model found a prompt too large: the next is smaller.
     * @param {CompactParams} params
     */
    async compact(params) {
      const smaller = link.windows.narrow(params.sessionId, SMALLER);
      try {
        const done = await unlessAborted(
          link.daemon.call("memory_compact", await link.where(params), { timeoutMs: COMPACT_MS }),
          params.abortSignal,
        );
        const tokensBefore = params.currentTokenCount ?? done.sourceTokens;
        const result = { tokensBefore, tokensAfter: Math.max(tokensBefore - done.sourceTokens + done.tokens, 0) };
        const compacted = smaller || done.turns > 0;
        return { ok: true, compacted, ...(compacted ? {} : { reason: `${UNDER_TARGET}: ${done.reason}` }), result };
      } catch (error) {
        const reason = `${UNDER_TARGET}; memory is away: ${link.away("compact", error)}`;
        return { ok: smaller, compacted: smaller, reason };
      }
    },

    /** A child shares its parent's memory. @param {SpawnParams} params */
    async prepareSubagentSpawn({ parentSessionKey, childSessionKey }) {
      await link.adopt(parentSessionKey, childSessionKey).catch((error) => link.away("prepareSubagentSpawn", error));
      return { rollback: () => link.disown(childSessionKey).catch((error) => void link.away("rollback", error)) };
    },

    /** @param {{ childSessionKey: string, reason: string }} params */
    async onSubagentEnded({ childSessionKey, reason }) {
      await link.journal("subagent_ended", { reason, sessionKey: childSessionKey });
      if (GONE.has(reason)) await link.disown(childSessionKey).catch((error) => void link.away("onSubagentEnded", error));
    },

    async dispose() {},
  };
}

/** @param {Link} link @param {AssembleParams} params @returns {Promise<Assembled>} */
async function assembled(link, params) {
  await link.spool.catchUp();
  const { shown, places } = shownOf(params.messages);
  const budget = link.windows.budget(params.sessionId, params.tokenBudget);
  const built = await link.daemon.call("assemble_context", {
    ...(await link.where(params)),
    prompt: params.prompt ?? "",
    messages: shown,
    fresh: params.messages.length === 0,
    ...(budget === undefined ? {} : { budget, mode: "own" }),
  });
  const kept = new Set(built.kept.map((/** @type {number} */ index) => places[index]));
  const messages = params.messages.filter((message, place) => kept.has(place) || message.excludeFromContext === true);
  link.windows.remember(params.sessionId, messages);
  const addition = [built.text, ...(await promptLines(params))].filter(Boolean).join("\n\n");
  return { messages, estimatedTokens: built.tokens, ...(addition ? { systemPromptAddition: addition } : {}) };
}

/**
 * How many messages are new to the daemon; undefined where it has not said so of all.
 * @param {Link} link @param {Conversation} params @param {string} key @param {Message[]} messages
 * @returns {Promise<{ fresh: number } | undefined>}
 */
async function delivered(link, params, key, messages) {
  const owner = await link.where(params);
  const answers = [];
  for (const [number, part] of inParts(said(messages)).entries()) {
    const advancementKey = key && number > 0 ? `${key}/${number}` : key;
    answers.push(await deliveredPart(link, { ...owner, advancementKey, messages: part }));
  }
  if (answers.length === 0 || answers.includes(undefined)) return undefined;
  return { fresh: answers.reduce((sum, answer) => sum + answer.fresh, 0) };
}

/** @param {Link} link @param {object} params */
async function deliveredPart(link, params) {
  try {
    return await link.spool.say("after_turn", params);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await link.spool.keepAside({ method: "after_turn", params }, error.message);
    return undefined;
  }
}

/** The same messages have the same key, however often they come. @param {Message[]} messages @param {number} place */
function keyOf(messages, place) {
  const content = createHash("sha256").update(JSON.stringify(said(messages))).digest("hex").slice(0, 16);
  return `${messages[0]?.timestamp ?? "turn"}-${place}-${content}`;
}

/** @param {Message[]} messages */
function roughly(messages) {
  return Math.ceil(JSON.stringify(shownOf(messages).shown).length / CHARACTERS_PER_TOKEN);
}

/** @template T @param {Promise<T>} work @param {AbortSignal} [signal] @returns {Promise<T>} */
function unlessAborted(work, signal) {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error("aborted"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
