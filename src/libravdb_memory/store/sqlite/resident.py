"""The vectors of one collection in memory.

Law: a view, once taken, never changes. Slots are only appended; a replaced or removed vector leaves a dead slot
behind, and when a quarter is dead the rest moves to new arrays. The newest slot of a ref is the one that counts.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.store.sqlite import cosine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from libravdb_memory.store.protocol import Found
    from libravdb_memory.store.sqlite.cosine import Query, Refs, Rows, Slots

_GATHER_SHARE = 0.1
_DEAD_MINIMUM = 1024


@dataclass(frozen=True, slots=True)
class SlotMap:
    """Which slot holds a ref. `order` sorts `refs`; None when they already ascend."""

    refs: Refs
    order: Slots | None

    @classmethod
    def of(cls, refs: Refs, ascending: bool) -> SlotMap:
        return cls(refs, None if ascending else np.argsort(refs, kind="stable"))

    def newest(self, wanted: Refs) -> Slots:
        """The last slot of each wanted ref; -1 for those without one."""
        if not len(self.refs):
            return np.full(len(wanted), -1, np.intp)
        # The last of equal refs is the newest: the sort is stable.
        at = np.searchsorted(self.refs, wanted, side="right", sorter=self.order) - 1
        slots = at if self.order is None else self.order[at]
        return np.where((at >= 0) & (self.refs[slots] == wanted), slots, -1)


@dataclass(frozen=True, slots=True)
class View:
    """A moment of a matrix."""

    refs: Refs
    rows: Rows
    dead: Slots
    places: SlotMap

    @property
    def live(self) -> int:
        return len(self.refs) - len(self.dead)

    def search(self, query: Query, k: int, eligible: Refs | None) -> tuple[Found, ...]:
        if not len(self.refs):
            return ()
        if eligible is None:
            return self._search_all(query, k, None)
        slots = self.slots_of(eligible)
        if slots.shape[0] > _GATHER_SHARE * self.refs.shape[0]:
            return self._search_all(query, k, slots)
        return self._best(slots, cosine.similarities(self.rows[slots], query), query, k)

    def slots_of(self, refs: Refs) -> Slots:
        """Live slots of those refs that have one, each once."""
        # Telling that refs ascend takes a hundredth of the time of sorting them out.
        return self.slots_of_distinct(refs if (refs[1:] > refs[:-1]).all() else np.unique(refs))

    def slots_of_distinct(self, refs: Refs) -> Slots:
        slots = self.places.newest(refs)
        slots = slots[slots >= 0]
        living: Slots = slots[~np.isin(slots, self.dead)] if len(self.dead) else slots
        return living

    def live_refs(self) -> Refs:
        """Ascending."""
        alive = np.delete(self.refs, self.dead) if self.dead.shape[0] else self.refs
        return alive if self.places.order is None else np.sort(alive)

    def _search_all(self, query: Query, k: int, only: Slots | None) -> tuple[Found, ...]:
        scores = cosine.similarities(self.rows, query)
        if only is not None:
            return self._best(only, scores[only], query, k)
        scores[self.dead] = -np.inf
        return self._best(None, scores, query, k)

    def _best(self, slots: Slots | None, scores: NDArray[np.float32], query: Query, k: int) -> tuple[Found, ...]:
        chosen = cosine.candidates(scores, k, query.margin)
        chosen = chosen if slots is None else slots[chosen]
        return cosine.score(self.refs[chosen], self.rows[chosen], query, k)


class Matrix:
    """Grows in place; safe for many readers and writers."""

    def __init__(self, dimensions: int, capacity: int = 0) -> None:
        self._lock = threading.Lock()
        self._dimensions = dimensions
        self._refs: Refs = np.empty(capacity, np.int64)
        self._rows: Rows = np.empty((capacity, dimensions), np.float32)
        self._count = 0
        self._highest = -1
        self._ascending = True
        self._dead: Slots = np.empty(0, np.intp)
        self._view: View | None = None

    @property
    def nbytes(self) -> int:
        """Of the slots in use; memory reserved for growth is not touched yet."""
        return self._count * (self._dimensions * 4 + 8)

    @property
    def count(self) -> int:
        """Live slots."""
        return self._count - len(self._dead)

    def view(self) -> View:
        with self._lock:
            return self._current()

    def put(self, refs: Refs, rows: Rows) -> None:
        """Insert or replace; the last of equal refs wins. `rows` may have any length, a copy is normalised."""
        with self._lock:
            if not refs.shape[0]:
                return
            refs, rows = _last_of_each(refs, rows)
            if refs[0] <= self._highest:
                self._kill(refs)
                self._ascending = False
            self._append(refs, rows)
            self._view = None
            self._compact_if_worth_it()

    def remove(self, refs: Refs) -> None:
        with self._lock:
            self._kill(refs)
            self._compact_if_worth_it()

    def _current(self) -> View:
        if self._view is None:
            refs = self._refs[: self._count]
            self._view = View(refs, self._rows[: self._count], self._dead, SlotMap.of(refs, self._ascending))
        return self._view

    def _kill(self, refs: Refs) -> None:
        slots = self._current().slots_of(refs)
        if slots.shape[0]:
            self._dead = np.concatenate((self._dead, slots))
            self._view = None

    def _append(self, refs: Refs, rows: Rows) -> None:
        end = self._count + refs.shape[0]
        if end > self._refs.shape[0]:
            self._move(slice(0, self._count), max(end, 2 * self._count))
        self._refs[self._count : end] = refs
        self._rows[self._count : end] = rows
        cosine.make_unit(self._rows[self._count : end])
        self._count = end
        self._highest = max(self._highest, int(refs[-1]))

    def _compact_if_worth_it(self) -> None:
        if self._dead.shape[0] < max(_DEAD_MINIMUM, self._count // 4):
            return
        keep = np.delete(np.arange(self._count), self._dead)
        keep = keep[np.argsort(self._refs[keep], kind="stable")]
        self._move(keep, keep.shape[0])
        self._count = keep.shape[0]
        self._dead = np.empty(0, np.intp)
        self._ascending = True
        self._view = None

    def _move(self, slots: Slots | slice, capacity: int) -> None:
        old_refs, old_rows = self._refs[slots], self._rows[slots]
        self._refs = np.empty(capacity, np.int64)
        self._rows = np.empty((capacity, old_rows.shape[1]), np.float32)
        self._refs[: old_refs.shape[0]] = old_refs
        self._rows[: old_refs.shape[0]] = old_rows


def _last_of_each(refs: Refs, rows: Rows) -> tuple[Refs, Rows]:
    if (refs[1:] > refs[:-1]).all():
        return refs, rows
    order = np.argsort(refs, kind="stable")
    ordered = refs[order]
    last = np.append(ordered[1:] != ordered[:-1], True)
    return ordered[last], rows[order[last]]
