"""Messages of a host on their way into memory.

Law: a message leaves a prompt only when its session holds it; what the session does not hold yet is stored first, with
its tool calls and results, so that bundles stay whole in memory too. Of equal messages, as many are stored as leave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from libravdb_memory.assemble.messages import Message, as_turns, message_text
from libravdb_memory.identity import Json
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.protocol import Equals, Store


class Ingest(Protocol):
    def __call__(
        self, text: str, *, user: str, session: str, role: str, id: str | None, metadata: dict[str, Json]
    ) -> Turn: ...


def store_messages(store: Store, ingest: Ingest, namespace: str, session: str, messages: Sequence[Message]) -> int:
    """Store the messages that the session does not hold yet; returns how many."""
    if not messages:
        return 0
    held = _held(store, history_of(namespace), session)
    stored = 0
    for message, seen in zip(messages, as_turns(messages), strict=True):
        text = seen.text or message_text(message)
        if not text:
            continue
        if held[seen.role, text]:
            held[seen.role, text] -= 1
            continue
        facts: dict[str, Json] = {}
        if seen.calls:
            facts["tool_calls"] = list(seen.calls)
        if seen.answers:
            facts["tool_call_id"] = seen.answers[0]
        name = message.get("id")
        own_id = name if isinstance(name, str) and name.strip() else None
        ingest(text, user=namespace, session=session, role=seen.role or "user", id=own_id, metadata=facts)
        stored += 1
    return stored


def _held(store: Store, collection: str, session: str) -> Counter[tuple[str, str]]:
    held: Counter[tuple[str, str]] = Counter()
    cursor: str | None = None
    while True:
        page = store.page(collection, where=Equals("group", session), after=cursor)
        held.update((turn.role, turn.text) for turn in map(turn_of, page.records))
        if (cursor := page.cursor) is None:
            return held
