/**
 * The host's messages on their way to the daemon and back.
 *
 * Laws: only role, content, time and the ties between tool calls and results are sent: nothing of accounts, models or
 * pictures. What comes back are the host's own objects. What the host excludes from its context is neither sent nor
 * stored.
 */
import { LARGEST_FRAME } from "./daemon.js";

/** @import { Message } from "./host.js" */
/** @typedef {{ role: string, content: unknown, toolCallId?: string, timestamp?: number }} Sent */

const MOST = LARGEST_FRAME / 2;
const MOST_STORED_AT_ONCE = 1_000_000; // within the time of a call, also on a slow machine
const SPEAKERS = new Set(["user", "assistant", "toolResult"]);
const BINARY = new Set(["image", "audio", "file", "video"]);

/** The messages of a turn that were said. @param {Message[]} messages @returns {Sent[]} */
export function said(messages) {
  return messages.filter((message) => SPEAKERS.has(message.role) && !isExcluded(message)).map(sent);
}

/** Messages in order, divided so that each part is stored in the time of a call; a larger one is a part of its own. @param {Sent[]} messages */
export function inParts(messages) {
  /** @type {Sent[][]} */
  const parts = [];
  let room = 0;
  for (const message of messages) {
    const size = Buffer.byteLength(JSON.stringify(message));
    if (size > room) {
      parts.push([]);
      room = MOST_STORED_AT_ONCE;
    }
    parts.at(-1)?.push(message);
    room -= size;
  }
  return parts;
}

/**
 * What the daemon decides on: every message that the host shows, the newest that one frame takes. `places` are their
 * places in the host's list.
 * @param {Message[]} messages @returns {{ shown: Sent[], places: number[] }}
 */
export function shownOf(messages) {
  /** @type {Sent[]} */
  const shown = [];
  const places = [];
  let size = 0;
  for (let place = messages.length - 1; place >= 0; place -= 1) {
    const message = messages[place];
    if (!message || isExcluded(message)) continue;
    const wire = sent(message);
    size += Buffer.byteLength(JSON.stringify(wire));
    if (size > MOST) break;
    shown.unshift(wire);
    places.unshift(place);
  }
  return { shown, places };
}

/** @param {Message} message @returns {Sent} */
function sent(message) {
  const summary = typeof message.summary === "string" ? message.summary : undefined;
  /** @type {Sent} */
  const wire = { role: summary === undefined ? message.role : "system", content: summary ?? worded(message.content) };
  if (typeof message.toolCallId === "string") wire.toolCallId = message.toolCallId;
  if (Number.isSafeInteger(message.timestamp)) wire.timestamp = Number(message.timestamp);
  return wire;
}

/** @param {unknown} content @returns {unknown} */
function worded(content) {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content.filter((part) => typeof part === "string" || (part && part.type && part.type !== "thinking")).map(bare);
}

/** @param {any} part */
function bare(part) {
  if (typeof part === "string") return part;
  if (BINARY.has(part.type)) return { type: part.type, mimeType: part.mimeType };
  if (part.type === "toolCall") return { type: part.type, id: part.id, name: part.name, arguments: part.arguments };
  return { type: part.type, text: part.text ?? "" };
}

/** @param {Message} message */
function isExcluded(message) {
  return message.excludeFromContext === true;
}
