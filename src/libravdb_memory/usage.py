"""What recall was used for: access counts and the gate's regret, written in batches off the path of any answer.

Marks: `use` counts how often a record was injected or found; `regret` stands on a turn that the gate refused and a
later question wanted. Law: losing a batch in a crash loses counts, never memory.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable

from libravdb_memory.gating import JUDGED
from libravdb_memory.model import Record
from libravdb_memory.store.protocol import Key, Mark, Store, Write

USE, REGRET = "use", "regret"


class Usage:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._seen: Counter[int] = Counter()

    def note(self, records: Iterable[Record]) -> None:
        with self._lock:
            self._seen.update(record.ref for record in records)

    def flush(self) -> None:
        with self._lock:
            seen, self._seen = self._seen, Counter()
        if not seen:
            return
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
        self._store.commit(writes)
