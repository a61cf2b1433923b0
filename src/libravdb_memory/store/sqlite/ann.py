"""The approximate index of one collection: a graph, what changed since it was made, and its life.

Law: the graph answers only for what the table holds. When a file is opened, every row of the table is compared with it:
rows it lacks or holds in another version go to `fresh` (searched exactly), slots the table no longer has are masked. If
the table counted no edit since the file was written, and a sample agrees, only rows appended since are looked for; that
is quick. Later writes do the same. So a file may be behind and is still never stale; one too far behind is built again.
Until the index is ready, and whenever it cannot be sure of k hits, the caller searches exactly. What is erased leaves
no trace in a file: one that could hold it is taken away at once, and made again from the table.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from libravdb_memory.store.sqlite import annfile, cosine, graph, vectortable
from libravdb_memory.store.sqlite.annfile import Contents, Identity, UnusableIndexError
from libravdb_memory.store.sqlite.graph import Graph
from libravdb_memory.store.sqlite.resident import Matrix

if TYPE_CHECKING:
    import apsw
    from numpy.typing import NDArray

    from libravdb_memory.store.protocol import Found, Progress, Space
    from libravdb_memory.store.sqlite.cosine import Query, Refs, Rows
    from libravdb_memory.store.sqlite.resident import View

RERANKED = 40
_FRESH_MINIMUM = 2000
_FRESH_SHARE = 50
_REBUILD_SHARE = 4
_EXACT_SHARE = 8
_SAMPLE_ROWS = 4096
_SAMPLED_SLOTS = 64


class _StoppedError(Exception):
    """The store is closing, or the collection is gone; nothing was changed."""


@dataclass(frozen=True, slots=True)
class _Live:
    """A moment of a ready index. `masked` says of each slot of the graph whether it must not be found. While the table
    counts this many `edits`, everything that came to `fresh` since was appended."""

    graph: Graph
    masked: NDArray[np.bool_]
    gone: int
    fresh: Matrix
    edits: int

    def change(self, refs: Refs, rows: Rows | None) -> _Live:
        slots = self.graph.places.newest(refs)
        slots = slots[slots >= 0]
        if rows is None:
            self.fresh.remove(refs)
        else:
            self.fresh.put(refs, rows)
        if not len(slots):
            return self
        masked = self.masked.copy()
        masked[slots] = True
        return _Live(self.graph, masked, int(masked.sum()), self.fresh, self.edits)

    @property
    def worn(self) -> bool:
        """So many slots are masked that only building again helps."""
        return self.gone * _REBUILD_SHARE > len(self.masked)

    @property
    def behind(self) -> bool:
        return self.fresh.count > _FRESH_MINIMUM + len(self.masked) // _FRESH_SHARE


class AnnCollection:
    """`work` is long and runs in the background, never twice at once; the rest is quick."""

    def __init__(self, space: Space, collection_key: int, path: Path, store_uuid: str, exact_limit: int) -> None:
        self.path = path
        self.space = space
        self._collection_key = collection_key
        self._exact_limit = exact_limit
        self._identity = Identity(
            store_uuid, space.key, space.fingerprint, collection_key, space.dimensions, graph.parameters()
        )
        self._lock = threading.Lock()
        self._live: _Live | None = None
        self._late: list[tuple[Refs, Rows | None]] | None = None
        self._note = ""
        self._doing = ""
        self._failed = False
        self._outlived = False
        self.scheduled = False

    @property
    def ready(self) -> bool:
        return self._live is not None

    @property
    def failed(self) -> bool:
        return self._failed

    @property
    def count(self) -> int:
        live = self._live
        return len(live.masked) - live.gone + live.fresh.count if live is not None else 0

    @property
    def wants_work(self) -> bool:
        live = self._live
        due = live is not None and (live.behind or live.worn or self._outlived)
        return due and not self.scheduled and not self._failed

    @property
    def nbytes(self) -> int:
        live = self._live
        if live is None:
            return 0
        held = live.graph.contents.graph
        return live.fresh.nbytes + len(live.masked) + (len(held) if isinstance(held, bytes) else 0)

    def describe(self) -> str:
        live = self._live
        if live is None:
            state = self._doing or "not opened"
        else:
            waiting = f", {live.fresh.count} searched exactly" if live.fresh.count else ""
            masked = f", {live.gone} masked" if live.gone else ""
            state = f"ready: {len(live.masked)} vectors{waiting}{masked}{'; ' if self._doing else ''}{self._doing}"
        return f"{state} ({self._note})" if self._note else state

    def put(self, refs: Refs, rows: Rows) -> None:
        self._change(refs, rows)

    def remove(self, refs: Refs) -> None:
        self._change(refs, None)

    def erase(self, refs: Refs) -> None:
        """As `remove`, and the graph that holds them is made again; so is one that is being made of older rows."""
        with self._lock:
            self._outlived = True
        self._change(refs, None)

    def search(
        self, query: Query, k: int, eligible: Refs | None, rows_of: Callable[[Refs], tuple[Refs, Rows]]
    ) -> tuple[Found, ...] | None:
        """None: search exactly instead. `eligible` must ascend; `rows_of` gives the vectors that still exist."""
        with self._lock:
            live = self._live
            if live is None:
                return None
            fresh = live.fresh.view()
        total = len(live.masked)
        wanted = max(RERANKED, 4 * k)
        count = wanted if eligible is None else -(-wanted * total // max(len(eligible), 1))
        while count <= total // _EXACT_SHARE:
            found = _eligible(live, live.graph.nearest(query, count), eligible)[:wanted]
            if len(found) == wanted:
                return _rerank(found, fresh, query, k, eligible, rows_of)
            count *= 2
        return None

    # ── background ───────────────────────────────────────────────────────────────────────────────────────────────

    def work(
        self, read: Callable[[], apsw.Connection], stop: Callable[[], bool], progress: Progress | None = None
    ) -> None:
        """Open the file, or build the graph, or bring the fresh vectors into it: whichever is due."""
        live = self._live

        def tick(done: int, total: int) -> None:
            self._doing = f"building: {done} of {total}{'; exact search serves' if live is None else ''}"
            if progress is not None:
                progress(done, total)
            if stop():
                raise _StoppedError

        if live is None:
            self._guarded(lambda: self._opened(read(), stop) or self._built(read(), stop, tick))
        elif live.worn or not self.path.exists():
            self._guarded(lambda: self._built(read(), stop, tick))
        else:
            self._guarded(lambda: self._merged(read(), live, tick))

    def open_quickly(self, read: Callable[[], apsw.Connection]) -> None:
        """Open the file if that takes no comparing; else leave everything as it is."""
        self._guarded(lambda: self._unedited(read()))

    def examine(self) -> str:
        """Why the file would not be used; empty when it would."""
        try:
            annfile.read(self.path, self._identity)
        except UnusableIndexError as error:
            return str(error)
        return ""

    def forget(self) -> None:
        with self._lock:
            self._live = None

    def _change(self, refs: Refs, rows: Rows | None) -> None:
        with self._lock:
            if self._late is not None:
                self._late.append((refs, rows))
            if self._live is not None:
                self._live = self._live.change(refs, rows)

    def _guarded(self, make: Callable[[], _Live | None]) -> None:
        """Replace the live index by a new one; changes that come while it is made are applied to both."""
        with self._lock:
            self._late = []
        try:
            made = make()
            with self._lock:
                for refs, rows in self._late if made is not None else ():
                    made = made.change(refs, rows) if made is not None else None
                self._live = made
        except _StoppedError:
            self._note = "stopped"
        except Exception as error:  # outermost frame of the background thread: the state names it, exact search serves
            self._note = f"failed: {error}; exact search serves"
            self._failed = True
        finally:
            self._doing = ""
            self.scheduled = False
            with self._lock:
                self._late = None

    def _opened(self, connection: apsw.Connection, stop: Callable[[], bool]) -> _Live | None:
        if not self.path.exists():
            return None
        self._doing = "opening; exact search serves"
        try:
            opened = graph.open_graph(annfile.read(self.path, self._identity), self.space.dimensions)
            edits = self._edits(connection)
            return self._compared(self._scan(connection, stop, vectortable.BLOCK_ROWS), opened, edits)
        except UnusableIndexError as error:
            self._note = f"rebuilt because the file {error}"
            return None

    def _unedited(self, connection: apsw.Connection) -> _Live | None:
        """The file's index, if it is known to be the table's but for what was appended to that."""
        try:
            contents = annfile.read(self.path, self._identity)
        except UnusableIndexError:
            return None
        edits = self._edits(connection)
        if contents.edits != edits or len(contents.refs) <= self._exact_limit:
            return None
        if not self._sample_agrees(connection, contents):
            return None
        opened = graph.open_graph(contents, self.space.dimensions)
        fresh = Matrix(self.space.dimensions)
        newest = int(opened.refs.max())
        for refs, rows in vectortable.scan(connection, self.space, self._collection_key, after=newest):
            fresh.put(refs, rows)
            if fresh.count > _FRESH_MINIMUM + len(opened.refs) // _FRESH_SHARE:
                return None
        return _Live(opened, np.zeros(len(opened.refs), np.bool_), 0, fresh, edits)

    def _sample_agrees(self, connection: apsw.Connection, contents: Contents) -> bool:
        """A table that was put back by hand may have counted as many edits, but then its last rows are others."""
        spread = np.linspace(0, len(contents.refs) - 1, _SAMPLED_SLOTS).astype(np.intp)
        slots = np.unique(np.append(spread, contents.refs.argmax()))
        refs, rows = vectortable.fetch(connection, self.space, contents.refs[slots])
        return len(refs) == len(slots) and bool((graph.tag(rows) == contents.tags[slots]).all())

    def _edits(self, connection: apsw.Connection) -> int:
        """To be asked before the rows are read: an edit that comes between makes the answer too low, never too high."""
        return vectortable.edits(connection, self.space, self._collection_key)

    def _scan(
        self, connection: apsw.Connection, stop: Callable[[], bool], block_rows: int
    ) -> Iterator[tuple[Refs, Rows]]:
        for block in vectortable.scan(connection, self.space, self._collection_key, block_rows):
            if stop():
                raise _StoppedError
            yield block

    def _compared(self, blocks: Iterator[tuple[Refs, Rows]], opened: Graph, edits: int) -> _Live:
        masked = np.ones(len(opened.refs), np.bool_)
        fresh = Matrix(self.space.dimensions)
        for refs, rows in blocks:
            slots = opened.places.newest(refs)
            same = (slots >= 0) & (opened.contents.tags[slots] == graph.tag(rows))
            masked[slots[same]] = False
            fresh.put(refs[~same], rows[~same])
            if fresh.count > _FRESH_MINIMUM + len(opened.refs) // _REBUILD_SHARE:
                raise UnusableIndexError("is too far behind")
        live = _Live(opened, masked, int(masked.sum()), fresh, edits)
        if live.worn:
            raise UnusableIndexError("holds too many vectors that are gone")
        return live

    def _built(
        self, connection: apsw.Connection, stop: Callable[[], bool], tick: Callable[[int, int], None]
    ) -> _Live | None:
        tick(0, 0)
        with self._lock:
            self._outlived = False  # what is erased from here on may be among the rows that are read now
        edits = self._edits(connection)
        encoded, scale = graph.encode(self._scan(connection, stop, _SAMPLE_ROWS), self.space.dimensions, None)
        if len(encoded.refs) <= self._exact_limit:
            self.path.unlink(missing_ok=True)
            self._note = "not needed: exact search serves"
            return None
        return self._saved(graph.build(None, encoded, scale, tick), None, edits)

    def _merged(self, connection: apsw.Connection, live: _Live, tick: Callable[[int, int], None]) -> _Live:
        refs = live.fresh.view().live_refs()
        chunks = (refs[at : at + _SAMPLE_ROWS] for at in range(0, len(refs), _SAMPLE_ROWS))
        rows = (vectortable.fetch(connection, self.space, chunk) for chunk in chunks)
        contents = live.graph.contents
        encoded, scale = graph.encode(rows, self.space.dimensions, contents.scale)
        return self._saved(graph.build(contents, encoded, scale, tick), live, live.edits)

    def _saved(self, contents: Contents, before: _Live | None, edits: int) -> _Live:
        # What is masked is not told by the file, so such a one is to be compared.
        contents = replace(contents, edits=None if before is not None and before.gone else edits)
        try:
            annfile.write(self.path, self._identity, contents)
            contents = annfile.read(self.path, self._identity)
        except (OSError, UnusableIndexError) as error:
            self._note = f"kept in memory: {error}"
        with self._lock:
            if self._outlived:
                self.path.unlink(missing_ok=True)
        masked = np.zeros(len(contents.refs), np.bool_)
        if before is not None:
            masked[: len(before.masked)] = before.masked
        opened = graph.open_graph(contents, self.space.dimensions)
        return _Live(opened, masked, int(masked.sum()), Matrix(self.space.dimensions), edits)


def _eligible(live: _Live, slots: NDArray[np.intp], eligible: Refs | None) -> Refs:
    refs = live.graph.refs[slots[~live.masked[slots]]]
    if eligible is None:
        return refs
    at = np.minimum(np.searchsorted(eligible, refs), len(eligible) - 1)
    kept: Refs = refs[eligible[at] == refs]
    return kept


def _rerank(
    found: Refs,
    fresh: View,
    query: Query,
    k: int,
    eligible: Refs | None,
    rows_of: Callable[[Refs], tuple[Refs, Rows]],
) -> tuple[Found, ...] | None:
    refs, rows = rows_of(found)
    hits = cosine.merge((cosine.score(refs, rows, query, k), fresh.search(query, k, eligible)), k)
    return hits if len(hits) == k else None
