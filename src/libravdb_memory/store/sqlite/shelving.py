"""Between the store and its vectors: input checks, eligible refs, and the shelf that is made on first use."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.store.protocol import Filter, Space
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.filters import Condition, condition_of
from libravdb_memory.store.sqlite.marked import MarkedRefs
from libravdb_memory.store.sqlite.marks import LABEL
from libravdb_memory.store.sqlite.schema import REF_BITS, first_ref

if TYPE_CHECKING:
    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from libravdb_memory.store.sqlite.vectors import VectorShelf


class ShelfPlace:
    """Holds the shelf once somebody searched; news about vectors matter to nobody before.

    A vector is in the database a moment before it is on the shelf. Until it is there it counts as arriving, so that
    no search in between calls itself complete.
    """

    def __init__(self, make: Callable[[], VectorShelf]) -> None:
        self._make = make
        self._guard = threading.Lock()
        self._shelf: VectorShelf | None = None
        self._arriving: Counter[int] = Counter()

    @property
    def opened(self) -> VectorShelf | None:
        return self._shelf

    def shelf(self) -> VectorShelf:
        with self._guard:
            if self._shelf is None:
                self._shelf = self._make()
            return self._shelf

    @contextmanager
    def arriving(self, refs: Sequence[int]) -> Generator[None]:
        """These are being written, and are on the shelf at the end."""
        counts = Counter(ref >> REF_BITS for ref in refs)
        with self._guard:
            self._arriving += counts
        try:
            yield
        finally:
            with self._guard:
                self._arriving -= counts

    def missing(self, collection_key: int) -> int:
        """How many of a collection may be in the database and not on the shelf yet."""
        return self._arriving[collection_key]

    def removed(self, refs: Sequence[int]) -> None:
        if self._shelf is not None:
            self._shelf.removed(refs)

    def erased(self, refs: Sequence[int]) -> None:
        if self._shelf is not None:
            self._shelf.erased(refs)

    def added(self, space_key: int, refs: Sequence[int], rows: NDArray[np.float32], positions: Sequence[int]) -> None:
        if self._shelf is not None and positions:
            self._shelf.added(space_key, [refs[position] for position in positions], rows[list(positions)])

    def dropped(self, space_key: int) -> None:
        if self._shelf is not None:
            self._shelf.dropped(space_key)

    def close(self) -> None:
        with self._guard:
            if self._shelf is not None:
                self._shelf.close()


def check_vectors(
    space: Space, refs: Sequence[int], vectors: object, versions: Sequence[int] | None
) -> NDArray[np.float32]:
    """As rows of little-endian f32, one per ref."""
    if versions is not None and len(versions) != len(refs):
        raise InvalidInputError("versions", f"are {len(versions)}, not {len(refs)}")
    rows = _as_floats("vectors", vectors)
    if rows.shape != (len(refs), space.dimensions):
        wanted = (len(refs), space.dimensions)
        raise InvalidInputError("vectors", f"have the shape {rows.shape}, not {wanted}")
    return rows


def check_query(space: Space, vector: object) -> NDArray[np.float32]:
    row = _as_floats("vector", vector)
    if row.shape != (space.dimensions,):
        raise InvalidInputError("vector", f"has the shape {row.shape}, not ({space.dimensions},)")
    return row


def eligible_refs(
    db: Database, collection_key: int, where: Filter | None, known: MarkedRefs
) -> NDArray[np.int64] | None:
    """The refs a filter lets through, ascending; None when there is no filter."""
    if where is None:
        return None
    condition = condition_of(where, collection_key)
    if condition.label is None or condition.looks_at_records:
        return _scanned(db, collection_key, condition)
    return known.refs((collection_key, condition.label), lambda: _scanned(db, collection_key, condition))


def _scanned(db: Database, collection_key: int, condition: Condition) -> NDArray[np.int64]:
    import numpy as np

    bounds = (first_ref(collection_key), first_ref(collection_key + 1))
    if condition.label is None:
        sql = f"SELECT r.ref FROM record r WHERE r.ref >= ? AND r.ref < ? AND ({condition.sql}) ORDER BY r.ref"  # noqa: S608
        rows = db.execute(sql, (*bounds, *condition.values))
    else:
        # The order of a CROSS JOIN is kept: marks first, then their records, if those are looked at.
        records = "CROSS JOIN record r ON r.ref = m.ref" if condition.looks_at_records else ""
        sql = (
            f"SELECT m.ref FROM mark m {records} WHERE m.label = {LABEL} AND m.ref >= ? AND m.ref < ? "  # noqa: S608
            f"AND ({condition.sql}) ORDER BY m.ref"
        )
        rows = db.execute(sql, (condition.label, *bounds, *condition.values))
    return np.fromiter((ref for (ref,) in rows), np.int64)


def similarities(
    shelf: VectorShelf, space: Space, collection_key: int, vector: object, refs: Sequence[int]
) -> dict[int, float]:
    import numpy as np

    return shelf.similarities(space, collection_key, check_query(space, vector), np.array(refs, np.int64))


def stored_vectors(connection: apsw.Connection, space: Space, refs: Sequence[int]) -> dict[int, NDArray[np.float32]]:
    import numpy as np

    from libravdb_memory.store.sqlite import vectortable

    found, rows = vectortable.fetch(connection, space, np.array(refs, np.int64))
    return dict(zip(found.tolist(), rows, strict=True))


def _as_floats(field: str, values: object) -> NDArray[np.float32]:
    import numpy as np

    try:
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(values, dtype="<f4")
    except (TypeError, ValueError) as error:
        raise InvalidInputError(field, f"are no numbers: {error}") from None
    if not np.isfinite(rows).all():
        raise InvalidInputError(field, "hold NaN or infinity")
    return rows
