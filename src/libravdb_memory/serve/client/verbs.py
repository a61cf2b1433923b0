"""The verbs of a client, once for both kinds of it: each gives the job that carries it out.

Law: a verb takes what its method takes, under the same names but for `user` and `session`, with the same defaults; the
tests compare them with the table of methods. With no daemon there, storing waits on disk and a context is the host's
own messages, with a note; every other verb raises UnavailableError.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack, cast

from libravdb_memory.identity import Json
from libravdb_memory.serve.client.core import RefusedError, UnavailableError
from libravdb_memory.serve.client.delivering import (
    BESIDE_A_CALL_S,
    Delivery,
    Desk,
    Stored,
    check_entry,
    deliver,
    order_of,
    store,
)
from libravdb_memory.serve.client.entries import Entry
from libravdb_memory.serve.client.scripts import Job, Script, ask
from libravdb_memory.serve.client.spool import SpoolError
from libravdb_memory.serve.failures import ENGINE
from libravdb_memory.serve.fields import wire_name
from libravdb_memory.serve.jsonrpc import INTERNAL_ERROR

Result = dict[str, Any]
Message = Mapping[str, Any]
_RENAMED = {"user": "userId", "session": "sessionId"}
_LONG_S = 3600.0


class Whose(TypedDict, total=False):
    """Whose memory it is, and which conversation."""

    user: str | None
    session: str | None
    session_key: str | None
    agent_id: str | None


@dataclass(frozen=True, slots=True)
class HostContext:
    """What a model should see. Without a daemon `text` is empty, `messages` are the host's own, `note` says why."""

    text: str
    messages: Sequence[Message]
    degraded: tuple[str, ...] = ()
    note: str = ""
    receipt_id: str | None = None
    result: Result | None = None


# ── a conversation ───────────────────────────────────────────────────────────────────────────────────────────────


def bootstrap(desk: Desk, *, linked_key: str | None = None, **whose: Unpack[Whose]) -> Job[Result]:
    """Begin or resume a conversation."""
    return _after_what_waits(desk, "bootstrap_session", _wire(linked_key=linked_key, **whose))


def reset(desk: Desk, **whose: Unpack[Whose]) -> Job[Result]:
    """Begin a conversation anew under its old name. What was said before is delivered first."""
    return _after_what_waits(desk, "reset_session", _wire(**whose))


def link(desk: Desk, linked_key: str, **whose: Unpack[Whose]) -> Job[Result]:
    """Let a conversation, such as a subagent's, share this memory."""
    return Job(ask("link_session", _wire(linked_key=linked_key, **whose)))


def unlink(desk: Desk, linked_key: str, **whose: Unpack[Whose]) -> Job[Result]:
    """Let a conversation that shared this memory be its own again."""
    return Job(ask("unlink_session", _wire(linked_key=linked_key, **whose)))


def promote_diary(desk: Desk, source_doc: str, text: str, **whose: Unpack[Whose]) -> Job[Result]:
    """Make memory of the entries of a dream diary that are worth it."""
    return Job(ask("promote_diary", _wire(source_doc=source_doc, text=text, **whose)))


def ingest(
    desk: Desk,
    text: str,
    *,
    id: str | None = None,
    role: str = "user",
    ts: int | None = None,
    speaker: str | None = None,
    metadata: Mapping[str, Json] | None = None,
    **whose: Unpack[Whose],
) -> Job[Stored]:
    """Store one message, exactly. When this returns it is on disk: in the store, or in the spool."""
    name = id if id is not None and id.strip() else f"{_now_ms():012x}{secrets.token_hex(5)}"
    said = _wire(text=text, id=name, role=role, ts=ts, speaker=speaker, metadata=metadata, **whose)
    return _storing(desk, "ingest_message", said, name)


def after_turn(
    desk: Desk, messages: Sequence[Message] = (), *, advancement_key: str | None = None, **whose: Unpack[Whose]
) -> Job[Stored]:
    """Store the messages of a turn, each once however often they are delivered."""
    said = _wire(messages=list(messages), advancement_key=advancement_key, **whose)
    return _storing(desk, "after_turn", said, None)


def context(
    desk: Desk,
    prompt: str = "",
    *,
    budget: int | None = None,
    messages: Sequence[Message] = (),
    mode: Literal["augment", "own"] = "augment",
    fresh: bool = False,
    **whose: Unpack[Whose],
) -> Job[HostContext]:
    """Assemble what a model should see, within a budget."""
    params = _wire(prompt=prompt, budget=budget, messages=list(messages), mode=mode, fresh=fresh, **whose)
    return Job(_context(desk, params, messages))


def _context(desk: Desk, params: Mapping[str, Json], own: Sequence[Message]) -> Script[HostContext]:
    note = ""
    try:
        yield from deliver(desk, BESIDE_A_CALL_S)
    except SpoolError as error:  # what waits goes on waiting; the conversation does not
        note = error.message
    try:
        built = yield from ask("assemble_context", params)
    except UnavailableError as error:
        return HostContext("", own, ("memory",), error.message)
    except RefusedError as error:
        if not (error.may_pass or error.code in (ENGINE, INTERNAL_ERROR)):
            raise
        return HostContext("", own, ("memory",), error.message)
    told = cast(Sequence[Message], built.get("messages") or ())
    return HostContext(
        str(built.get("text", "")), told, tuple(built.get("degraded") or ()), note, built.get("receiptId"), built
    )


def send_waiting(desk: Desk) -> Job[Delivery]:
    """Hand over everything that waits on disk; its result says what became of it."""
    return Job(deliver(desk))


# ── looking back ─────────────────────────────────────────────────────────────────────────────────────────────────


