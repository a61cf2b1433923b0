"""The lifecycle journal: hints of hosts about sessions that begin, reset or end.

Laws: a hint is advisory: nothing depends on it and it is part of no recall. The journal keeps the newest entries, in
the order in which they came; the oldest leave when one is added.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from libravdb_memory.identity import Json
from libravdb_memory.model import Draft, Record
from libravdb_memory.sessions import Reach
from libravdb_memory.store.protocol import Equals, Key, Put, Remove, Store

COLLECTION = "_internal:lifecycle_journal"


@dataclass(frozen=True, slots=True)
class Entry:
    """`whose` stands for the namespaces that its session belonged to, as far as that was known: by a digest each, so
    that a hint never names whom a later erasure takes away."""

    id: str
    session: str
    ts: int
    hook: str
    facts: Mapping[str, Json]
    whose: tuple[str, ...] = ()


class Journal:
    def __init__(self, store: Store, keep: int = 500) -> None:
        self._store = store
        self._keep = keep
        self._writing = threading.Lock()

    def append(
        self, session: str, hook: str, facts: Mapping[str, Json], now_ms: int, whose: tuple[str, ...] = ()
    ) -> Entry:
        with self._writing:
            owners = tuple(map(_digest, whose))
            entry = Entry(f"{now_ms:013d}-{secrets.token_hex(4)}", session, now_ms, hook, facts, owners)
            told: dict[str, Json] = {"session": session, "hook": hook, "facts": facts, "whose": list(owners)}
            draft = Draft(COLLECTION, entry.id, hook, told, now_ms)
            surplus = self.count() + 1 - max(self._keep, 1)
            old = self._store.page(COLLECTION, limit=surplus).records if surplus > 0 else ()
            gone = [Remove(Key(COLLECTION, record.id)) for record in old]
            self._store.commit([*gone, *([Put(draft, searchable=False)] if self._keep > 0 else [])])
        return entry

    def entries(self, session: str | None = None, limit: int | None = None, within: Reach = None) -> tuple[Entry, ...]:
        """Oldest first; with a limit the newest of them. To a caller that reaches some namespaces, what is theirs."""
        where = None if session is None else Equals("metadata.session", session)
        most = limit if limit and within is None else max(self._keep, 1)
        page = self._store.page(COLLECTION, where=where, limit=most, newest_first=True)
        found = [entry for record in page.records if _is_for(entry := _entry(record), within)]
        return tuple(reversed(found[:limit]))

    def count(self) -> int:
        return next((info.count for info in self._store.collections(COLLECTION) if info.name == COLLECTION), 0)


def _entry(record: Record) -> Entry:
    facts, whose = record.metadata.get("facts"), record.metadata.get("whose")
    names = cast(list[object], whose) if isinstance(whose, list) else []
    return Entry(
        record.id,
        str(record.metadata.get("session", "")),
        record.ts,
        record.text,
        facts if isinstance(facts, Mapping) else {},
        tuple(name for name in names if isinstance(name, str)),
    )


def _is_for(entry: Entry, within: Reach) -> bool:
    return within is None or (bool(entry.whose) and {_digest(name) for name in within}.issuperset(entry.whose))


def _digest(namespace: str) -> str:
    return hashlib.sha256(namespace.encode("utf-8", "surrogatepass")).hexdigest()[:24]
