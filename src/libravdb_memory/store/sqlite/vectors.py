"""Vector search for the SQLite store.

Law: an answer is never silently short or stale. Small collections are searched exactly, in memory; large ones through
an approximate index with exact scores, which is opened and built in the background while exact search serves. Memory is
used for what was searched; the least recently searched leaves first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.store.protocol import Found, Problem, Progress, Space
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite import cosine, vectortable
from libravdb_memory.store.sqlite.ann import AnnCollection
from libravdb_memory.store.sqlite.background import Background
from libravdb_memory.store.sqlite.collection import VectorCollection

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Place = tuple[int, int]
_SUFFIX = ".ann"


class VectorShelf:
    """`read` gives the calling thread's reader, which must not be inside an older read transaction. `added`, `removed`,
    `erased` and `dropped` are called after COMMIT, in commit order, by one thread at a time; everything else by any
    thread."""

    def __init__(
        self, read: Callable[[], apsw.Connection], directory: Path, store_uuid: str, settings: StoreSettings
    ) -> None:
        self._read = read
        self._directory = directory
        self._store_uuid = store_uuid
        self._settings = settings
        self._limit_bytes = settings.resident_vector_mb << 20
        self._lock = threading.Lock()
        self._collections: OrderedDict[_Place, VectorCollection] = OrderedDict()
        self._counted: dict[_Place, int] = {}
        self._resident = 0
        self._background = Background("libravdb-vectors")

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
        place = (space.key, collection_key)
        collection = self._collection(space, collection_key)
        try:
            return collection.search(self._read, prepared, k, eligible, exact)
        finally:
            self._account(place)
            if collection.wants_vectors():
                self._background.submit(lambda: self._load(place, collection))
            self._schedule(collection)

    def similarities(
        self, space: Space, collection_key: int, query: NDArray[np.float32], refs: NDArray[np.int64]
    ) -> dict[int, float]:
        """Cosines of those refs of a collection that have a vector; nothing is loaded for it."""
        prepared = cosine.prepare(query, space.dimensions)
        return self._collection(space, collection_key).similarities(self._read, prepared, refs)

    def added(self, space_key: int, refs: Sequence[int], vectors: NDArray[np.float32]) -> None:
        every = np.asarray(refs, np.int64)
        for collection_key, mine in _by_collection(every):
            place = (space_key, collection_key)
            with self._lock:
                collection = self._collections.get(place)
            if collection is not None:
                collection.put(every[mine], vectors[mine])
                self._account(place)
                self._schedule(collection)

    def removed(self, refs: Sequence[int]) -> None:
        for collection, mine in self._holding(refs):
            collection.remove(mine)

    def forget_files(self, refs: Sequence[int]) -> None:
        """Take away every file that could hold vectors of these; before they are erased, in case of a crash."""
        for collection_key, _ in _by_collection(np.asarray(refs, np.int64)):
            for path in self._directory.glob(f"[0-9]*-{collection_key}{_SUFFIX}*"):
                path.unlink(missing_ok=True)

    def erased(self, refs: Sequence[int]) -> None:
        """As `removed`, and no file holds them any more, nor will one that is being made."""
        holding = list(self._holding(refs))
        for collection, mine in holding:
            collection.erase(mine)
        self.forget_files(refs)
        for collection, _ in holding:
            self._schedule(collection)

    def _holding(self, refs: Sequence[int]) -> Iterator[tuple[VectorCollection, NDArray[np.int64]]]:
        """The collections in use that these may be in, each with its own of them."""
        every = np.asarray(refs, np.int64)
        with self._lock:
            spaces = {space_key for space_key, _ in self._collections}
        for collection_key, mine in _by_collection(every):
            for space_key in spaces:
                with self._lock:
                    collection = self._collections.get((space_key, collection_key))
                if collection is not None:
                    yield collection, every[mine]

    def dropped(self, space_key: int) -> None:
        """The space is gone: so are its vectors and its files."""
        with self._lock:
            for place in [place for place in self._collections if place[0] == space_key]:
                self._collections.pop(place).drop()
                self._resident -= self._counted.pop(place, 0)
        for path in self._files(space_key):
            path.unlink(missing_ok=True)

    def describe(self) -> Mapping[str, str]:
        """State of each approximate index, by the name of its file."""
        states = {path.name: "not opened" for path in self._files()}
        with self._lock:
            collections = list(self._collections.values())
        return states | {each.ann.path.name: each.ann.describe() for each in collections if each.ann is not None}

    def verify(self, space: Space) -> Iterator[Problem]:
        """Index files of a space that will not be used. One that is merely behind its table will be."""
        for path in self._files(space.key):
            if reason := self._ann(space, int(path.stem.partition("-")[2]), path).examine():
                yield Problem("index", path.name, f"the file {reason}", "delete it; it is made again from the vectors")

    def rebuild(self, progress: Progress | None = None) -> None:
        """Make the approximate indexes again: those in use now, those of other files when they are next searched."""
        for path in self._files():
            path.unlink(missing_ok=True)
        with self._lock:
            indexed = [each for each in self._collections.values() if each.ann is not None]
        for each in indexed:
            self._start(each, progress)
        while not self._background.settle(1.0):
            pass

    def settle(self, timeout_s: float) -> bool:
        """Wait for background work; False when it is not done in time."""
        return self._background.settle(timeout_s)

    def close(self) -> None:
        """Nothing needs saving: what an index file lacks is found in the table when it is opened."""
        self._background.close()
        with self._lock:
            self._collections.clear()
            self._counted.clear()
            self._resident = 0

    def _collection(self, space: Space, collection_key: int) -> VectorCollection:
        place = (space.key, collection_key)
        with self._lock:
            collection = self._collections.get(place)
            if collection is None:
                path = self._path(space, collection_key)
                collection = VectorCollection(
                    space, collection_key, self._limit_bytes, self._settings.exact_limit, path, self._ann
                )
                self._collections[place] = collection
            self._collections.move_to_end(place)
            return collection

    def _path(self, space: Space, collection_key: int) -> Path:
        return self._directory / f"{space.key}-{collection_key}{_SUFFIX}"

    def _ann(self, space: Space, collection_key: int, path: Path) -> AnnCollection:
        return AnnCollection(space, collection_key, path, self._store_uuid, self._settings.exact_limit)

    def _files(self, space_key: int | None = None) -> list[Path]:
        pattern = f"{'[0-9]*' if space_key is None else space_key}-[0-9]*{_SUFFIX}"
        return sorted(self._directory.glob(pattern))

    def _schedule(self, collection: VectorCollection) -> None:
        if collection.wants_work():
            self._start(collection, None)

    def _start(self, collection: VectorCollection, progress: Progress | None) -> None:
        self._background.submit(lambda: collection.work(self._read, lambda: self._background.closing, progress))

    def _load(self, place: _Place, collection: VectorCollection) -> None:
        # Whoever needs the vectors and cannot have them is told why.
        with suppress(LibraVDBError, apsw.Error):
            collection.load_vectors(self._read, lambda: self._background.closing)
            self._account(place)

    def _account(self, place: _Place) -> None:
        """Count what a collection holds now, and let the least recently searched go while it is too much."""
        with self._lock:
            collection = self._collections.get(place)
            if collection is None:
                return
            self._recount(place, collection)
            if self._resident > self._limit_bytes:
                self._evict()

    def _evict(self) -> None:
        for place, collection in list(self._collections.items()):
            if self._resident <= self._limit_bytes:
                return
            collection.shrink()
            self._recount(place, collection)
            if collection.ann is None:
                del self._collections[place], self._counted[place]

    def _recount(self, place: _Place, collection: VectorCollection) -> None:
        self._resident += collection.nbytes - self._counted.get(place, 0)
        self._counted[place] = collection.nbytes


def _by_collection(refs: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    keys = refs >> vectortable.COLLECTION_SHIFT
    for key in np.unique(keys):
        yield int(key), np.flatnonzero(keys == key)