def search(
    desk: Desk,
    query: str = "",
    *,
    k: int = 10,
    scopes: Sequence[Literal["session", "history", "summaries"]] = (),
    role: str | None = None,
    since: int | None = None,
    until: int | None = None,
    **whose: Unpack[Whose],
) -> Job[Result]:
    """Find turns by meaning and wording."""
    params = _wire(query=query, k=k, scopes=list(scopes), role=role, since=since, until=until, **whose)
    return _after_what_waits(desk, "memory_search", params)


def get(desk: Desk, id: str, **whose: Unpack[Whose]) -> Job[Result]:
    """Read one turn, exactly as it was stored."""
    return _after_what_waits(desk, "memory_get", _wire(id=id, **whose))


def history(desk: Desk, **whose: Unpack[Whose]) -> Job[Result]:
    """A session from its oldest turn to its newest."""
    return _after_what_waits(desk, "memory_history", _wire(**whose))


def expand(
    desk: Desk,
    id: str,
    *,
    depth: int | None = None,
    limit: int = 200,
    after: str | None = None,
    **whose: Unpack[Whose],
) -> Job[Result]:
    """The exact turns below a summary."""
    return Job(ask("memory_expand", _wire(id=id, depth=depth, limit=limit, after=after, **whose)))


def guidance(desk: Desk, *, limit: int = 200, after: str | None = None, **whose: Unpack[Whose]) -> Job[Result]:
    """The rules of a user, or of one session, that are kept word by word."""
    return Job(ask("memory_guidance", _wire(limit=limit, after=after, **whose)))


def compact(desk: Desk, *, rebuild: bool = False, **whose: Unpack[Whose]) -> Job[Result]:
    """Cover the older turns of a session with summaries."""
    return _after_what_waits(desk, "memory_compact", _wire(rebuild=rebuild, **whose), _LONG_S)


def forget(desk: Desk, *, id: str | None = None, all: bool = False, **whose: Unpack[Whose]) -> Job[Result]:
    """Erase for good. What still waits on disk is delivered first, so that nothing comes back afterwards."""
    return Job(_forget(desk, _wire(id=id, all=all, **whose)))


def _forget(desk: Desk, params: Mapping[str, Json]) -> Script[Result]:
    delivery = yield from deliver(desk)
    if not delivery.finished:
        raise UnavailableError(f"nothing was erased, because what waits on disk comes first: {delivery.note}")
    return (yield from ask("memory_forget", params))


# ── seeing why ───────────────────────────────────────────────────────────────────────────────────────────────────


def why(desk: Desk, receipt_id: str) -> Job[Result]:
    """Explain a prompt."""
    return Job(ask("why", _wire(receipt_id=receipt_id)))


def why_not(desk: Desk, receipt_id: str, record_id: str, *, session: str | None = None) -> Job[Result]:
    """Say why a record is not in a prompt."""
    return Job(ask("why_not", _wire(receipt_id=receipt_id, record_id=record_id, session=session)))


def replay(desk: Desk, receipt_id: str) -> Job[Result]:
    """Assemble a prompt again from its receipt alone."""
    return Job(ask("replay", _wire(receipt_id=receipt_id)))


def receipts(desk: Desk, *, limit: int = 20, **whose: Unpack[Whose]) -> Job[Result]:
    """The newest receipts of a user or a session."""
    return Job(ask("receipts", _wire(limit=limit, **whose)))


def rules_check(desk: Desk, documents: Mapping[str, str] | None = None, *, budget: int | None = None) -> Job[Result]:
    """Check authored rules."""
    return Job(ask("rules_check", _wire(documents=documents, budget=budget)))


# ── the daemon and its store ─────────────────────────────────────────────────────────────────────────────────────


def health(desk: Desk) -> Job[Result]:
    """Say that the daemon answers."""
    return Job(ask("health", {}))


def status(desk: Desk) -> Job[Result]:
    """What is stored and how it is doing."""
    return Job(ask("status", {}))


def metrics(desk: Desk) -> Job[Result]:
    """Counters and latencies in the text format of Prometheus."""
    return Job(ask("metrics", {}))


def verify(desk: Desk) -> Job[Result]:
    """Check every record and every index."""
    return Job(ask("verify", {}, _LONG_S))


def backup(desk: Desk, name: str) -> Job[Result]:
    """Copy the store to one file while it is in use."""
    return Job(ask("backup", _wire(name=name), _LONG_S))


def reindex(desk: Desk, *, indexes: bool = False, wait: bool = False) -> Job[Result]:
    """How far embedding has come; rebuild or wait on request."""
    return Job(ask("reindex", _wire(indexes=indexes, wait=wait), _LONG_S))


def call(
    desk: Desk, method: str, params: Mapping[str, Json] | None = None, *, timeout_s: float | None = None
) -> Job[Result]:
    """Any method of the protocol, as it is."""
    return Job(ask(method, params or {}, timeout_s))


# ── shared ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _storing(desk: Desk, method: str, params: Mapping[str, Json], name: str | None) -> Job[Stored]:
    entry = Entry(method, params, _now_ms())
    check_entry(entry)
    return Job(store(desk, entry, name), order_of(desk, entry))


def _after_what_waits(
    desk: Desk, method: str, params: Mapping[str, Json], timeout_s: float | None = None
) -> Job[Result]:
    """Whoever looks sees what was said before."""

    def script() -> Script[Result]:
        yield from deliver(desk, BESIDE_A_CALL_S)
        return (yield from ask(method, params, timeout_s))

    return Job(script())


def _wire(**given: Any) -> dict[str, Json]:
    return {_RENAMED.get(name) or wire_name(name): value for name, value in given.items() if value is not None}


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
