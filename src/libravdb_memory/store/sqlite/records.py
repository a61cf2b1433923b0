"""Reading records: by address, by ref, page by page; collections, lineage and the change log.

Law: a cursor is the ref it stopped at, so it stays valid while records come and go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.model import Record
from libravdb_memory.store.protocol import Change, CollectionInfo, Filter, Key, Page
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.filters import condition_of
from libravdb_memory.store.sqlite.marks import LABEL
from libravdb_memory.store.sqlite.rows import RECORD_COLUMNS, RECORD_TABLES, record_of
from libravdb_memory.store.sqlite.schema import ERASE, PUT, PUT_UNSEARCHABLE, REF_BITS, REMOVE, first_ref

_KINDS: dict[int, Literal["put", "remove", "erase"]] = {
    PUT: "put",
    PUT_UNSEARCHABLE: "put",
    REMOVE: "remove",
    ERASE: "erase",
}
_CURSOR = re.compile("([0-9a-f]{1,6})[.]([0-9a-f]{1,10})")
"""The key of a collection and a running number, of 24 and 40 bits at most."""
_SELECT = f"SELECT {RECORD_COLUMNS} FROM {RECORD_TABLES}"  # noqa: S608
# The order of a CROSS JOIN is kept: marks first, then their records.
_SELECT_MARKED = (
    f"SELECT {RECORD_COLUMNS} FROM mark m CROSS JOIN record r ON r.ref = m.ref "  # noqa: S608
    f"JOIN grp g ON g.key = r.grp JOIN collection c ON c.key = g.collection WHERE m.label = {LABEL} AND"
)


def collection_key(db: Database, name: str) -> int | None:
    key: int | None = db.execute("SELECT key FROM collection WHERE name = ?", (name,)).get
    return key


def searchable_key(db: Database, name: str) -> int | None:
    """The key of a collection that searches may look into."""
    key: int | None = db.execute("SELECT key FROM collection WHERE name = ? AND searchable", (name,)).get
    return key


def count(db: Database, collection_key: int) -> int:
    sql = "SELECT count(*) FROM grp g JOIN record r ON r.grp = g.key WHERE g.collection = ?"
    return int(db.execute(sql, (collection_key,)).get)


def get(db: Database, key: Key, path: Path) -> Record | None:
    sql = f"{_SELECT} WHERE c.name = ? AND g.name = ? AND r.id = ?"
    row = db.execute(sql, (key.collection, key.group, key.id)).fetchone()
    return None if row is None else record_of(row, path)


def find(db: Database, record_id: str, path: Path) -> tuple[Record, ...]:
    rows = db.execute(f"{_SELECT} WHERE r.id = ? ORDER BY r.ref", (record_id,))
    return tuple(record_of(row, path) for row in rows)


def fetch(db: Database, refs: Sequence[int], path: Path) -> dict[int, Record]:
    sql = f"{_SELECT} WHERE r.ref IN (SELECT value FROM json_each(?))"  # noqa: S608
    rows = db.execute(sql, (json.dumps([int(ref) for ref in refs]),))
    found = {row[0]: record_of(row, path) for row in rows}
    return {ref: found[ref] for ref in refs if ref in found}


def page(
    db: Database,
    collection: str,
    path: Path,
    *,
    where: Filter | None,
    after: str | None,
    limit: int,
    newest_first: bool,
) -> Page:
    key = collection_key(db, collection)
    condition = condition_of(where, key or 0)
    stop = None if after is None else ref_at(after, key)
    if key is None:
        return Page((), None)
    low, high = first_ref(key), first_ref(key + 1)
    if stop is not None:
        low, high = (low, stop) if newest_first else (stop + 1, high)
    order = "DESC" if newest_first else "ASC"
    if condition.label is None:
        sql = f"{_SELECT} WHERE r.ref >= ? AND r.ref < ? AND ({condition.sql}) ORDER BY r.ref {order} LIMIT ?"
        values = (low, high, *condition.values, limit + 1)
    else:
        sql = f"{_SELECT_MARKED} m.ref >= ? AND m.ref < ? AND ({condition.sql}) ORDER BY m.ref {order} LIMIT ?"
        values = (condition.label, low, high, *condition.values, limit + 1)
    rows = db.execute(sql, values).fetchall()
    records = tuple(record_of(row, path) for row in rows[:limit])
    return Page(records, cursor_at(records[-1].ref) if records and len(rows) > limit else None)


def collections(db: Database, prefix: str) -> tuple[CollectionInfo, ...]:
    """Those that hold records, in order of creation."""
    rows = db.execute(
        "SELECT c.name, c.append_only, c.searchable, "
        "(SELECT count(*) FROM grp g JOIN record r ON r.grp = g.key WHERE g.collection = c.key) "
        "FROM collection c WHERE instr(c.name, ?) = 1 ORDER BY c.key",
        (prefix,),
    )
    return tuple(
        CollectionInfo(name, count, bool(append_only), bool(searchable))
        for name, append_only, searchable, count in rows
        if count
    )


def children(db: Database, key: Key, path: Path) -> tuple[Record, ...]:
    return _neighbours(db, key, path, "parent", "child")


def parents(db: Database, key: Key, path: Path) -> tuple[Record, ...]:
    return _neighbours(db, key, path, "child", "parent")


def edges(db: Database, after: tuple[int, int] | None, limit: int) -> tuple[tuple[int, int], ...]:
    sql = "SELECT parent, child FROM edge WHERE (parent, child) > (?, ?) ORDER BY parent, child LIMIT ?"
    return tuple((parent, child) for parent, child in db.execute(sql, (*(after or (-1, -1)), limit)))


def changes_since(db: Database, sequence: int, limit: int) -> tuple[Change, ...]:
    sql = "SELECT sequence, ref, kind FROM change WHERE sequence > ? ORDER BY sequence LIMIT ?"
    rows = db.execute(sql, (sequence, limit))
    return tuple(Change(number, ref, _KINDS[kind], kind != PUT_UNSEARCHABLE) for number, ref, kind in rows)


def _neighbours(db: Database, key: Key, path: Path, mine: str, theirs: str) -> tuple[Record, ...]:
    record = get(db, key, path)
    if record is None:
        return ()
    sql = f"{_SELECT} WHERE r.ref IN (SELECT {theirs} FROM edge WHERE {mine} = ?) ORDER BY r.ref"  # noqa: S608
    return tuple(record_of(row, path) for row in db.execute(sql, (record.ref,)))


def cursor_at(ref: int) -> str:
    return f"{ref >> REF_BITS:x}.{ref & (1 << REF_BITS) - 1:x}"


def ref_at(cursor: object, collection_key: int | None) -> int:
    """Where a cursor stopped in this collection; of one that is not there, and may have been, wherever it did."""
    if not isinstance(cursor, str):
        raise InvalidInputError("after", f"must be text, not {type(cursor).__name__}")
    if (parts := _CURSOR.fullmatch(cursor)) is None:
        raise InvalidInputError("after", f"{cursor!r} is no cursor of this store")
    collection, number = (int(part, 16) for part in parts.groups())
    if collection != collection_key and collection_key is not None:
        raise InvalidInputError("after", f"{cursor!r} is no cursor of this list")
    return collection << REF_BITS | number
