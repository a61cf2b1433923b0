"""Vector search for the SQLite store.

Law: an answer is never silently short or stale. Small collections are searched exactly, in memory; memory is used for
what was searched, the least recently searched leaves first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.errors import StoreError
from libravdb_memory.store.protocol import Found, Problem, Progress, Space
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite import cosine, vectortable
from libravdb_memory.store.sqlite.exact import ExactCollection

if TYPE_CHECKING:
    import apsw
    from numpy.typing import NDArray

_Place = tuple[int, int]


class VectorShelf:
    """`read` gives the calling thread's reader, which must not be inside an older read transaction. `added`, `removed`
    and `dropped` are called after COMMIT, in commit order, by one thread at a time; everything else by any thread."""

    def __init__(
        self, read: Callable[[], apsw.Connection], directory: Path, store_uuid: str, settings: StoreSettings
    ) -> None:
        self._read = read
        self._directory = directory
        self._store_uuid = store_uuid
        self._settings = settings
        self._limit_bytes = settings.resident_vector_mb << 20
        self._lock = threading.Lock()
        self._collections: OrderedDict[_Place, ExactCollection] = OrderedDict()
        self._counted: dict[_Place, int] = {}
        self._resident = 0

    @property
    def resident_bytes(self) -> int:
        return self._resident

    def search(
        self,
        space: Space,
        collection_key: int,
        query: NDArray[np.float32],
        k: int,
        eligible: NDArray[np.int64] | None,
        exact: bool,
    ) -> tuple[tuple[Found, ...], bool]:
        """The k nearest of a collection, among the eligible refs if given; and whether all were compared exactly."""
        prepared = cosine.prepare(query, space.dimensions)
        if k <= 0 or (eligible is not None and not eligible.shape[0]):
            return (), True
        collection = self._collection(space, collection_key)
        try:
            return collection.search(self._read, prepared, k, eligible, self._limit_bytes), True
        finally:
            self._account((space.key, collection_key))

    def added(self, space_key: int, refs: Sequence[int], vectors: NDArray[np.float32]) -> None:
        every = np.asarray(refs, np.int64)
        for collection_key, mine in _by_collection(every):
            place = (space_key, collection_key)
            collection = self._collections.get(place)
            if collection is not None:
                collection.put(every[mine], vectors[mine])
                self._account(place)

    def removed(self, refs: Sequence[int]) -> None:
        every = np.asarray(refs, np.int64)
        with self._lock:
            spaces = {space_key for space_key, _ in self._collections}
        for collection_key, mine in _by_collection(every):
            for space_key in spaces:
                collection = self._collections.get((space_key, collection_key))
                if collection is not None:
                    collection.remove(every[mine])

    def dropped(self, space_key: int) -> None:
        with self._lock:
            for place in [place for place in self._collections if place[0] == space_key]:
                self._forget(place)

    def describe(self) -> Mapping[str, str]:
        """State of each approximate index, by the name of its file."""
        return {}

    def verify(self, space: Space, progress: Progress | None = None) -> Iterator[Problem]:
        """Vectors that cannot be read, and index files that cannot be trusted."""
        del progress
        try:
            for refs, rows in vectortable.scan(self._read(), space, None):
                for ref in refs[~np.isfinite(rows).all(axis=1)]:
                    yield Problem("vector", f"ref {ref}", "a component is not finite", "libravdb reindex")
        except StoreError as error:
            yield Problem("vector", f"space {space.key}", str(error), "libravdb reindex")

    def rebuild(self, progress: Progress | None = None) -> None:
        """Drop and rebuild the approximate indexes."""
        del progress

    def settle(self, timeout_s: float) -> bool:
        """Wait for background work; False when it is not done in time."""
        del timeout_s
        return True

    def close(self) -> None:
        with self._lock:
            for place in list(self._collections):
                self._forget(place)

    def _collection(self, space: Space, collection_key: int) -> ExactCollection:
        place = (space.key, collection_key)
        with self._lock:
            collection = self._collections.get(place)
            if collection is None:
                collection = self._collections[place] = ExactCollection(space, collection_key)
            self._collections.move_to_end(place)
            return collection

    def _account(self, place: _Place) -> None:
        """Count what a collection holds now, and let the least recently searched go while it is too much."""
        with self._lock:
            collection = self._collections.get(place)
            if collection is None:
                return
            self._resident += collection.nbytes - self._counted.get(place, 0)
            self._counted[place] = collection.nbytes
            while self._resident > self._limit_bytes and self._collections:
                self._forget(next(iter(self._collections)))

    def _forget(self, place: _Place) -> None:
        self._collections.pop(place).forget()
        self._resident -= self._counted.pop(place, 0)


def _by_collection(refs: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    keys = refs >> vectortable.COLLECTION_SHIFT
    for key in np.unique(keys):
        yield int(key), np.flatnonzero(keys == key)
