/**
 * Where the daemon is, and whose memory a conversation belongs to.
 *
 * Law: of the environment only the daemon's own two variables are read, of the host's configuration only this plugin's.
 */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** @import { Conversation } from "./host.js" */
/** @typedef {{ userId?: string, agentId?: string, sessionKey?: string, sessionId?: string }} Where */

const SOCKET = "libravdb.sock";
const WINDOWS_DEFAULT = "tcp:127.0.0.1:37421";
const SHARED_FOLDERS = ["/opt/homebrew/var/clawdb/run", "/usr/local/var/clawdb/run"];

export class Settings {
  /** @param {Record<string, unknown>} [given] this plugin's part of the host's configuration */
  constructor(given = {}) {
    this.userId = text(given.userId);
    this.scope = given.scope === "session" ? "session" : "agent";
    this.timeoutMs = typeof given.timeoutMs === "number" ? given.timeoutMs : 5000;
    this.home = text(given.home) || text(process.env.LIBRAVDB_HOME) || join(homedir(), ".clawdb");
    this.configured = text(given.endpoint) || text(process.env.LIBRAVDB_RPC_ENDPOINT);
  }

  /** The daemon's endpoint, looked up anew for each connection. */
  get endpoint() {
    if (this.configured) return this.configured;
    if (process.platform === "win32") return WINDOWS_DEFAULT;
    const mine = join(this.home, "run", SOCKET);
    const found = [mine, ...SHARED_FOLDERS.map((folder) => join(folder, SOCKET))].find((path) => existsSync(path));
    return `unix:${found ?? mine}`;
  }

  /** The owner's token of the daemon's home, for connections over TCP; the daemon made it. */
  token() {
    try {
      return text(JSON.parse(readFileSync(join(this.home, "tokens.json"), "utf8")).owner?.token);
    } catch {
      return "";
    }
  }

  /**
   * One user if one is configured; else an agent's conversations share a memory, or each has its own.
   * @param {Conversation} of @returns {Where}
   */
  where(of) {
    const session = of.sessionId ? { sessionId: of.sessionId } : {};
    if (this.userId) return { userId: this.userId, ...session };
    if (this.scope === "session" && of.sessionKey) return { sessionKey: of.sessionKey, ...session };
    return { agentId: agentOf(of), ...session };
  }
}

/** @param {Conversation} of */
function agentOf(of) {
  const named = /^agent:([^:]+):/.exec(of.sessionKey ?? "");
  return of.agentId || of.sessionTarget?.agentId || named?.[1] || "main";
}

/** @param {unknown} value */
export function text(value) {
  return typeof value === "string" ? value.trim() : "";
}
