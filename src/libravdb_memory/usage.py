"""What recall was used for: access counts and the gate's regret, written in batches off the path of any answer.

Marks: `use` counts how often a record was injected or found; `regret` stands on a turn that the gate refused and a
later question wanted. Law: losing a batch in a crash loses counts, never memory.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from libravdb_memory.errors import NotFoundError
from libravdb_memory.gating import JUDGED
from libravdb_memory.store.forking import abandon_in_children
from libravdb_memory.store.protocol import Key, Mark, Store, Write

USE, REGRET = "use", "regret"
ENOUGH = 64


class Usage:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._seen: Counter[int] = Counter()
        abandon_in_children(self)

    def abandon(self) -> None:
        """In a forked child: the counts are the parent's to write."""
        self._lock, self._seen = threading.Lock(), Counter()

    def note(self, refs: Iterable[int]) -> bool:
        """Count these records as used; True when there is enough to write."""
        with self._lock:
            self._seen.update(refs)
            return len(self._seen) >= ENOUGH

    def flush(self, *, least: int = 1) -> None:
        """Write the counts, if at least so many records have one."""
        with self._lock:
            if len(self._seen) < least:
                return
            seen, self._seen = self._seen, Counter()
        records = self._store.fetch(list(seen))
        counted = self._store.marks(list(records), USE)
        judged = self._store.marks(list(records), JUDGED)
        writes: list[Write] = []
        for ref, record in records.items():
            key = Key(record.collection, record.id, record.group)
            before = counted.get(ref, {}).get("count", 0)
            writes.append(Mark(key, USE, {"count": seen[ref] + (before if isinstance(before, int) else 0)}))
            if judged.get(ref, {}).get("durable") is False:
                writes.append(Mark(key, REGRET))
        with suppress(NotFoundError):  # a record was erased meanwhile: its batch is lost, which costs counts only
            self._store.commit(writes, may_wait=True)
