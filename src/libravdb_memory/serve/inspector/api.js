// What the daemon is asked, and what it tells by itself. Law: every call carries the header that no other page can send.

const EVENTS = ["hello", "turn", "gate", "summary", "context", "documents", "erasure", "job", "health", "reset"];

const AWAY = { message: "The daemon does not answer.", data: { kind: "away", hint: "libravdb ui starts it." } };

export class ApiError extends Error {
  constructor(status, error) {
    super(error?.message ?? `the daemon answered with ${status}`);
    this.status = status;
    this.kind = error?.data?.kind ?? "";
    this.hint = error?.data?.hint ?? "";
  }
}

/** Calls a method; absent and blank parameters are left out. `signal` ends it early. */
export async function call(method, params = {}, { signal } = {}) {
  const given = Object.fromEntries(
    Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== ""),
  );
  let answer;
  try {
    answer = await fetch(`/api/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-libravdb": "1" },
      body: JSON.stringify(given),
      credentials: "same-origin",
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, AWAY);
  }
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return told;
  const error = new ApiError(answer.status, told.error);
  if (answer.status === 401 && method !== "sign-in") window.dispatchEvent(new CustomEvent("signed-out"));
  throw error;
}

export async function whoami() {
  const answer = await fetch("/api/me", { credentials: "same-origin" }).catch(() => {
    throw new ApiError(0, AWAY);
  });
  if (answer.ok) return answer.json();
  throw new ApiError(answer.status, (await answer.json().catch(() => ({}))).error);
}

/** Runs the newest of several calls only: an older one that is under way is given up. */
export function latest() {
  let running = null;
  return async (method, params) => {
    running?.abort();
    const mine = new AbortController();
    running = mine;
    const told = await call(method, params, { signal: mine.signal });
    if (running !== mine) throw new DOMException("superseded", "AbortError");
    return told;
  };
}

/** Live events. on(name, listener) answers with what takes the listener off; "state" tells open, waiting or closed. */
export class Events {
  #listeners = new Map();
  #source = null;
  state = "waiting";

  open() {
    this.close();
    this.#source = new EventSource("/api/events");
    this.#source.addEventListener("open", () => this.#become("open"));
    this.#source.addEventListener("error", () => this.#become(this.#source?.readyState === 2 ? "closed" : "waiting"));
    for (const name of EVENTS) {
      this.#source.addEventListener(name, (event) => this.#tell(name, JSON.parse(event.data)));
    }
  }

  close() {
    this.#source?.close();
    this.#source = null;
  }

  on(name, listener) {
    const all = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, all.add(listener));
    return () => all.delete(listener);
  }

  #become(state) {
    this.state = state;
    this.#tell("state", state);
  }

  #tell(name, data) {
    for (const listener of this.#listeners.get(name) ?? []) listener(data);
  }
}
