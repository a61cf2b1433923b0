/**
 * A connection to the daemon: calls out, answers in.
 *
 * Laws: it connects when it is first needed. A call ends within its time, whatever the daemon does; one that is overdue
 * ends its connection, because what was sent behind it would wait as long. A call whose connection was cut is sent once
 * more, on a new one: each may be repeated. After a failure nothing is tried for a pause that doubles up to 16 s, so that
 * an absent daemon costs a conversation nothing. An idle connection keeps no process alive.
 */
import { connect } from "node:net";

/** @import { Settings } from "./settings.js" */
/** @typedef {{ resolve: (result: any) => void, reject: (error: Error) => void, timer: NodeJS.Timeout }} Pending */

export const LARGEST_FRAME = 15_000_000;
const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 16_000;
/** Busy, stopping, store, store full, engine, access denied: what is refused is the daemon's condition, not the call. */
const PASSING = new Set([-32030, -32031, -32010, -32011, -32020, -32005]);

/** Nobody answers now; later somebody may. */
export class Unavailable extends Error {
  /** @param {string} message @param {boolean} [cut] whether there was a connection, and it ended */
  constructor(message, cut = false) {
    super(message);
    this.cut = cut;
  }
}

/** The daemon understood, and said no. */
export class Refused extends Error {
  /** @param {string} message @param {number} code */
  constructor(message, code) {
    super(message);
    this.code = code;
  }

  /** Asking again would be refused again. */
  get forGood() {
    return !PASSING.has(this.code);
  }
}

export class Daemon {
  /** @param {Settings} settings */
  constructor(settings) {
    this.settings = settings;
    /** @type {Map<number, Pending>} */
    this.pending = new Map();
    /** @type {import("node:net").Socket | undefined} */
    this.socket = undefined;
    this.connected = false;
    this.held = "";
    this.last = 0;
    this.failures = 0;
    this.notBefore = 0;
  }

  /**
   * The result of a call.
   * @param {string} method @param {object} params @param {{ timeoutMs?: number, insist?: boolean }} [how]
   * @returns {Promise<any>}
   */
  async call(method, params, how = {}) {
    if (!how.insist && Date.now() < this.notBefore) throw new Unavailable("the daemon was not there a moment ago");
    const deadline = how.timeoutMs ?? this.settings.timeoutMs;
    try {
      return await this.once(method, params, deadline);
    } catch (error) {
      if (error instanceof Unavailable && error.cut) return this.once(method, params, deadline);
      throw error;
    }
  }

  /** @param {string} method @param {object} params @param {number} deadline */
  once(method, params, deadline) {
    if (!this.socket) this.open(deadline);
    return this.send(method, params, deadline);
  }

  /** @param {number} deadline */
  open(deadline) {
    const endpoint = this.settings.endpoint;
    const place = placeOf(endpoint);
    const socket = connect(place);
    this.socket = socket;
    this.connected = false;
    this.held = "";
    socket.on("connect", () => (this.connected = true));
    socket.setEncoding("utf8");
    socket.on("data", (piece) => this.read(socket, String(piece)));
    socket.on("error", (error) => this.drop(socket, error.message, this.connected));
    socket.on("close", () => this.drop(socket, "the connection ended", this.connected));
    const token = isLoopback(place) ? this.settings.token() : "";
    if (token) this.send("authenticate", { token }, deadline).catch(() => {}); // the calls behind it say what is wrong
  }

  /** @param {string} method @param {object} params @param {number} timeoutMs @returns {Promise<any>} */
  send(method, params, timeoutMs) {
    const socket = this.socket;
    const id = ++this.last;
    const frame = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    if (Buffer.byteLength(frame) > LARGEST_FRAME) return Promise.reject(new Refused(`${method}: too large`, -32600));
    return new Promise((resolve, reject) => {
      const overdue = () => socket && this.drop(socket, `${method} took longer than ${timeoutMs} ms`);
      this.pending.set(id, { resolve, reject, timer: setTimeout(overdue, timeoutMs) });
      socket?.ref();
      socket?.write(`${frame}\n`);
    });
  }

  /** @param {import("node:net").Socket} socket @param {string} piece */
  read(socket, piece) {
    if (socket !== this.socket) return;
    this.held += piece;
    if (!piece.includes("\n")) return; // a long answer is looked through once
    const lines = this.held.split("\n");
    this.held = lines.pop() ?? "";
    for (const line of lines) this.answer(line);
    if (this.pending.size === 0) socket.unref();
  }

  /** @param {string} line */
  answer(line) {
    /** @type {{ id?: number, result?: unknown, error?: { message?: string, code?: number } }} */
    let answer;
    try {
      answer = JSON.parse(line);
    } catch {
      return; // no answer of ours; the call it may have been for ends in its time
    }
    const waiting = this.pending.get(answer.id ?? 0);
    if (!waiting) return;
    this.pending.delete(answer.id ?? 0);
    clearTimeout(waiting.timer);
    this.failures = 0;
    this.notBefore = 0;
    if (answer.error) waiting.reject(new Refused(answer.error.message ?? "failed", answer.error.code ?? 0));
    else waiting.resolve(answer.result);
  }

  /** @param {import("node:net").Socket} socket @param {string} reason @param {boolean} [cut] */
  drop(socket, reason, cut = false) {
    socket.destroy();
    if (socket !== this.socket) return;
    this.socket = undefined;
    const pause = Math.min(SHORTEST_PAUSE_MS * 2 ** this.failures, LONGEST_PAUSE_MS);
    if (this.pending.size > 0) {
      this.failures += 1;
      this.notBefore = Date.now() + pause * (0.5 + Math.random() / 2);
    }
    const waiting = [...this.pending.values()];
    this.pending.clear();
    for (const call of waiting) {
      clearTimeout(call.timer);
      call.reject(new Unavailable(reason, cut));
    }
  }

  close() {
    if (this.socket) this.drop(this.socket, "closed");
  }
}

/** @param {string} endpoint @returns {{ path: string } | { host: string, port: number }} */
export function placeOf(endpoint) {
  if (endpoint.startsWith("unix:")) return { path: endpoint.slice("unix:".length) };
  const [, host, port] = /^tcp:\[?([^\]]+?)\]?:(\d+)$/.exec(endpoint) ?? [];
  if (!host || !port) throw new Unavailable("the endpoint must be unix:/path or tcp:host:port");
  return { host, port: Number(port) };
}

/** @param {object} place */
function isLoopback(place) {
  return "host" in place && ["127.0.0.1", "::1", "localhost"].includes(String(place.host));
}
