"""A commit: puts, removals, links and expectations, applied as one.

Laws: expectations hold for the state before the commit; links are judged by the state after it. The same content again
changes nothing; other content is a conflict, or with `replace` a new version under the same ref, whose vectors of every
space go in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from libravdb_memory.errors import AppendOnlyError, ConflictError, NotFoundError, StaleVersionError, StoreCorruptError
from libravdb_memory.model import Record
from libravdb_memory.store.drafts import CheckedDraft, check_address, check_count
from libravdb_memory.store.protocol import Commit, Expect, Key, Link, Put, Remove, Write
from libravdb_memory.store.sqlite import lineage
from libravdb_memory.store.sqlite.catalog import Catalog, keep_count
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.lexical import searchable
from libravdb_memory.store.sqlite.schema import PUT, REMOVE, scope_token
from libravdb_memory.store.sqlite.spaces import delete_vectors

_INSERT = (
    "INSERT OR IGNORE INTO record (ref, grp, id, ts, version, hash, metadata, text) VALUES (?, ?, ?, ?, 1, ?, ?, ?)"
)
_STORED = "SELECT ref, ts, version, hash, metadata, text FROM record WHERE id = ? AND grp = ?"
_REPLACE = "UPDATE record SET ts = ?, version = version + 1, hash = ?, metadata = ?, text = ? WHERE ref = ?"
_INDEX = "INSERT INTO fts (rowid, scope, body) VALUES (?, ?, ?)"
_UNINDEX = "INSERT INTO fts (fts, rowid, scope, body) VALUES ('delete', ?, ?, ?)"


class CheckedPut:
    """A put on its way, and afterwards what came of it."""

    __slots__ = ("append_only", "body", "draft", "fresh", "hash", "ref", "replace", "ts", "ts_given", "version")

    def __init__(self, put: Put) -> None:
        self.draft = CheckedDraft(put.draft)
        self.replace = put.replace
        self.append_only = put.append_only
        self.ts_given = put.ts_given
        self.body = searchable(self.draft.text)
        self.ref = self.version = self.ts = 0
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


class CommitWork:
    """Made in the caller's thread, which pays for checking and hashing; applied by the writer."""

    def __init__(
        self, writes: Sequence[Write], catalog: Catalog, path: Path, left: Callable[[Sequence[int]], None]
    ) -> None:
        self._catalog = catalog
        self._path = path
        self._left = left
        self._puts: list[CheckedPut] = []
        self._steps: list[CheckedPut | Remove] = []
        self._links: list[Link] = []
        self._expectations: list[Expect] = []
        self._without_vector: list[int] = []
        self._sequence = 0
        for write in writes:
            self._sort_in(write)

    def result(self) -> Commit:
        puts = self._puts
        return Commit(self._sequence, tuple([put.record() for put in puts]), tuple([put.fresh for put in puts]))

    def apply(self, db: Database) -> None:
        self._without_vector = []
        for expectation in self._expectations:
            self._expect(db, expectation)
        for step in self._steps:
            if isinstance(step, CheckedPut):
                self._put(db, step)
            else:
                self._remove(db, step)
        if self._links:
            self._link(db)
        self._sequence = self._catalog.sequence(db)

    def committed(self) -> None:
        if self._without_vector:
            self._left(self._without_vector)

    def _sort_in(self, write: Write) -> None:
        match write:
            case Put():
                put = CheckedPut(write)
                self._puts.append(put)
                self._steps.append(put)
            case Remove(key):
                check_address(key.collection, key.id, key.group)
                self._steps.append(write)
            case Link(parent, child):
                check_address(parent.collection, parent.id, parent.group)
                check_address(child.collection, child.id, child.group)
                self._links.append(write)
            case Expect(key, version):
                check_address(key.collection, key.id, key.group)
                check_count("version", version)
                self._expectations.append(write)

    def _put(self, db: Database, put: CheckedPut) -> None:
        draft = put.draft
        collection = self._catalog.opened(db, draft.collection, put.append_only)
        group = self._catalog.opened_group(db, collection, draft.group)
        ref = collection.next_ref
        db.execute(_INSERT, (ref, group, draft.id, draft.ts, draft.hash, draft.metadata_json, draft.text))
        if not db.changes():
            self._put_again(db, put, group)
            return
        collection.next_ref = ref + 1
        self._catalog.log(db, ref, PUT)
        db.execute(_INDEX, (ref, scope_token(ref), put.body))
        put.stored(ref, 1)

    def _put_again(self, db: Database, put: CheckedPut, group: int) -> None:
        draft = put.draft
        row = db.execute(_STORED, (draft.id, group)).fetchone()
        if row is None:
            raise StoreCorruptError(self._path, f"the place of record {draft.id!r} is taken by another")
        ref, ts, version, digest, metadata_json, text = row
        if _same(put, digest, metadata_json, text):
            put.found(ref, version, ts, digest)
            return
        if not put.replace:
            raise ConflictError(draft.id)
        if put.append_only:
            raise AppendOnlyError(draft.id)
        scope = scope_token(ref)
        delete_vectors(db, [ref])
        db.execute(_UNINDEX, (ref, scope, searchable(text)))
        db.execute(_REPLACE, (draft.ts, draft.hash, draft.metadata_json, draft.text, ref))
        db.execute(_INDEX, (ref, scope, put.body))
        self._catalog.log(db, ref, PUT)
        self._without_vector.append(ref)
        put.stored(ref, version + 1)

    def _remove(self, db: Database, removal: Remove) -> None:
        found = self._find(db, removal.key)
        if found is None:
            return
        ref, _, append_only = found
        if append_only:
            raise AppendOnlyError(removal.key.id)
        remove_record(db, self._catalog, ref, REMOVE)
        self._without_vector.append(ref)

    def _expect(self, db: Database, expectation: Expect) -> None:
        found = self._find(db, expectation.key)
        version = 0 if found is None else found[1]
        if version != expectation.version:
            raise StaleVersionError(expectation.key.id, expectation.version, version)

    def _link(self, db: Database) -> None:
        refs: dict[Key, int] = {}
        for key in {key for link in self._links for key in (link.parent, link.child)}:
            found = self._find(db, key)
            if found is None:
                raise NotFoundError(key.id)
            refs[key] = found[0]
        for link in self._links:
            parent, child = refs[link.parent], refs[link.child]
            if not lineage.link(db, parent, child):
                raise ConflictError(link.parent.id, f"already lies below {link.child.id!r}: the link would be a cycle")

    def _find(self, db: Database, key: Key) -> tuple[int, int, bool] | None:
        """ref, version and policy of a record."""
        collection = self._catalog.collection(db, key.collection)
        group = None if collection is None else self._catalog.group(db, collection, key.group)
        if collection is None or group is None:
            return None
        row = db.execute("SELECT ref, version FROM record WHERE id = ? AND grp = ?", (key.id, group)).fetchone()
        return None if row is None else (row[0], row[1], collection.append_only)


def remove_record(db: Database, catalog: Catalog, ref: int, kind: int) -> tuple[int, int]:
    """Take a record out of every table; returns how many edges and vectors went with it."""
    text: Any = db.execute("SELECT text FROM record WHERE ref = ?", (ref,)).get
    keep_count(db, [ref])
    vectors = delete_vectors(db, [ref])
    edges = lineage.unlink(db, ref)
    db.execute(_UNINDEX, (ref, scope_token(ref), searchable(text)))
    db.execute("DELETE FROM record WHERE ref = ?", (ref,))
    catalog.log(db, ref, kind)
    return edges, vectors


def _same(put: CheckedPut, digest: str, metadata_json: str, text: str) -> bool:
    if put.draft.hash == digest:
        return True
    return not put.ts_given and put.draft.text == text and put.draft.metadata_json == metadata_json
