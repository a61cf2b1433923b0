/**
 * All that the parts of the plugin share in one process: the connection, what waits, and whose a conversation is.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { Daemon } from "./daemon.js";
import { Settings } from "./settings.js";
import { Spool } from "./spool.js";
import { Windows } from "./windows.js";

/** @import { Api, Conversation, Logger } from "./host.js" */
/** @import { Where } from "./settings.js" */

const QUIET_MS = 60_000;
const HINT_MS = 1000;
/** @type {Map<string, Link>} */
const links = new Map();

/** One for each configuration, however often the host registers the plugin. @param {Api} api */
export function linkOf(api) {
  const state = stateOf(api);
  const name = JSON.stringify([api.pluginConfig ?? {}, state]);
  const link = links.get(name) ?? new Link(new Settings(api.pluginConfig), join(state, "libravdb-memory", "spool"), api.logger);
  links.set(name, link);
  return link;
}

/** A host that only asks which commands there are has no runtime, and throws; such a link is never used. @param {Api} api */
function stateOf(api) {
  try {
    const told = api.runtime?.state?.resolveStateDir?.();
    if (told) return told;
  } catch {}
  return join(homedir(), ".openclaw");
}

export class Link {
  /** @param {Settings} settings @param {string} spool @param {Logger} logger */
  constructor(settings, spool, logger) {
    this.settings = settings;
    this.logger = logger;
    this.daemon = new Daemon(settings);
    this.spool = new Spool(spool, this.daemon, (text) => logger.warn(text));
    this.windows = new Windows();
    /** @type {Map<string, Where>} */
    this.parents = new Map();
    this.warnedAt = 0;
  }

  /** Whose memory a conversation uses: a subagent uses that of its parent. @param {Conversation} of @returns {Promise<Where>} */
  async where(of) {
    const own = this.settings.where(of);
    const key = of.sessionKey ?? "";
    if (!key.includes(":subagent:") || this.settings.userId) return own;
    if (!this.parents.has(key)) {
      const found = await this.daemon.call("bootstrap_session", { ...own, linkedKey: key }).catch(() => undefined);
      if (found?.linked) this.parents.set(key, { userId: found.userId });
    }
    return { ...(this.parents.get(key) ?? own), ...(of.sessionId ? { sessionId: of.sessionId } : {}) };
  }

  /** @param {string} parent @param {string} child */
  async adopt(parent, child) {
    const { sessionId: _, ...owner } = await this.where({ sessionKey: parent });
    this.parents.set(child, owner);
    await this.spool.say("link_session", { ...owner, linkedKey: child }, HINT_MS);
  }

  /** @param {string} child */
  async disown(child) {
    const owner = this.parents.get(child) ?? this.settings.where({ sessionKey: child });
    this.parents.delete(child);
    await this.spool.say("unlink_session", { ...owner, linkedKey: child }, HINT_MS);
  }

  /** The host reset a conversation, with or without a new id. @param {Conversation} of */
  async reset(of) {
    if (!of.sessionId) return;
    this.windows.remember(of.sessionId, []);
    await this.spool.say("reset_session", await this.where(of), HINT_MS).catch((error) => this.away("reset", error));
  }

  /** Note an event in the daemon's journal; nothing depends on it. @param {string} hook @param {object} facts */
  async journal(hook, facts) {
    await this.spool.say("session_lifecycle_hint", { ...facts, hook }, HINT_MS).catch((error) => this.away(hook, error));
  }

  /** Say, not too often, that the conversation goes on without memory. @param {string} doing @param {unknown} error */
  away(doing, error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (Date.now() - this.warnedAt > QUIET_MS) {
      this.warnedAt = Date.now();
      this.logger.warn(`${doing}: going on without memory (${reason}); 'libravdb openclaw doctor' says more`);
    }
    return reason;
  }
}
