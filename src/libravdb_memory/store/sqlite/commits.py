"""A commit: puts, removals, links, marks and expectations, applied as one.

Laws: expectations hold for the state before the commit; links and marks are judged by the state after it. The same
content again changes nothing; other content is a conflict, or with `replace` a new version under the same ref, whose
vectors of every space go in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from libravdb_memory.errors import AppendOnlyError, ConflictError, NotFoundError, StaleVersionError
from libravdb_memory.store.drafts import check_address, check_count
from libravdb_memory.store.protocol import Commit, Expect, Key, Link, Mark, Put, Remove, Unmark, Write
from libravdb_memory.store.sqlite import lineage, marks
from libravdb_memory.store.sqlite.catalog import Catalog, keep_count
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.marked import MarkedRefs
from libravdb_memory.store.sqlite.puts import CheckedPut, put_all, unindex
from libravdb_memory.store.sqlite.schema import REF_BITS, REMOVE
from libravdb_memory.store.sqlite.spaces import delete_vectors

_SEARCHABLE_TEXT = (
    f"SELECT c.searchable, r.text FROM record r JOIN collection c ON c.key = r.ref >> {REF_BITS} WHERE r.ref = ?"  # noqa: S608
)


class CommitWork:
    """Made in the caller's thread, which pays for checking and hashing; applied by the writer. `left` is told the refs
    that lost their vectors."""

    def __init__(
        self,
        writes: Sequence[Write],
        catalog: Catalog,
        left: Callable[[Sequence[int]], None],
        marked: MarkedRefs,
        *,
        may_wait: bool = False,
    ) -> None:
        self.may_wait = may_wait
        self._catalog = catalog
        self._left = left
        self._marked = marked
        self._puts: list[CheckedPut] = []
        self._steps: list[CheckedPut | Remove] = []
        self._links: list[Link] = []
        self._marks: list[marks.CheckedMark | Unmark] = []
        self._expectations: list[Expect] = []
        self._removed: list[int] = []
        self._set: list[tuple[int, str]] = []
        self._taken_off: list[tuple[int, str]] = []
        self._without_vector: list[int] = []
        self._sequence = 0
        for write in writes:
            self._sort_in(write)
        only = len(self._puts) == len(writes)
        self.puts_only: Sequence[CheckedPut] = self._puts if only else ()
        """The puts, when there is nothing else; such commits of many threads are applied together."""

    def result(self) -> Commit:
        puts = self._puts
        return Commit(self._sequence, tuple([put.record() for put in puts]), tuple([put.fresh for put in puts]))

    def apply(self, db: Database) -> None:
        if self.puts_only:
            self._without_vector = put_all(db, self._catalog, self.puts_only)
        else:
            self._without_vector, self._removed, self._set, self._taken_off = [], [], [], []
            self._apply_steps(db)
        self.applied(db)

    def _apply_steps(self, db: Database) -> None:
        for expectation in self._expectations:
            self._expect(db, expectation)
        for step in self._steps:
            if isinstance(step, CheckedPut):
                self._without_vector += put_all(db, self._catalog, [step])
            else:
                self._remove(db, step)
        if self._links:
            self._link(db)
        if self._marks:
            self._mark(db)

    def note_replaced(self, ref: int | None) -> None:
        if ref is not None:
            self._without_vector.append(ref)

    def applied(self, db: Database) -> None:
        self._sequence = self._catalog.sequence(db)

    def committed(self) -> None:
        if self._without_vector:
            self._left(self._without_vector)
        if self._removed:
            self._marked.removed(self._removed)
        if self._set:
            self._marked.marked(self._set)
        if self._taken_off:
            self._marked.unmarked(self._taken_off)

    def _sort_in(self, write: Write) -> None:
        match write:
            case Put():
                put = CheckedPut(write)
                self._puts.append(put)
                self._steps.append(put)
            case Remove(key):
                _check_key(key)
                self._steps.append(write)
            case Link(parent, child):
                _check_key(parent)
                _check_key(child)
                self._links.append(write)
            case Mark():
                self._marks.append(marks.CheckedMark(write))
            case Unmark():
                marks.check_mark(write)
                self._marks.append(write)
            case Expect(key, version):
                _check_key(key)
                check_count("version", version)
                self._expectations.append(write)

    def _remove(self, db: Database, removal: Remove) -> None:
        found = self._find(db, removal.key)
        if found is None:
            return
        ref, _, append_only = found
        if append_only:
            raise AppendOnlyError(removal.key.id)
        remove_record(db, self._catalog, ref, REMOVE)
        self._without_vector.append(ref)
        self._removed.append(ref)

    def _expect(self, db: Database, expectation: Expect) -> None:
        found = self._find(db, expectation.key)
        version = 0 if found is None else found[1]
        if version != expectation.version:
            raise StaleVersionError(expectation.key.id, expectation.version, version)

    def _link(self, db: Database) -> None:
        refs = self._refs(db, {key for link in self._links for key in (link.parent, link.child)})
        for link in self._links:
            parent, child = refs[link.parent], refs[link.child]
            if not lineage.link(db, parent, child):
                raise ConflictError(link.parent.id, f"already lies below {link.child.id!r}: the link would be a cycle")

    def _mark(self, db: Database) -> None:
        refs = self._refs(db, {mark.key for mark in self._marks if isinstance(mark, marks.CheckedMark)})
        for mark in self._marks:
            if isinstance(mark, Unmark):
                self._unmark(db, mark)
            else:
                ref = refs[mark.key]
                marks.set_mark(db, self._catalog.opened_label(db, mark.label), ref, mark)
                self._set.append((ref, mark.label))

    def _unmark(self, db: Database, unmark: Unmark) -> None:
        found = self._find(db, unmark.key)
        label = self._catalog.label(db, unmark.label)
        if found is not None and label is not None and marks.take_off(db, label, found[0]):
            self._taken_off.append((found[0], unmark.label))

    def _refs(self, db: Database, keys: set[Key]) -> dict[Key, int]:
        refs: dict[Key, int] = {}
        for key in keys:
            found = self._find(db, key)
            if found is None:
                raise NotFoundError(key.id)
            refs[key] = found[0]
        return refs

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
    searchable, text = db.execute(_SEARCHABLE_TEXT, (ref,)).fetchone() or (False, "")
    keep_count(db, [ref])
    vectors = delete_vectors(db, [ref])
    edges = lineage.unlink(db, ref)
    marks.take_off_all(db, ref)
    if searchable:
        unindex(db, ref, text)
    db.execute("DELETE FROM record WHERE ref = ?", (ref,))
    catalog.log(db, ref, kind)
    return edges, vectors


def _check_key(key: Key) -> None:
    check_address(key.collection, key.id, key.group)
