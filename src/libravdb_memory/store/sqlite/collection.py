"""The vectors of one collection, whichever way they are searched.

Law: the approximate index is asked only when it is ready, the caller allows it, and the eligible set is too large to
compare whole; whenever it cannot promise k hits, exact search answers. The first search opens an index file that needs
no comparing, and the vectors are then loaded behind its back; else it loads them, and the file is opened so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.store.sqlite import cosine, vectortable
from libravdb_memory.store.sqlite.exact import ExactCollection

if TYPE_CHECKING:
    import apsw

    from libravdb_memory.store.protocol import Found, Progress, Space
    from libravdb_memory.store.sqlite.ann import AnnCollection
    from libravdb_memory.store.sqlite.cosine import Query, Refs, Rows

_GATHERED = 4096
_GATHERED_SHARE = 10


class VectorCollection:
    def __init__(
        self,
        space: Space,
        collection_key: int,
        limit_bytes: int,
        exact_limit: int,
        path: Path,
        make_ann: Callable[[Space, int, Path], AnnCollection],
    ) -> None:
        self._space = space
        self._collection_key = collection_key
        self._limit_bytes = limit_bytes
        self._exact_limit = exact_limit
        self._path = path
        self._make_ann = make_ann
        self._exact = ExactCollection(space, collection_key)
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._looked = False
        self._wants_vectors = False
        self._dropped = False
        self.ann: AnnCollection | None = None

    @property
    def nbytes(self) -> int:
        return self._exact.nbytes + (self.ann.nbytes if self.ann is not None else 0)

    def put(self, refs: Refs, rows: Rows) -> None:
        self._exact.put(refs, rows)
        if self.ann is not None:
            self.ann.put(refs, rows)

    def remove(self, refs: Refs) -> None:
        self._exact.remove(refs)
        if self.ann is not None:
            self.ann.remove(refs)

    def erase(self, refs: Refs) -> None:
        self._exact.remove(refs)
        if self.ann is not None:
            self.ann.erase(refs)

    def search(
        self, read: Callable[[], apsw.Connection], query: Query, k: int, eligible: Refs | None, exact: bool
    ) -> tuple[tuple[Found, ...], bool]:
        if not exact and not self._looked:
            self._look_for_file(read)
        if not exact and self.ann is not None and self.ann.ready:
            wanted = None if eligible is None else self._mine(eligible)
            if wanted is None or len(wanted) > max(_GATHERED, self.ann.count // _GATHERED_SHARE):
                hits = self.ann.search(query, k, wanted, lambda refs: self._rows_of(read, refs))
                if hits is not None:
                    return hits, False
        return self._exact.search(read, query, k, eligible, self._limit_bytes), True

    def similarities(self, read: Callable[[], apsw.Connection], query: Query, refs: Refs) -> dict[int, float]:
        mine, rows = self._rows_of(read, self._mine(refs))
        return dict(zip(mine.tolist(), cosine.cosines(rows, query).tolist(), strict=True))

    def wants_vectors(self) -> bool:
        """True once, when the index could be opened before the vectors were loaded."""
        with self._lock:
            wanted, self._wants_vectors = self._wants_vectors, False
            return wanted

    def load_vectors(self, read: Callable[[], apsw.Connection], stop: Callable[[], bool]) -> None:
        if vectortable.span(read(), self._space, self._collection_key) * self._space.dimensions * 4 < self._limit_bytes:
            self._exact.view(read, self._limit_bytes, lambda: stop() or self._dropped)

    def wants_work(self) -> bool:
        """True once for each piece of background work that is due."""
        with self._lock:
            if self._dropped:
                return False
            if self.ann is None and self._exact.count > self._exact_limit:
                self.ann = self._make_ann(self._space, self._collection_key, self._path)
                self.ann.scheduled = True
                return True
            if self.ann is not None and self.ann.wants_work:
                self.ann.scheduled = True
                return True
            return False

    def work(self, read: Callable[[], apsw.Connection], stop: Callable[[], bool], progress: Progress | None) -> None:
        ann = self.ann
        if ann is None:
            return
        ann.work(read, lambda: stop() or self._dropped, progress)
        if self._dropped:
            ann.path.unlink(missing_ok=True)
        with self._lock:
            if not ann.ready and not ann.failed:
                self.ann = None

    def shrink(self) -> None:
        """Give back the memory that can be had again by reading."""
        self._exact.forget()

    def drop(self) -> None:
        self._dropped = True
        self._exact.forget()
        if self.ann is not None:
            self.ann.forget()

    def _look_for_file(self, read: Callable[[], apsw.Connection]) -> None:
        with self._looking:
            if self._looked or not self._path.exists():
                self._looked = True
                return
            # It must be told of changes from here on.
            ann = self.ann = self._make_ann(self._space, self._collection_key, self._path)
            ann.open_quickly(read)
            with self._lock:
                self._wants_vectors = ann.ready
                self.ann = ann if ann.ready else None
                self._looked = True

    def _mine(self, eligible: Refs) -> Refs:
        low, high = vectortable.ref_range(self._collection_key)
        mine = eligible[(eligible >= low) & (eligible < high)]
        return mine if (mine[1:] > mine[:-1]).all() else np.unique(mine)

    def _rows_of(self, read: Callable[[], apsw.Connection], refs: Refs) -> tuple[Refs, Rows]:
        view = self._exact.resident()
        if view is None:
            return vectortable.fetch(read(), self._space, refs)
        slots = view.slots_of_distinct(refs)
        return view.refs[slots], view.rows[slots]
