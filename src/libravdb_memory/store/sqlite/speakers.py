"""Who speaks in a collection, remembered for the collections that were lately asked about.

Law: a record is read for it once. What is new is found by its ref, so that asking again costs one look at the highest;
an erasure forgets the collection, and what was being read meanwhile is not kept.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.schema import REF_BITS, first_ref

MOST_SPEAKERS = 64
_MOST_COLLECTIONS = 1024
_HIGHEST = "SELECT max(ref) FROM record WHERE ref >= ? AND ref < ?"
# One damaged record must not silence all the others.
_NEW = f"""
SELECT metadata -> '$.speaker', count(*) FROM record
WHERE ref > ? AND ref <= ? AND json_valid(metadata) AND metadata -> '$.speaker' GLOB '"?*"'
GROUP BY 1 ORDER BY 2 DESC, min(ref) LIMIT {MOST_SPEAKERS}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class _Known:
    """Up to which ref was read, and how often each name came."""

    through: int
    counts: dict[str, int] = field(default_factory=dict[str, int])
    names: tuple[str, ...] = ()

    def plus(self, through: int, new: Iterable[tuple[str, int]]) -> _Known:
        counts = dict(self.counts)
        for name, number in new:
            if name in counts or len(counts) < MOST_SPEAKERS:
                counts[name] = counts.get(name, 0) + number
        return _Known(through, counts, tuple(sorted(counts, key=lambda name: -counts[name])))


class Speakers:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[int, _Known] = OrderedDict()
        self._erasures = 0

    def of(self, db: Database, collection_key: int) -> tuple[str, ...]:
        with self._lock:
            known = self._known.get(collection_key) or _Known(first_ref(collection_key))
            self._known[collection_key] = known
            self._known.move_to_end(collection_key)
            erasures = self._erasures
        highest = db.execute(_HIGHEST, (first_ref(collection_key), first_ref(collection_key + 1))).get
        if highest is None or highest <= known.through:
            return known.names
        new = [(json.loads(name), number) for name, number in db.execute(_NEW, (known.through, highest))]
        known = known.plus(highest, new)
        with self._lock:
            if self._erasures == erasures:
                self._known[collection_key] = known
                if len(self._known) > _MOST_COLLECTIONS:
                    self._known.popitem(last=False)
        return known.names

    def erased(self, refs: Iterable[int]) -> None:
        with self._lock:
            self._erasures += 1
            for key in {ref >> REF_BITS for ref in refs}:
                self._known.pop(key, None)
