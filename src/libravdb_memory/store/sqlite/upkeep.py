"""What the data file needs now and then, done beside the commits instead of inside one.

Every commit makes the log longer and leaves the text index one more small piece. SQLite would fold the log into the
data file and merge pieces inside whichever commit comes next, and somebody would wait for it, ten times as long as for
a commit. Here a thread of its own does both: the log is folded through a connection of its own, while commits go on;
pieces are merged by the writer, a few pages at a time.

A log that is to be emptied because something was erased may still be needed by a reader, as long as a backup to a slow
disk takes. Nobody waits for that: the writer is asked again after a pause, each time twice as long a one.

Laws: it changes nothing that anybody can read. Where it cannot keep up, commits do what they must themselves: the
writer folds a log of several times the size, FTS5 merges sixteen pieces at once. What fails is logged, and tried again
when there is more to do. What was erased is gone from the log soon after its last reader, also when nobody writes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import apsw

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.store.sqlite import fulltext
from libravdb_memory.store.sqlite.background import Background
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.writer import GroupWriter

_log = logging.getLogger(__name__)
_MERGE_EVERY = 6
"""Commits, each of which may leave a piece: four or more of a size are merged."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.002, 1.0
_SHARE_WAITED = 0.05
"""Of the pause before, the writer waits for readers, or many that overlap would be in the way whenever it looks."""


class Upkeep:
    """`committed` is to be called after every commit; `connect` opens a connection for folding the log."""

    def __init__(self, writer: GroupWriter, connect: Callable[[], Database], log_pages: int) -> None:
        self._writer = writer
        self._connect = connect
        self._log_pages = self._fold_at = log_pages
        self._guard = threading.Lock()
        self._commits = 0
        self._is_folding = self._is_merging = False
        self._pause_s = _FIRST_PAUSE_S
        self._is_emptied = threading.Event()
        self._is_emptied.set()
        self._thread = Background("libravdb-upkeep")

    def committed(self, log_pages: int) -> None:
        """The log has so many pages now."""
        with self._guard:
            self._commits += 1
            if log_pages < self._log_pages:
                self._fold_at = self._log_pages
            if self._commits >= _MERGE_EVERY and not self._is_merging:
                self._is_merging = self._thread.submit(self._merge)
                self._commits = 0
            if log_pages >= self._fold_at and not self._is_folding:
                self._is_folding = self._thread.submit(self._fold)
                self._fold_at = log_pages + self._log_pages // 4  # a reader may keep it from beginning anew
            if self._writer.log_is_to_be_emptied and self._is_emptied.is_set():
                self._empty_later()

    def await_emptied(self, timeout_s: float) -> bool:
        """Wait until what was erased is gone from the log, too; False when it is not within the time."""
        return self._is_emptied.wait(timeout_s)

    def settle(self, timeout_s: float) -> bool:
        return self._thread.settle(timeout_s)

    def close(self) -> None:
        self._thread.close()

    def _merge(self) -> None:
        with self._guard:
            self._is_merging = False
        try:
            while not self._thread.closing and self._writer.call(fulltext.merge_some, may_wait=True):
                pass
        except LibraVDBError as error:
            _log.warning("pieces of the text index are left as they are for now: %s", error)

    def _fold(self) -> None:
        try:
            self._fold_log()
        finally:
            with self._guard:
                self._is_folding = False

    def _fold_log(self) -> None:
        try:
            with self._writer.folding:
                db = self._connect()
                try:
                    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                finally:
                    db.close()
        except (apsw.Error, OSError) as error:
            _log.warning("the log is left as it is for now: %s", error)

    def _empty_later(self) -> None:
        if self._thread.submit_later(self._empty, self._pause_s):
            self._is_emptied.clear()
        else:
            self._is_emptied.set()  # the next commit tries again, or closing

    def _empty(self) -> None:
        self._fold_log()  # so that the writer has little left to fold
        patience_ms = round(_SHARE_WAITED * self._pause_s * 1000)
        try:
            self._writer.call(lambda _: None, lambda _: self._writer.empty_log(patience_ms), may_wait=True)
        except LibraVDBError as error:
            _log.warning("the log still holds what was erased: %s", error)
        with self._guard:
            if self._writer.log_is_to_be_emptied:
                self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
                self._empty_later()
            else:
                self._pause_s = _FIRST_PAUSE_S
                self._is_emptied.set()
