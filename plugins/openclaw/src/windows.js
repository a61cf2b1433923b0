/**
 * What the daemon last decided for each conversation, for the moments in which it cannot be asked.
 *
 * Law: this is memory of decisions, not a decision: where none is known, the host's messages stay as they are.
 */

/** @import { Message } from "./host.js" */

const MOST = 256;

export class Windows {
  constructor() {
    /** @type {Map<string, { first: string, second: string }>} */
    this.starts = new Map();
    /** @type {Map<string, number>} */
    this.shares = new Map();
    /** @type {Set<string>} */
    this.open = new Set();
  }

  /** @param {string | undefined} session @param {Message[]} kept */
  remember(session, kept) {
    if (!session) return;
    this.starts.delete(session);
    const [first, second] = kept;
    if (first && second) this.starts.set(session, { first: mark(first), second: mark(second) });
    for (const oldest of this.starts.keys()) {
      if (this.starts.size <= MOST) break;
      this.starts.delete(oldest);
    }
  }

  /** The messages from where the last window began. @param {string | undefined} session @param {Message[]} messages */
  again(session, messages) {
    const start = this.starts.get(session ?? "");
    if (!start) return messages;
    const second = messages.findIndex((message) => mark(message) === start.second);
    const first = messages.findIndex((message) => mark(message) === start.first);
    if (first < 0 || second < first) return messages;
    return messages.filter((_, place) => place === first || place >= second);
  }

  /** A prompt was made, and the turn is not over. @param {string | undefined} session */
  begin(session) {
    if (session) this.open.add(session);
  }

  /** The turn went well. @param {string | undefined} session */
  end(session) {
    this.open.delete(session ?? "");
    this.shares.delete(session ?? "");
  }

  /** Smaller windows until this turn is over. @param {string | undefined} session @param {number} by @returns {boolean} whether one is under way */
  narrow(session, by) {
    if (!session || !this.open.has(session)) return false;
    this.shares.set(session, (this.shares.get(session) ?? 1) * by);
    return true;
  }

  /** @param {string | undefined} session @param {number | undefined} tokens */
  budget(session, tokens) {
    return tokens === undefined ? undefined : Math.floor(tokens * (this.shares.get(session ?? "") ?? 1));
  }
}

/** @param {Message} message */
function mark(message) {
  return `${message.role} ${message.timestamp} ${message.toolCallId ?? ""}`;
}
