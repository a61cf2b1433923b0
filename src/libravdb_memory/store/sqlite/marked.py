"""Which records of a collection carry a label, kept in memory for the labels that were lately searched by.

Laws: an answer is as good as a scan of the table made during the call. `marked` and `dropped` are called after COMMIT,
in commit order; a scan that one of them overtook is used once and not kept. An array, once given out, never changes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from libravdb_memory.store.sqlite.schema import REF_BITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST_SETS = 256
_MOST_REFS = 4_000_000

Place = tuple[int, str]
"""A collection's key, and a label."""


class _RefSet:
    """Ascending refs in an array with room to grow. Slots below `count` are written once."""

    __slots__ = ("_refs", "count")

    def __init__(self, refs: NDArray[np.int64]) -> None:
        self._refs = refs
        self.count = len(refs)

    def refs(self) -> NDArray[np.int64]:
        return self._refs[: self.count]

    def add(self, ref: int) -> None:
        import numpy as np

        held = self.refs()
        place = self.count if not self.count or ref > held[-1] else int(np.searchsorted(held, ref))
        if place < self.count:
            if held[place] != ref:
                self._refs = np.insert(held, place, ref)
                self.count += 1
            return
        if place == len(self._refs):
            self._refs = np.concatenate((held, np.empty(max(64, place // 4), np.int64)))
        self._refs[place] = ref
        self.count += 1


class MarkedRefs:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sets: OrderedDict[Place, _RefSet] = OrderedDict()
        self._reading: dict[Place, object] = {}

    def refs(self, place: Place, read: Callable[[], NDArray[np.int64]]) -> NDArray[np.int64]:
        """Ascending; from the table if they are not held yet."""
        with self._lock:
            held = self._sets.get(place)
            if held is not None:
                self._sets.move_to_end(place)
                return held.refs()
            mine = self._reading[place] = object()
        found = read()
        with self._lock:
            if self._reading.get(place) is mine:
                del self._reading[place]
                self._sets[place] = _RefSet(found)
                self._shrink()
        return found

    def marked(self, refs: Iterable[tuple[int, str]]) -> None:
        """These refs have got these labels."""
        with self._lock:
            for ref, label in refs:
                place = (ref >> REF_BITS, label)
                self._reading.pop(place, None)
                held = self._sets.get(place)
                if held is not None:
                    held.add(ref)

    def unmarked(self, refs: Iterable[tuple[int, str]]) -> None:
        """These refs have lost these labels."""
        with self._lock:
            for ref, label in refs:
                self._drop((ref >> REF_BITS, label))

    def removed(self, refs: Iterable[int]) -> None:
        """These records are gone, and every mark of theirs."""
        with self._lock:
            if self._sets or self._reading:
                keys = {ref >> REF_BITS for ref in refs}
                for place in [place for place in (*self._sets, *self._reading) if place[0] in keys]:
                    self._drop(place)

    def _drop(self, place: Place) -> None:
        self._sets.pop(place, None)
        self._reading.pop(place, None)

    def _shrink(self) -> None:
        total = sum(held.count for held in self._sets.values())
        while len(self._sets) > _MOST_SETS or (total > _MOST_REFS and len(self._sets) > 1):
            _, oldest = self._sets.popitem(last=False)
            total -= oldest.count
