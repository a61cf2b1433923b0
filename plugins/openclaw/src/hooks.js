/** What the host tells of the life of its sessions: journaled, and a reset begins a new session of memory. */

/** @import { Api, Conversation } from "./host.js" */
/** @import { Link } from "./link.js" */

const BEGINS_ANEW = new Set(["new", "reset", "idle", "daily", "deleted"]);
const TOLD = ["reason", "messageCount", "durationMs", "transcriptArchived", "nextSessionId", "nextSessionKey"];

/** @param {Api} api @param {Link} link */
export function registerHooks(api, link) {
  api.on("before_reset", async (event, context) => {
    await link.journal("before_reset", { ...who(context), ...told(event) });
    await link.reset(context);
  });
  api.on("session_end", async (event, context) => {
    await link.journal("session_end", { ...who(context), ...told(event) });
    if (BEGINS_ANEW.has(String(event.reason))) await link.reset(context);
  });
}

/** @param {Conversation} context */
function who({ sessionId = "", sessionKey = "", agentId = "" }) {
  return { sessionId, sessionKey, agentId };
}

/** @param {Record<string, unknown>} event */
function told(event) {
  return Object.fromEntries(TOLD.filter((name) => event[name] !== undefined).map((name) => [name, event[name]]));
}
