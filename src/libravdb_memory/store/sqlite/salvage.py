"""What can still be read of a damaged data file.

Laws: nothing is changed. A record is given whole, exactly as its hash says, or counted as unreadable. Damage in one
place does not hide what lies behind it: rows are looked for from both ends, in the table, its indexes and the change
log, and then read one by one.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import apsw

from libravdb_memory.errors import StoreError
from libravdb_memory.identity import Json
from libravdb_memory.model import Record
from libravdb_memory.store.protocol import CollectionInfo, Page, StoredMark
from libravdb_memory.store.sqlite.connections import connect
from libravdb_memory.store.sqlite.database import Database, Row
from libravdb_memory.store.sqlite.files import holds_store
from libravdb_memory.store.sqlite.lock import OwnerLock
from libravdb_memory.store.sqlite.ownlog import refuse_foreign_log
from libravdb_memory.store.sqlite.schema import PUT, PUT_UNSEARCHABLE, REF_BITS, first_ref
from libravdb_memory.store.sqlite.verify import agrees

_REFS = (
    "SELECT ref FROM record NOT INDEXED ORDER BY ref {order}",
    "SELECT ref FROM record INDEXED BY record_grp ORDER BY grp {order}, ref {order}",
    "SELECT ref FROM record INDEXED BY record_address ORDER BY id {order}, grp {order}",
)
_COLLECTIONS = (
    "SELECT key, CAST(name AS BLOB), append_only, searchable FROM collection NOT INDEXED ORDER BY key {order}"
)
_GROUPS = "SELECT key, collection, CAST(name AS BLOB) FROM grp NOT INDEXED ORDER BY key {order}"
_LABELS = "SELECT key, CAST(name AS BLOB) FROM label NOT INDEXED ORDER BY key {order}"
_MARKS = "SELECT ref, label, CAST(data AS BLOB) FROM mark NOT INDEXED ORDER BY label {order}, ref {order}"
_EDGES = (
    "SELECT parent, child FROM edge NOT INDEXED ORDER BY parent {order}, child {order}",
    "SELECT parent, child FROM edge INDEXED BY edge_child ORDER BY child {order}, parent {order}",
)
_RECORD = (
    "SELECT grp, CAST(id AS BLOB), ts, version, CAST(hash AS BLOB), CAST(metadata AS BLOB), CAST(text AS BLOB) "
    "FROM record NOT INDEXED WHERE ref = ?"
)
_RESTORE = "libravdb restore BACKUP"
_WIDEST_GAPS = 4  # numbers that lead nowhere, for each known record, before only known ones are tried


class Salvage:
    """A data file to export from; it offers what an export reads of a store."""

    def __init__(self, data: Path) -> None:
        self._lock, self._db = _opened(data)
        self._collections = {
            key: (name.decode(), bool(append_only), bool(searchable))
            for key, name, append_only, searchable in self._rows(_COLLECTIONS)
            if _is_text(name)
        }
        self._groups: dict[int, tuple[int, bytes]] = {
            key: (collection, name) for key, collection, name in self._rows(_GROUPS) if _is_text(name)
        }
        self._known, self._gone = self._gathered()
        self._tries: dict[int, Sequence[int]] = {key: self._to_try(key) for key in sorted(self._collections)}
        self._lost = {ref for ref in self._known if ref >> REF_BITS not in self._collections}
        self._edge_rows: list[tuple[int, int]] | None = None
        self._mark_rows: list[tuple[tuple[int, str], Mapping[str, Json]]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()
        self._lock.release()

    @property
    def unreadable(self) -> int:
        """Records that are or may have been there, met so far, that cannot be given."""
        return len(self._lost)

    # ── what an export reads ─────────────────────────────────────────────────────────────────────────────────────

    def collections(self, prefix: str = "") -> tuple[CollectionInfo, ...]:
        """Those whose names can be read; `count` is how many refs will be tried."""
        found = [(self._collections[key], len(tried)) for key, tried in self._tries.items() if tried]
        return tuple(
            CollectionInfo(name, count, append_only, searchable)
            for (name, append_only, searchable), count in found
            if name.startswith(prefix)
        )

    def page(self, collection: str, *, after: str | None = None, limit: int = 1000) -> Page:
        tried = self._tries[next(key for key, (name, *_) in self._collections.items() if name == collection)]
        at = 0 if after is None else int(after)
        records: list[Record] = []
        while at < len(tried) and len(records) < limit:
            record = self._record(tried[at])
            if record is None:
                self._note_lost(tried[at])
            else:
                records.append(record)
            at += 1
        return Page(tuple(records), str(at) if at < len(tried) else None)

    def fetch(self, refs: Sequence[int]) -> dict[int, Record]:
        found = {ref: self._record(ref) for ref in refs}
        return {ref: record for ref, record in found.items() if record is not None}

    def edges(self, after: tuple[int, int] | None = None, limit: int = 10_000) -> tuple[tuple[int, int], ...]:
        if self._edge_rows is None:
            self._edge_rows = sorted({(parent, child) for sql in _EDGES for parent, child in self._rows(sql)})
        start = 0 if after is None else bisect_right(self._edge_rows, after)
        return tuple(self._edge_rows[start : start + limit])

    def all_marks(self, after: tuple[int, str] | None = None, limit: int = 10_000) -> tuple[StoredMark, ...]:
        if self._mark_rows is None:
            self._mark_rows = sorted(self._marks(), key=lambda row: row[0])
        start = 0 if after is None else bisect_right(self._mark_rows, after, key=lambda row: row[0])
        return tuple(StoredMark(ref, label, data) for (ref, label), data in self._mark_rows[start : start + limit])

    # ── around the damage ────────────────────────────────────────────────────────────────────────────────────────

    def _rows(self, sql: str) -> list[Row]:
        """What a statement gives up to the damage, from the one end and from the other."""
        found: dict[Row, None] = {}
        for order in ("ASC", "DESC"):
            try:
                for row in self._db.execute(sql.format(order=order)):
                    found[row] = None
            except (apsw.Error, ValueError):
                continue
            break  # nothing was in the way
        return list(found)

    def _gathered(self) -> tuple[set[int], set[int]]:
        """The refs that something names, and those that the change log says have left."""
        named = {ref for sql in _REFS for (ref,) in self._rows(sql)}
        log = self._rows("SELECT sequence, ref, kind FROM change ORDER BY sequence {order}")
        last = {ref: kind for _, ref, kind in sorted(log) if isinstance(ref, int)}
        there = {ref for ref, kind in last.items() if kind in (PUT, PUT_UNSEARCHABLE)}
        return named | there, last.keys() - there - named

    def _to_try(self, key: int) -> Sequence[int]:
        """The refs of a collection to look at: all up to the highest, unless most of them never were."""
        known = sorted(ref for ref in self._known if ref >> REF_BITS == key)
        if not known:
            return ()
        every = range(first_ref(key) + 1, known[-1] + 1)
        return every if len(every) <= _WIDEST_GAPS * len(known) else known

    def _note_lost(self, ref: int) -> None:
        if ref in self._known or (ref not in self._gone and not self._is_absent(ref)):
            self._lost.add(ref)

    def _is_absent(self, ref: int) -> bool:
        try:
            return self._db.execute(_RECORD, (ref,)).fetchone() is None
        except apsw.Error:
            return False

    def _record(self, ref: int) -> Record | None:
        try:
            row = self._db.execute(_RECORD, (ref,)).fetchone()
        except apsw.Error:
            return None
        return None if row is None else self._checked(ref, row)

    def _checked(self, ref: int, row: tuple[Any, ...]) -> Record | None:
        group_key, record_id, ts, version, digest, metadata, text = row
        collection, group = self._groups.get(group_key, (-1, b""))
        if collection != ref >> REF_BITS or collection not in self._collections:
            return None
        if not agrees(digest, group, record_id, ts, text, metadata):
            return None
        name = self._collections[collection][0]
        facts: dict[str, Json] = json.loads(metadata)
        return Record(ref, name, group.decode(), record_id.decode(), ts, text.decode(), facts, digest.decode(), version)

    def _marks(self) -> Iterator[tuple[tuple[int, str], Mapping[str, Json]]]:
        labels = {key: name.decode() for key, name in self._rows(_LABELS) if _is_text(name)}
        for ref, label, data in self._rows(_MARKS):
            try:
                yield (ref, labels[label]), json.loads(data)
            except (KeyError, ValueError):
                continue


def _opened(data: Path) -> tuple[OwnerLock, Database]:
    if not holds_store(data):
        raise StoreError(f"{data} holds nothing to be read", _RESTORE)
    lock = OwnerLock(data)
    try:
        refuse_foreign_log(data)
        db = connect(data, apsw.SQLITE_OPEN_READONLY)
        db.pragma("cell_size_check", 1)
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except BaseException as error:
        lock.release()
        if isinstance(error, apsw.Error):
            raise StoreError(f"{data} is damaged beyond reading: {error}", _RESTORE) from error
        raise
    return lock, db


def _is_text(raw: object) -> bool:
    try:
        str(raw, "utf-8") if isinstance(raw, bytes) else None
    except UnicodeDecodeError:
        return False
    return isinstance(raw, bytes)
