"""The lifecycle journal: hints of hosts about sessions that begin, reset or end.

Laws: a hint is advisory: nothing depends on it and it is part of no recall. The journal keeps the newest entries, in
the order in which they came; the oldest leave when one is added.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from libravdb_memory.identity import Json
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Equals, Key, Put, Remove, Store

COLLECTION = "_internal:lifecycle_journal"


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    session: str
    ts: int
    hook: str
    facts: Mapping[str, Json]


class Journal:
    def __init__(self, store: Store, keep: int = 500) -> None:
        self._store = store
        self._keep = keep
        self._writing = threading.Lock()

    def append(self, session: str, hook: str, facts: Mapping[str, Json], now_ms: int) -> Entry:
        with self._writing:
            entry = Entry(f"{now_ms:013d}-{secrets.token_hex(4)}", session, now_ms, hook, facts)
            draft = Draft(COLLECTION, entry.id, hook, {"session": session, "hook": hook, "facts": facts}, now_ms)
            surplus = self.count() + 1 - max(self._keep, 1)
            old = self._store.page(COLLECTION, limit=surplus).records if surplus > 0 else ()
            gone = [Remove(Key(COLLECTION, record.id)) for record in old]
            self._store.commit([*gone, *([Put(draft, searchable=False)] if self._keep > 0 else [])])
        return entry

    def entries(self, session: str | None = None, limit: int | None = None) -> tuple[Entry, ...]:
        """Oldest first; with a limit the newest of them."""
        where = None if session is None else Equals("metadata.session", session)
        page = self._store.page(COLLECTION, where=where, limit=limit or max(self._keep, 1), newest_first=True)
        return tuple(
            Entry(
                record.id,
                str(record.metadata.get("session", "")),
                record.ts,
                record.text,
                facts if isinstance(facts := record.metadata.get("facts"), Mapping) else {},
            )
            for record in reversed(page.records)
        )

    def count(self) -> int:
        return next((info.count for info in self._store.collections(COLLECTION) if info.name == COLLECTION), 0)
