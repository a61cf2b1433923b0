"""Marks: named facts about records, beside them.

Law: a mark is there only while its record is. The marks of one label inside a collection are one range of the table, so
what a label lets through is read without looking at records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from libravdb_memory.errors import InvalidInputError, StoreCorruptError
from libravdb_memory.identity import Json
from libravdb_memory.store.drafts import check_address, check_text, object_json
from libravdb_memory.store.protocol import Mark, StoredMark, Unmark
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.schema import first_ref

LABEL = "(SELECT key FROM label WHERE name = ?)"
_SET = "INSERT INTO mark (label, ref, data) VALUES (?, ?, ?) ON CONFLICT (label, ref) DO"
_OVERWRITE = f"{_SET} UPDATE SET data = excluded.data"
_KEEP = f"{_SET} NOTHING"


class CheckedMark:
    """A mark that may be set, with its data in the form that is stored."""

    __slots__ = ("data_json", "key", "label", "overwrite")

    def __init__(self, mark: Mark) -> None:
        check_mark(mark)
        self.key = mark.key
        self.label = mark.label
        self.overwrite = mark.overwrite
        self.data_json = object_json("data", mark.data)


def check_mark(mark: Mark | Unmark) -> None:
    key = mark.key
    check_address(key.collection, key.id, key.group)
    check_label(mark.label)


def check_label(label: str) -> None:
    check_text("label", label)
    if not label:
        raise InvalidInputError("label", "must not be empty")


def set_mark(db: Database, label: int, ref: int, mark: CheckedMark) -> None:
    db.execute(_OVERWRITE if mark.overwrite else _KEEP, (label, ref, mark.data_json))


def take_off(db: Database, label: int, ref: int) -> bool:
    """Whether it was there."""
    db.execute("DELETE FROM mark WHERE label = ? AND ref = ?", (label, ref))
    return bool(db.changes())


def take_off_all(db: Database, ref: int) -> None:
    db.execute("DELETE FROM mark WHERE ref = ?", (ref,))


def drop_unused_labels(db: Database) -> None:
    db.execute("DELETE FROM label WHERE NOT EXISTS (SELECT 1 FROM mark WHERE mark.label = label.key)")


def marks_of(db: Database, refs: Sequence[int], label: str, path: Path) -> dict[int, Mapping[str, Json]]:
    sql = f"SELECT ref, data FROM mark WHERE label = {LABEL} AND ref IN (SELECT value FROM json_each(?))"  # noqa: S608
    rows = db.execute(sql, (label, json.dumps([int(ref) for ref in refs])))
    return {ref: _data_of(ref, data, path) for ref, data in rows}


def count_marks(db: Database, label: str, collection_key: int | None) -> int:
    sql = f"SELECT count(*) FROM mark WHERE label = {LABEL}"  # noqa: S608
    if collection_key is None:
        return int(db.execute(sql, (label,)).get)
    bounds = (first_ref(collection_key), first_ref(collection_key + 1))
    return int(db.execute(f"{sql} AND ref >= ? AND ref < ?", (label, *bounds)).get)


def newest_marks(
    db: Database, label: str, collection_key: int | None, limit: int, path: Path
) -> tuple[StoredMark, ...]:
    low, high = (0, (1 << 63) - 1) if collection_key is None else map(first_ref, (collection_key, collection_key + 1))
    sql = f"SELECT ref, data FROM mark WHERE label = {LABEL} AND ref >= ? AND ref < ? ORDER BY ref DESC LIMIT ?"  # noqa: S608
    rows = db.execute(sql, (label, low, high, limit))
    return tuple(StoredMark(ref, label, _data_of(ref, data, path)) for ref, data in rows)


def all_marks(db: Database, after: tuple[int, str] | None, limit: int, path: Path) -> tuple[StoredMark, ...]:
    ref, name = after or (-1, "")
    rows = db.execute(
        "SELECT m.ref, l.name, m.data FROM mark m JOIN label l ON l.key = m.label "
        "WHERE m.ref >= ? AND (m.ref > ? OR l.name > ?) ORDER BY m.ref, l.name LIMIT ?",
        (ref, ref, name, limit),
    )
    return tuple(StoredMark(ref, name, _data_of(ref, data, path)) for ref, name, data in rows)


def _data_of(ref: int, data_json: str, path: Path) -> dict[str, Json]:
    try:
        data: dict[str, Json] = json.loads(data_json)
    except ValueError as error:
        raise StoreCorruptError(path, f"a mark of record {ref} is not JSON ({error})") from error
    return data
