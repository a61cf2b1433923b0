"""Group commit: many threads, one transaction, one sync.

A thread that finds nobody writing leads: it commits everything queued so far in one transaction, with no hop to another
thread when it is alone. The others wait; when the leader is done, the first of those queued meanwhile leads next.

Laws: `submit` returns after COMMIT, never before, and then its work is on disk, or, where that may wait, on disk with
the next that must be: all work reaches the disk in the order of commits, so none is there without what it built on. A
piece of work that fails leaves nothing behind and takes nobody
with it: if it had written already, or SQLite failed, the group is rolled back and each piece is tried alone.
What a group of works does to the database is not decided here; an `ApplyGroup` does it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeAlias, TypeVar, cast

import apsw

from libravdb_memory.errors import LibraVDBError, StoreClosedError
from libravdb_memory.store.sqlite.connections import BUSY_MS
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.failures import naming_system_errors, translated


class Work(Protocol):
    @property
    def may_wait(self) -> bool:
        """It can be made again if the power fails: seen by all once committed, it may reach the disk later."""
        ...

    def apply(self, db: Database) -> None:
        """Do it, inside a transaction; may be called again after a rollback."""
        ...

    def committed(self) -> None:
        """It is committed. Called in commit order."""
        ...


ApplyGroup: TypeAlias = "Callable[[Database, Sequence[Work]], Sequence[LibraVDBError | None]]"
"""Apply all works in one open transaction; answers each with its error, if it was refused and wrote nothing. Raising
means that the transaction must be rolled back."""

T = TypeVar("T")

_PATIENCE_S = 100e-6


class Call(Generic[T]):
    """Work that is one function, and what to do with its answer once it is committed."""

    __slots__ = ("_act", "_then", "may_wait", "value")

    def __init__(
        self, act: Callable[[Database], T], then: Callable[[T], None] | None = None, *, may_wait: bool = False
    ) -> None:
        self._act = act
        self._then = then
        self.may_wait = may_wait
        self.value: T

    def apply(self, db: Database) -> None:
        self.value = self._act(db)

    def committed(self) -> None:
        if self._then is not None:
            self._then(self.value)


class _Ticket:
    __slots__ = ("error", "leads", "turn", "work")

    def __init__(self, work: Work) -> None:
        self.work = work
        self.error: BaseException | None = None
        self.leads = False
        self.turn: threading.Lock | None = None


class GroupWriter:
    """The only user of the writing connection. `forget` is called after a rollback, to drop what was cached, and
    `committed` after every commit, with the pages that the log has then. The log is folded into the data file by
    somebody else, who holds `folding` meanwhile, and by the writer only when it has `most_log_pages`, or is to be
    emptied: then `emptied` is called while nobody else writes or folds. Where a reader is in the way of that,
    `log_is_to_be_emptied` until somebody asks again, or it is closed."""

    def __init__(
        self,
        db: Database,
        path: Path,
        apply: ApplyGroup,
        forget: Callable[[], None],
        committed: Callable[[int], None] = lambda _: None,
        most_log_pages: int = 4096,
        emptied: Callable[[Database], None] = lambda _: None,
    ) -> None:
        self._db = db
        self._apply = apply
        self._path = path
        self._forget = forget
        self._guard = threading.Lock()
        self._idle = threading.Condition(self._guard)
        self._queue: list[_Ticket] = []
        self._led = False
        self._crowd = 1  # how many seem to be writing at this time
        self._closed = False
        self.log_is_to_be_emptied = False
        self._syncs = True
        self.folding = threading.Lock()  # of two that fold at once SQLite refuses one
        self._committed = committed
        self._log_pages = 0
        self._most_log_pages = most_log_pages
        self._emptied = emptied
        db.set_wal_hook(self._logged)

    def submit(self, work: Work) -> None:
        ticket = _Ticket(work)
        with self._guard:
            if self._closed:
                raise StoreClosedError(self._path)
            self._queue.append(ticket)
            if self._led:
                ticket.turn = threading.Lock()
                ticket.turn.acquire()
            else:
                self._led = ticket.leads = True
        if ticket.turn is not None:
            self._await(ticket, ticket.turn)
        if ticket.leads:
            self._lead(ticket)
        if ticket.error is not None:
            raise ticket.error

    def call(
        self, act: Callable[[Database], T], then: Callable[[T], None] | None = None, *, may_wait: bool = False
    ) -> T:
        work = Call(act, then, may_wait=may_wait)
        self.submit(work)
        return work.value

    def empty_log(self, patience_ms: int = 0) -> None:
        """Fold the write-ahead log into the data file and cut it to nothing, then do what wants it empty. To be called
        from a `then` only. If a reader still needs the log after so long, for which everybody waits, or the disk
        refuses, it is to be asked for again."""
        self._db.set_busy_timeout(patience_ms)
        try:
            self.log_is_to_be_emptied = not self._fold(apsw.SQLITE_CHECKPOINT_TRUNCATE, self._emptied)
        finally:
            self._db.set_busy_timeout(BUSY_MS)

    def close(self) -> None:
        """Wait for what is queued, then close the connection. New work is refused from here on."""
        with self._guard:
            already, self._closed = self._closed, True
            while self._led:
                self._idle.wait()
        if not already:
            if self.log_is_to_be_emptied:
                self.empty_log()
            self._db.close()

    def abandon(self) -> None:
        """In a forked child: closed, with the connection left alone."""
        self._guard = threading.Lock()
        self._closed = True

    def _await(self, ticket: _Ticket, turn: threading.Lock) -> None:
        """Wait to be served or to lead. A thread interrupted here must not be left in the queue as the next leader."""
        try:
            turn.acquire()
        except BaseException:
            if self._withdraw(ticket) and ticket.leads:
                self._hand_over(0)
            raise

    def _withdraw(self, ticket: _Ticket) -> bool:
        with self._guard:
            queued = ticket in self._queue
            if queued:
                self._queue.remove(ticket)
            return queued

    def _lead(self, leader: _Ticket) -> None:
        group: list[_Ticket] = []
        try:
            if self._crowd > 1:
                self._gather()
            with self._guard:
                group, self._queue = self._queue, []
            self._run(group)
        finally:
            for ticket in group:
                if ticket.turn is not None and not ticket.leads:
                    ticket.turn.release()
            self._withdraw(leader)
            self._hand_over(len(group))

    def _gather(self) -> None:
        """Those just served are about to come back; one sync for all is worth a moment, unless nobody comes."""
        before = len(self._queue)
        patience = time.perf_counter() + _PATIENCE_S
        while before < self._crowd and time.perf_counter() < patience:
            time.sleep(0)
            if len(self._queue) > before:
                before = len(self._queue)
                patience = time.perf_counter() + _PATIENCE_S

    def _hand_over(self, served: int) -> None:
        with self._guard:
            self._crowd = served + len(self._queue)
            if not self._queue:
                self._led = False
                self._idle.notify_all()
                return
            heir = self._queue[0]
            heir.leads = True
        assert heir.turn is not None
        heir.turn.release()

    def _run(self, group: list[_Ticket]) -> None:
        if self._attempt(group) or len(group) == 1:
            return
        reason = group[0].error
        for ticket in group:
            self._attempt([ticket])
        if reason is not None and not isinstance(reason, Exception):  # an interrupt is for this thread, not for theirs
            raise reason

    def _attempt(self, group: list[_Ticket]) -> bool:
        """One transaction. False when it was rolled back; the reason is then the error of every ticket."""
        try:
            with naming_system_errors(self._db):
                self._sync(not all(ticket.work.may_wait for ticket in group))
                self._db.execute("BEGIN IMMEDIATE")
                errors = self._apply(self._db, [ticket.work for ticket in group])
                self._db.execute("COMMIT")
        except BaseException as error:  # handed to the thread that owns the ticket
            reason = translated(error, self._path) if isinstance(error, apsw.Error | OSError) else error
            if reason is not error:
                reason.__cause__ = error
            for ticket in group:
                ticket.error = reason
            self._roll_back()
            return False
        for ticket, refusal in zip(group, errors, strict=True):
            ticket.error = refusal
            self._announce(ticket)
        if self._log_pages >= self._most_log_pages:
            self._fold(apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._committed(self._log_pages)
        return True

    def _logged(self, *seen: object) -> int:
        """Told by SQLite after a commit: the connection, the name of the database, and the pages of its log."""
        self._log_pages = cast(int, seen[2])
        return apsw.SQLITE_OK

    def _fold(self, mode: int, then: Callable[[Database], None] = lambda _: None) -> bool:
        try:
            with self.folding:
                self._db.wal_checkpoint(mode=mode)
                self._log_pages = 0
                then(self._db)
        except (apsw.Error, OSError):
            return False
        return True

    def _sync(self, wanted: bool) -> None:
        """Whether the next commit waits for the disk. Without it the log is written all the same, in order, and the
        next commit that waits takes it along."""
        if wanted != self._syncs:
            self._db.execute("PRAGMA synchronous = FULL" if wanted else "PRAGMA synchronous = NORMAL")
            self._syncs = wanted

    def _announce(self, ticket: _Ticket) -> None:
        if ticket.error is not None:
            return
        try:
            ticket.work.committed()
        except BaseException as error:  # it is durable; what follows from it failed, and its owner is told
            ticket.error = error

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._forget()
