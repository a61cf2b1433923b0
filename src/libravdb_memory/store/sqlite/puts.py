"""Putting records: many in few statements.

A statement that inserts many rows runs inside SQLite in one go, while other threads prepare their own records; row by
row, every step would wait for the interpreter. So new records are inserted in rows of up to 64, without looking first;
only those that turn out to be there already are compared one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from libravdb_memory.errors import AppendOnlyError, ConflictError
from libravdb_memory.model import Record
from libravdb_memory.store.drafts import CheckedDraft
from libravdb_memory.store.protocol import Put
from libravdb_memory.store.sqlite.catalog import Catalog
from libravdb_memory.store.sqlite.database import Database, Value
from libravdb_memory.store.sqlite.lexical import searchable
from libravdb_memory.store.sqlite.schema import PUT, PUT_UNSEARCHABLE
from libravdb_memory.store.sqlite.spaces import delete_vectors

_ROWS_AT_ONCE = (64, 32, 16, 8, 4, 2, 1)  # few enough that all the statements stay prepared
_INSERT = "INSERT OR IGNORE INTO record (ref, grp, id, ts, version, hash, metadata, text) VALUES"
_LOG = "INSERT INTO change (sequence, ref, kind) VALUES"
_INDEX = "INSERT INTO fts (rowid, body) VALUES"
_UNINDEX = "INSERT INTO fts (fts, rowid, body) VALUES ('delete', ?, ?)"
_STORED = "SELECT ref, ts, version, hash, metadata, text FROM record WHERE id = ? AND grp = ?"
_REPLACE = "UPDATE record SET ts = ?, version = version + 1, hash = ?, metadata = ?, text = ? WHERE ref = ?"


class CheckedPut:
    """A put on its way, and afterwards what came of it."""

    __slots__ = (
        "append_only",
        "body",
        "draft",
        "fresh",
        "group",
        "hash",
        "ref",
        "replace",
        "searchable",
        "ts",
        "ts_given",
        "version",
    )

    def __init__(self, put: Put) -> None:
        self.draft = CheckedDraft(put.draft)
        self.replace = put.replace
        self.append_only = put.append_only
        self.ts_given = put.ts_given
        self.searchable = put.searchable
        self.body = searchable(self.draft.text) if put.searchable else ""
        self.group = self.ref = self.version = self.ts = 0
        self.hash = ""
        self.fresh = False

    def stored(self, ref: int, version: int) -> None:
        self.ref, self.version, self.ts, self.hash, self.fresh = ref, version, self.draft.ts, self.draft.hash, True

    def found(self, ref: int, version: int, ts: int, digest: str) -> None:
        self.ref, self.version, self.ts, self.hash, self.fresh = ref, version, ts, digest, False

    def record(self) -> Record:
        """As stored: text and metadata are the draft's own in every outcome."""
        to, draft = self, self.draft
        return Record(
            to.ref, draft.collection, draft.group, draft.id, to.ts, draft.text, draft.metadata, to.hash, to.version
        )


def put_all(db: Database, catalog: Catalog, puts: Sequence[CheckedPut]) -> list[int]:
    """Put them, or raise. Returns the refs whose content was replaced, which have no vectors any more."""
    stage(db, catalog, puts)
    return [ref for put in insert(db, catalog, puts) if (ref := put_again(db, catalog, put))]


def stage(db: Database, catalog: Catalog, puts: Sequence[CheckedPut]) -> None:
    """Give each its place; a place that is not taken in the end stays empty."""
    for put in puts:
        collection = catalog.opened(db, put.draft.collection, put.append_only, put.searchable)
        put.group = catalog.opened_group(db, collection, put.draft.group)
        put.ref = collection.next_ref
        collection.next_ref += 1


def insert(db: Database, catalog: Catalog, staged: Sequence[CheckedPut]) -> list[CheckedPut]:
    """Insert what is new; returns the others, whose address is taken."""
    taken: list[CheckedPut] = []
    for some in _chunks(staged):
        db.execute(_with_rows(_INSERT, "(?, ?, ?, ?, 1, ?, ?, ?)", len(some)), _record_values(some))
        fresh = some
        if db.changes() != len(some):
            fresh = [put for put in some if _is_in(db, put)]
            taken.extend(put for put in some if put not in fresh)
        for put in fresh:
            put.stored(put.ref, 1)
        for new in _chunks(fresh):
            _log_and_index(db, catalog, new)
    return taken


def put_again(db: Database, catalog: Catalog, put: CheckedPut) -> int | None:
    """The address is taken: by the same content, or this replaces it or is refused. Returns the ref if replaced."""
    draft = put.draft
    row = db.execute(_STORED, (draft.id, put.group)).fetchone()
    assert row is not None, "the insert was ignored, so the address is taken"
    ref, ts, version, digest, metadata_json, text = row
    if _same(put, digest, metadata_json, text):
        put.found(ref, version, ts, digest)
        return None
    if not put.replace:
        raise ConflictError(draft.id)
    if put.append_only:
        raise AppendOnlyError(draft.id)
    delete_vectors(db, [ref])
    if put.searchable:
        unindex(db, ref, text)
    db.execute(_REPLACE, (draft.ts, draft.hash, draft.metadata_json, draft.text, ref))
    put.stored(ref, version + 1)
    _log_and_index(db, catalog, [put])
    return int(ref)


def unindex(db: Database, ref: int, text: str) -> None:
    db.execute(_UNINDEX, (ref, searchable(text)))


def _same(put: CheckedPut, digest: str, metadata_json: str, text: str) -> bool:
    if put.draft.hash == digest:
        return True
    return not put.ts_given and put.draft.text == text and put.draft.metadata_json == metadata_json


def _is_in(db: Database, put: CheckedPut) -> bool:
    return db.execute("SELECT 1 FROM record WHERE ref = ?", (put.ref,)).get is not None


def _record_values(puts: Sequence[CheckedPut]) -> list[Value]:
    values: list[Value] = []
    for put in puts:
        draft = put.draft
        values += (put.ref, put.group, draft.id, draft.ts, draft.hash, draft.metadata_json, draft.text)
    return values


def _log_and_index(db: Database, catalog: Catalog, puts: Sequence[CheckedPut]) -> None:
    sequence = catalog.advance(db, len(puts))
    changes: list[Value] = []
    entries: list[Value] = []
    for put in puts:
        if put.searchable:
            changes += (sequence, put.ref, PUT)
            entries += (put.ref, put.body)
        else:
            changes += (sequence, put.ref, PUT_UNSEARCHABLE)
        sequence += 1
    db.execute(_with_rows(_LOG, "(?, ?, ?)", len(puts)), changes)
    if entries:
        db.execute(_with_rows(_INDEX, "(?, ?)", len(entries) // 2), entries)


def _chunks(puts: Sequence[CheckedPut]) -> Iterator[Sequence[CheckedPut]]:
    start = 0
    for size in _ROWS_AT_ONCE:
        while len(puts) - start >= size:
            yield puts[start : start + size]
            start += size


@cache
def _with_rows(statement: str, row: str, number: int) -> str:
    return f"{statement} {', '.join([row] * number)}"
