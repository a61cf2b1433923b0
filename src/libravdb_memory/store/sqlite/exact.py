"""Exact search of one collection, in memory where it fits.

Law: an answer is as good as a scan of the table made during the call. Vectors that arrive while the table is being
read are kept aside and applied after it, in commit order, so it does not matter which of the two saw them first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.store.sqlite import cosine, vectortable
from libravdb_memory.store.sqlite.resident import Matrix, View

if TYPE_CHECKING:
    import apsw

    from libravdb_memory.store.protocol import Found, Space
    from libravdb_memory.store.sqlite.cosine import Query, Refs, Rows

_POINT_READS = 50_000
_OVERHEAD_BYTES = 1024


class ExactCollection:
    """Loads on the first search; `put` and `remove` keep what is loaded current."""

    def __init__(self, space: Space, collection_key: int) -> None:
        self.space = space
        self.collection_key = collection_key
        self._loading = threading.Lock()
        self._lock = threading.Lock()
        self._matrix: Matrix | None = None
        self._late: list[tuple[Refs, Rows | None]] | None = None
        self._too_big_for = -1
        self.scanned = 0
        """Vectors seen by the last search that had to scan the table."""

    @property
    def nbytes(self) -> int:
        matrix = self._matrix
        return matrix.nbytes + _OVERHEAD_BYTES if matrix else 0

    @property
    def count(self) -> int:
        matrix = self._matrix
        return matrix.count if matrix else self.scanned

    def forget(self) -> None:
        with self._lock:
            self._matrix = None

    def put(self, refs: Refs, rows: Rows) -> None:
        self._apply(refs, rows)

    def remove(self, refs: Refs) -> None:
        self._too_big_for = -1
        self._apply(refs, None)

    def view(
        self, read: Callable[[], apsw.Connection], limit_bytes: int, stop: Callable[[], bool] = lambda: False
    ) -> View | None:
        """The vectors in memory, loaded now if they are not; None when they do not fit, or it was told to stop."""
        matrix = self._matrix
        if matrix is None:
            with self._loading:
                matrix = self._matrix or self._load(read, limit_bytes, stop)
        return matrix.view() if matrix else None

    def resident(self) -> View | None:
        matrix = self._matrix
        return matrix.view() if matrix else None

    def search(
        self, read: Callable[[], apsw.Connection], query: Query, k: int, eligible: Refs | None, limit_bytes: int
    ) -> tuple[Found, ...]:
        view = self.view(read, limit_bytes)
        if view is not None:
            return view.search(query, k, eligible)
        if eligible is not None and eligible.shape[0] <= _POINT_READS:
            return self._search_few(read(), query, k, eligible)
        return self._search_scan(read(), query, k, eligible)

    def _apply(self, refs: Refs, rows: Rows | None) -> None:
        with self._lock:
            if self._late is not None:
                self._late.append((refs, rows))
            matrix = self._matrix
            if matrix is not None:
                _change(matrix, refs, rows)

    def _load(self, read: Callable[[], apsw.Connection], limit_bytes: int, stop: Callable[[], bool]) -> Matrix | None:
        if 0 <= limit_bytes <= self._too_big_for:
            return None
        with self._lock:
            self._late = []
        try:
            matrix = self._read_table(read(), limit_bytes, stop)
            with self._lock:
                if matrix is not None:
                    for refs, rows in self._late:
                        _change(matrix, refs, rows)
                self._matrix = matrix
                return matrix
        finally:
            with self._lock:
                self._late = None

    def _read_table(self, connection: apsw.Connection, limit_bytes: int, stop: Callable[[], bool]) -> Matrix | None:
        row_bytes = self.space.dimensions * 4 + 8
        most = vectortable.span(connection, self.space, self.collection_key)
        matrix = Matrix(self.space.dimensions, min(most, limit_bytes // row_bytes + 1))
        for refs, rows in vectortable.scan(connection, self.space, self.collection_key):
            if matrix.nbytes + refs.shape[0] * row_bytes > limit_bytes:
                self._too_big_for = limit_bytes
                return None
            if stop():
                return None
            matrix.put(refs, rows)
        return matrix

    def _search_few(self, connection: apsw.Connection, query: Query, k: int, eligible: Refs) -> tuple[Found, ...]:
        low, high = vectortable.ref_range(self.collection_key)
        mine = np.unique(eligible[(eligible >= low) & (eligible < high)])
        best: tuple[Found, ...] = ()
        for start in range(0, len(mine), vectortable.BLOCK_ROWS):
            chunk = mine[start : start + vectortable.BLOCK_ROWS]
            refs, rows = vectortable.fetch(connection, self.space, chunk)
            best = cosine.merge((best, cosine.score(refs, rows, query, k)), k)
        return best

    def _search_scan(
        self, connection: apsw.Connection, query: Query, k: int, eligible: Refs | None
    ) -> tuple[Found, ...]:
        best: tuple[Found, ...] = ()
        seen = 0
        for refs, rows in vectortable.scan(connection, self.space, self.collection_key):
            seen += len(refs)
            if eligible is not None:
                wanted = np.isin(refs, eligible)
                refs, rows = refs[wanted], rows[wanted]
            block = Matrix(self.space.dimensions, refs.shape[0])
            block.put(refs, rows)
            best = cosine.merge((best, block.view().search(query, k, None)), k)
        self.scanned = seen
        return best


def _change(matrix: Matrix, refs: Refs, rows: Rows | None) -> None:
    if rows is None:
        matrix.remove(refs)
    else:
        matrix.put(refs, rows)
