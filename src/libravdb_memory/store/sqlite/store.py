"""The embedded store: one SQLite file, one owner, many threads.

Writes go through the group writer; reads use the calling thread's own connection and never wait for a writer. Vectors
and their index are loaded by the first vector search.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from libravdb_memory.errors import StoreClosedError
from libravdb_memory.identity import Json
from libravdb_memory.model import Record
from libravdb_memory.store import forking
from libravdb_memory.store.drafts import check_count, check_integer, check_text
from libravdb_memory.store.protocol import (
    Capabilities,
    Change,
    CollectionInfo,
    Commit,
    Erasure,
    Filter,
    Found,
    GroupPage,
    Key,
    Page,
    Place,
    Progress,
    Selection,
    Space,
    StoredMark,
    StoreStatus,
    TextQuery,
    Unembedded,
    VectorHits,
    Verification,
    Write,
)
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite import (
    erasure,
    files,
    fulltext,
    groupings,
    lacking,
    marks,
    opening,
    records,
    shelving,
    spaces,
    state,
    tokenrows,
)
from libravdb_memory.store.sqlite.backup import write_backup
from libravdb_memory.store.sqlite.catalog import Catalog
from libravdb_memory.store.sqlite.commits import CommitWork
from libravdb_memory.store.sqlite.connections import Readers, connect_folder, log_pages
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.failures import translating
from libravdb_memory.store.sqlite.groups import GroupApplier
from libravdb_memory.store.sqlite.marked import MarkedRefs
from libravdb_memory.store.sqlite.places import Places
from libravdb_memory.store.sqlite.speakers import Speakers
from libravdb_memory.store.sqlite.upkeep import Upkeep
from libravdb_memory.store.sqlite.verify import verify
from libravdb_memory.store.sqlite.writer import GroupWriter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from libravdb_memory.store.sqlite.vectors import VectorShelf


_LOG_OUTGROWN = 4
"""So many times its size the log may become before a commit folds it."""


_READERS_AWAITED_S = 0.15
"""So long erasing waits for readers who still need the log, before it leaves the emptying to the upkeep."""


class SqliteStore:
    """Implements `store.protocol.Store`. Open it with `SqliteStore.open`."""

    def __init__(self, data: Path, settings: StoreSettings, vfs: str | None) -> None:
        self._path = data
        self._settings = settings
        self._vfs = vfs
        self._erasing = False
        self._catalog = Catalog()
        self._vocabulary = fulltext.Vocabulary()
        self._marked = MarkedRefs()
        self._places = Places()
        self._token_rows = tokenrows.TokenRowsKept()
        self._speakers = Speakers()
        self._completeness = lacking.Completeness()
        with translating(data):
            self._lock = opening.own(data, vfs)
            try:
                db, self._uuid = opening.open_writer(data, settings, vfs, lambda: self._erasing)
            except BaseException:
                self._lock.release()
                raise
        pages = log_pages(settings)
        self._writer = GroupWriter(
            db,
            data,
            GroupApplier(self._catalog),
            self._catalog.forget,
            self._committed,
            _LOG_OUTGROWN * pages,
            lambda db: erasure.finish(db, data, vfs),
        )
        self._upkeep = Upkeep(self._writer, lambda: connect_folder(data, vfs), pages)
        self._readers = Readers(data, vfs)
        self._place = shelving.ShelfPlace(self._make_shelf)
        self._closed = False
        forking.abandon_in_children(self)
        if erasure.is_unfinished(db):
            self._writer.call(lambda _: None, lambda _: self._writer.empty_log())

    @classmethod
    def open(cls, path: Path, *, settings: StoreSettings | None = None, vfs: str | None = None) -> SqliteStore:
        """The store at a path (a folder or a file), created if there is none. `vfs` names a registered SQLite VFS."""
        return cls(files.locate(path), settings or StoreSettings(), vfs)

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> Path:
        return self._path

    @property
    def uuid(self) -> str:
        return self._uuid

    def close(self) -> None:
        """Finish what is queued, fold the log into the data file, let go of everything. Closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        try:
            self._upkeep.close()
            self._place.close()
            self._readers.close()
            self._writer.close()
        finally:
            self._lock.release()

    def abandon(self) -> None:
        """In a forked child: closed, with the parent's files, connections and lock left as they are."""
        self._closed = True
        self._readers.abandon()
        self._writer.abandon()
        self._lock.abandon()

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def commit(self, writes: Sequence[Write], *, may_wait: bool = False) -> Commit:
        work = CommitWork(writes, self._catalog, self._left, self._marked, may_wait=may_wait)
        self._writer.submit(work)
        return work.result()

    def _committed(self, log_pages: int) -> None:
        self._upkeep.committed(log_pages)

    def sync(self) -> None:
        self._writer.call(state.note_sync)

    def _left(self, refs: Sequence[int]) -> None:
        """These records are gone, or are not what they were."""
        self._place.removed(refs)
        self._places.forget(refs)
        self._token_rows.forget(refs)

    def erase(self, selection: Selection) -> Erasure:
        erasure.check_selection(selection)
        result, _ = self._writer.call(lambda db: self._erase(db, selection), self._erased)
        self._upkeep.await_emptied(_READERS_AWAITED_S)
        return result

    def _erased(self, done: tuple[Erasure, list[int]]) -> None:
        self._left(done[1])
        if done[1]:
            self._place.erased(done[1])
        self._marked.removed(done[1])
        self._speakers.erased(done[1])
        self._writer.empty_log()

    def _erase(self, db: Database, selection: Selection) -> tuple[Erasure, list[int]]:
        self._erasing = True
        try:
            result, refs = erasure.erase(db, self._catalog, selection)
            if self._index_folder.is_dir():
                self._place.shelf().forget_files(refs)
            return result, refs
        finally:
            self._erasing = False

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def get(self, key: Key) -> Record | None:
        with self._reading() as db:
            return records.get(db, key, self._path)

    def find(self, record_id: str) -> tuple[Record, ...]:
        check_text("id", record_id)
        with self._reading() as db:
            return records.find(db, record_id, self._path)

    def fetch(self, refs: Sequence[int]) -> dict[int, Record]:
        with self._reading() as db:
            return records.fetch(db, refs, self._path)

    def page(
        self,
        collection: str,
        *,
        where: Filter | None = None,
        after: str | None = None,
        limit: int = 1000,
        newest_first: bool = False,
    ) -> Page:
        check_text("collection", collection)
        check_count("limit", limit)
        with self._reading() as db:
            return records.page(
                db, collection, self._path, where=where, after=after, limit=limit, newest_first=newest_first
            )

    def collections(self, prefix: str = "") -> tuple[CollectionInfo, ...]:
        check_text("prefix", prefix)
        with self._reading() as db:
            return records.collections(db, prefix)

    def groups(
        self,
        collection: str,
        *,
        name: str | None = None,
        containing: str = "",
        after: str | None = None,
        limit: int = 100,
    ) -> GroupPage:
        for field, text in (("collection", collection), ("name", name or ""), ("containing", containing)):
            check_text(field, text)
        check_count("limit", limit)
        with self._reading() as db:
            return groupings.groups(db, collection, name=name, containing=containing, after=after, limit=limit)

    def cursor(self, ref: int) -> str:
        check_integer("ref", ref)
        return records.cursor_at(ref)

    def children(self, key: Key) -> tuple[Record, ...]:
        with self._reading() as db:
            return records.children(db, key, self._path)

    def parents(self, key: Key) -> tuple[Record, ...]:
        with self._reading() as db:
            return records.parents(db, key, self._path)

    def edges(self, after: tuple[int, int] | None = None, limit: int = 10_000) -> tuple[tuple[int, int], ...]:
        check_count("limit", limit)
        with self._reading() as db:
            return records.edges(db, after, limit)

    def marks(self, refs: Sequence[int], label: str) -> dict[int, Mapping[str, Json]]:
        marks.check_label(label)
        with self._reading() as db:
            return marks.marks_of(db, refs, label, self._path)

    def count_marks(self, collection: str | None, label: str) -> int:
        marks.check_label(label)
        with self._reading() as db:
            if collection is None:
                return marks.count_marks(db, label, None)
            check_text("collection", collection)
            key = records.collection_key(db, collection)
            return 0 if key is None else marks.count_marks(db, label, key)

    def all_marks(self, after: tuple[int, str] | None = None, limit: int = 10_000) -> tuple[StoredMark, ...]:
        check_count("limit", limit)
        with self._reading() as db:
            return marks.all_marks(db, after, limit, self._path)

    def newest_marks(self, collection: str | None, label: str, limit: int) -> tuple[StoredMark, ...]:
        marks.check_label(label)
        check_count("limit", limit)
        with self._reading() as db:
            if collection is None:
                return marks.newest_marks(db, label, None, limit, self._path)
            check_text("collection", collection)
            key = records.collection_key(db, collection)
            return () if key is None else marks.newest_marks(db, label, key, limit, self._path)

    def changes_since(self, sequence: int, limit: int = 10_000) -> tuple[Change, ...]:
        check_integer("sequence", sequence)
        check_count("limit", limit)
        with self._reading() as db:
            return records.changes_since(db, sequence, limit)

    def places(self, refs: Sequence[int]) -> dict[int, Place]:
        with self._reading() as db:
            return self._places.of(db, refs, self._path)

    def speakers(self, collection: str) -> tuple[str, ...]:
        check_text("collection", collection)
        with self._reading() as db:
            key = records.searchable_key(db, collection)
            return () if key is None else self._speakers.of(db, key)

    # ── searching ────────────────────────────────────────────────────────────────────────────────────────────────

    def search_text(
        self, collection: str, query: TextQuery, k: int, *, where: Filter | None = None
    ) -> tuple[Found, ...]:
        check_text("collection", collection)
        check_count("k", k)
        with self._reading() as db:
            key = records.searchable_key(db, collection)
            return () if key is None else fulltext.search_text(db, self._vocabulary, key, query, k, where)

    def search_vectors(
        self,
        collection: str,
        vector: NDArray[np.float32],
        k: int,
        *,
        where: Filter | None = None,
        exact: bool = False,
    ) -> VectorHits:
        check_text("collection", collection)
        check_count("k", k)
        with self._reading() as db:
            space = spaces.active_space(db)
            key = records.searchable_key(db, collection)
            if space is None or key is None:
                missing = 0 if key is None else records.count(db, key)
                return VectorHits((), exact=True, complete=not missing, missing=missing)
            query = shelving.check_query(space, vector)
            eligible = shelving.eligible_refs(db, key, where, self._marked)
            missing = max(self._completeness.missing(db, space, key), self._place.missing(key))
            hits, was_exact = self._place.shelf().search(space, key, query, k, eligible, exact)
            return VectorHits(hits, was_exact, complete=not missing, missing=missing)

    def similarities(self, collection: str, vector: NDArray[np.float32], refs: Sequence[int]) -> dict[int, float]:
        check_text("collection", collection)
        with self._reading() as db:
            space = spaces.active_space(db)
            key = records.searchable_key(db, collection)
            if space is None or key is None:
                return {}
            return shelving.similarities(self._place.shelf(), space, key, vector, refs)

    # ── embedding spaces ─────────────────────────────────────────────────────────────────────────────────────────

    def spaces(self) -> tuple[Space, ...]:
        with self._reading() as db:
            return spaces.list_spaces(db)

    def add_space(self, fingerprint: str, label: str, dimensions: int) -> Space:
        spaces.check_space(fingerprint, label, dimensions)
        return self._writer.call(lambda db: spaces.add_space(db, fingerprint, label, dimensions))

    def activate_space(self, space: Space) -> None:
        self._writer.call(lambda db: spaces.activate_space(db, space))

    def drop_space(self, space: Space) -> None:
        self._writer.call(lambda db: spaces.drop_space(db, space), lambda _: self._space_dropped(space))

    def _space_dropped(self, space: Space) -> None:
        self._place.dropped(space.key)
        self._token_rows.forget_all()

    def keep_tokens(self, space: Space, rule: str) -> Space:
        check_text("rule", rule)
        return self._writer.call(
            lambda db: spaces.keep_tokens(db, space, rule), lambda _: self._token_rows.forget_all()
        )

    def unembedded(self, space: Space, limit: int, *, but: Sequence[str] = ()) -> tuple[Unembedded, ...]:
        check_count("limit", limit)
        with self._reading() as db:
            return lacking.unembedded(db, spaces.require(db, space), limit, but)

    def count_unembedded(self, space: Space) -> int:
        with self._reading() as db:
            return lacking.count_unembedded(db, spaces.require(db, space))

    def put_vectors(
        self,
        space: Space,
        refs: Sequence[int],
        vectors: NDArray[np.float32],
        *,
        versions: Sequence[int] | None = None,
        tokens: Sequence[bytes] | None = None,
    ) -> int:
        rows = shelving.check_vectors(space, refs, vectors, versions)
        tokenrows.check_tokens(refs, tokens)
        with self._place.arriving(refs):
            stored = self._writer.call(
                lambda db: spaces.put_vectors(db, space, refs, rows, versions, tokens),
                lambda stored: self._vectors_put(space, refs, rows, stored.changed),
                may_wait=True,
            )
        return stored.count

    def _vectors_put(
        self, space: Space, refs: Sequence[int], rows: NDArray[np.float32], changed: Sequence[int]
    ) -> None:
        self._place.added(space.key, refs, rows, changed)
        self._token_rows.forget(refs)

    def get_tokens(self, space: Space, refs: Sequence[int]) -> dict[int, bytes]:
        with self._reading() as db:
            return self._token_rows.get(db, space, refs, self._path)

    def get_vectors(self, space: Space, refs: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        with self._reading() as db:
            spaces.require(db, space)
            return shelving.stored_vectors(self._readers.apsw_connection(), space, refs)

    # ── keeping ──────────────────────────────────────────────────────────────────────────────────────────────────

    def capabilities(self) -> Capabilities:
        with self._reading() as db:
            return state.capabilities(db)

    def status(self) -> StoreStatus:
        with self._reading() as db:
            return state.status(db, self._path, self._place.opened)

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        with self._reading():
            write_backup(self._path, target, self._vfs, progress)

    def verify(self, progress: Progress | None = None) -> Verification:
        with self._reading(), self._readers.fresh() as db:
            return verify(db, self._place.shelf(), self._path, progress)

    def rebuild_indexes(self, progress: Progress | None = None) -> None:
        """Make the text index, the table indexes and the vector files again from the records. What is damaged of the
        vectors and token rows is dropped, so that it is embedded again."""
        from libravdb_memory.store.sqlite.mending import drop_damaged

        self._writer.call(fulltext.rebuild)
        self._writer.call(drop_damaged, self._vectors_dropped)
        self._place.shelf().rebuild(progress)

    def _vectors_dropped(self, refs: Sequence[int]) -> None:
        self._place.removed(refs)
        self._token_rows.forget_all()
        self._completeness = lacking.Completeness()

    def settle(self, timeout_s: float) -> bool:
        """Wait until background work on indexes is done; False when it is not within the time."""
        if self._closed:
            raise StoreClosedError(self._path)
        shelf = self._place.opened
        return self._upkeep.settle(timeout_s) and (shelf is None or shelf.settle(timeout_s))

    @contextmanager
    def _reading(self) -> Generator[Database]:
        with translating(self._path), self._readers.reading() as db:
            yield db

    def _make_shelf(self) -> VectorShelf:
        from libravdb_memory.store.sqlite.vectors import VectorShelf

        return VectorShelf(self._readers.apsw_connection, self._index_folder, self._uuid, self._settings)

    @property
    def _index_folder(self) -> Path:
        return files.beside(self._path, "-ann")
