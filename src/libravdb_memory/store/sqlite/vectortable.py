"""Reading the vector tables: `vector_<space>(ref INTEGER PRIMARY KEY, data BLOB)`, little-endian f32.

Law: a read is one statement, so it sees one moment of the table. A row of the wrong length is an error, never skipped.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from libravdb_memory.errors import StoreCorruptError
from libravdb_memory.store.protocol import Space

if TYPE_CHECKING:
    import apsw

    from libravdb_memory.store.sqlite.cosine import Refs, Rows

COLLECTION_SHIFT = 40
# Blocks that stay in the processor's cache load twice as fast as large ones.
BLOCK_ROWS = 256


def ref_range(collection_key: int) -> tuple[int, int]:
    """First ref of a collection, and first one after it."""
    return collection_key << COLLECTION_SHIFT, (collection_key + 1) << COLLECTION_SHIFT


def span(connection: apsw.Connection, space: Space, collection_key: int) -> int:
    """At least as many as the collection has vectors; costs two seeks."""
    low, high = ref_range(collection_key)
    where = f"FROM vector_{space.key:d} WHERE ref >= ? AND ref < ?"
    statement = f"SELECT ifnull((SELECT max(ref) {where}) - (SELECT min(ref) {where}) + 1, 0), x''"
    ((most, _),) = _rows(connection, statement, (low, high, low, high))
    return most


def edits(connection: apsw.Connection, space: Space, collection_key: int) -> int:
    """How often vectors of the collection were changed, removed, or put between others."""
    statement = "SELECT ifnull((SELECT number FROM edits WHERE space = ? AND collection = ?), 0), x''"
    ((number, _),) = _rows(connection, statement, (space.key, collection_key))
    return number


def scan(
    connection: apsw.Connection,
    space: Space,
    collection_key: int | None,
    block_rows: int = BLOCK_ROWS,
    after: int = -1,
) -> Iterator[tuple[Refs, Rows]]:
    """All vectors of a collection (None: of all) after a ref, by ascending ref, in blocks."""
    low, high = (0, 2**63 - 1) if collection_key is None else ref_range(collection_key)
    low = max(low, after + 1)
    statement = f"SELECT ref, data FROM vector_{space.key:d} WHERE ref >= ? AND ref < ? ORDER BY ref"  # noqa: S608
    rows = _rows(connection, statement, (low, high))
    while block := list(islice(rows, block_rows)):
        yield _decode(connection, space, block)


def fetch(connection: apsw.Connection, space: Space, refs: Refs) -> tuple[Refs, Rows]:
    """The vectors of those refs that have one, in this order."""
    # The order of a CROSS JOIN is kept: one lookup for each ref.
    statement = f"SELECT v.ref, v.data FROM json_each(?) j CROSS JOIN vector_{space.key:d} v ON v.ref = j.value"  # noqa: S608
    return _decode(connection, space, list(_rows(connection, statement, (json.dumps(refs.tolist()),))))


def fault_of(space: Space, data: bytes) -> str:
    """Why this cannot be a vector of the space; empty when it can."""
    if len(data) != 4 * space.dimensions:
        return f"has {len(data)} bytes"
    return "" if np.isfinite(np.frombuffer(data, "<f4")).all() else "holds NaN or infinity"


def _rows(connection: apsw.Connection, statement: str, values: tuple[int | str, ...]) -> Iterator[tuple[int, bytes]]:
    # apsw types a blob by a protocol that older checkers do not know.
    execute = cast("Callable[[str, tuple[int | str, ...]], Iterator[tuple[int, bytes]]]", connection.execute)  # pyright: ignore[reportUnknownMemberType]
    return execute(statement, values)


def _decode(connection: apsw.Connection, space: Space, block: list[tuple[int, bytes]]) -> tuple[Refs, Rows]:
    if not block:
        return np.empty(0, np.int64), np.empty((0, space.dimensions), np.float32)
    keys, blobs = zip(*block, strict=True)
    size = space.dimensions * 4
    # A damaged row need not have the types of its columns.
    if set(map(type, blobs)) != {bytes} or set(map(len, blobs)) != {size} or set(map(type, keys)) != {int}:
        raise StoreCorruptError(Path(connection.db_filename("main")), _first_fault(space, block, size))
    rows = np.frombuffer(b"".join(blobs), "<f4").reshape(len(block), space.dimensions)
    return np.array(keys, np.int64), rows if sys.byteorder == "little" else rows.astype(np.float32)


def _first_fault(space: Space, block: list[tuple[int, bytes]], size: int) -> str:
    for ref, data in cast("list[tuple[object, object]]", block):
        if not isinstance(data, bytes):
            return f"vector {ref} of space {space.key} is no blob"
        if len(data) != size:
            return f"vector {ref} of space {space.key} has {len(data)} bytes, not {size}"
    return f"a vector of space {space.key} has no ref"
