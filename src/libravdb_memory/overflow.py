"""Compaction by itself: a session is compacted in the background when enough of it has piled up behind its tail.

Laws: noticing a turn costs next to nothing and never waits; the work has a thread of its own, so that neither storing
nor embedding nor assembling waits for a summariser. A failure is visible and tried again with the next turns, never
lost turns. What piled up before a start is seen when as much again has come.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.errors import LibraVDBError, StoreClosedError
from libravdb_memory.spent import NOTHING, Spent
from libravdb_memory.store.forking import abandon_in_children

if TYPE_CHECKING:
    from libravdb_memory.compacting import Compactor

_log = logging.getLogger(__name__)
_PATIENCE_S, _ASKED_EVERY_S = 30.0, 0.2
"""How long embedding goes first; where turns keep coming, both go on side by side."""
_LIVE_S = 10.0


@dataclass(frozen=True, slots=True)
class AtWork:
    """A session that is being compacted. `user` is the namespace."""

    user: str
    session: str


@dataclass(frozen=True, slots=True)
class OverflowState:
    """`waiting` sessions to look at beside that at work, whether anything is `running`, by itself or because it was
    asked for, why the last compaction by itself failed (None while they work), why the last summary that a model was
    wanted for is not its own, the `sessions` that are compacted at this time: none while a compaction waits for
    embedding, and what those by themselves `spent` on calls of a model since the process began."""

    waiting: int
    running: bool
    failure: str | None
    model_failure: str | None = None
    sessions: tuple[AtWork, ...] = ()
    spent: Spent = NOTHING


class Overflow:
    """`compactor` is asked for when there is something to do. `embedded` waits so many seconds until turns are embedded
    and says whether they are: that comes first, and a turn that has its vector need not be given one again. `stored` is
    told after each attempt: summaries want vectors too."""

    def __init__(
        self,
        settings: CompactionSettings,
        compactor: Callable[[], Compactor],
        embedded: Callable[[float], bool],
        stored: Callable[[], None],
    ) -> None:
        self._trigger = settings.trigger_tokens
        self._noticed_at = -math.inf
        self._compactor = compactor
        self._embedded = embedded
        self._stored = stored
        self._changed = threading.Condition()
        self._piled: dict[tuple[str, str], int] = {}
        self._left: dict[tuple[str, str], int] = {}
        self._waiting: dict[tuple[str, str], None] = {}
        self._at_work: tuple[str, str] | None = None
        self._stopping = False
        self._failure: str | None = None
        self._model_failure: str | None = None
        self._spent = NOTHING
        self._thread: threading.Thread | None = None
        abandon_in_children(self)

    @property
    def state(self) -> OverflowState:
        mine, failure, model_failure = self._at_work, self._failure, self._model_failure
        waiting = len(self._waiting) - (mine in self._waiting)  # it is looked at again, as what is at work
        return OverflowState(waiting, mine is not None, failure, model_failure, spent=self._spent)

    @property
    def is_live(self) -> bool:
        """Whether a turn arrived of late: whoever talks goes on."""
        return time.monotonic() - self._noticed_at < _LIVE_S

    def notice(self, namespace: str, session: str, tokens: int) -> None:
        """A turn of so many tokens was stored."""
        self._noticed_at = time.monotonic()
        if self._trigger <= 0:
            return
        mine = (namespace, session)
        with self._changed:
            self._piled[mine] = self._piled.get(mine, 0) + tokens
            if self._piled[mine] >= self._trigger:
                self._waiting[mine] = None
                self._start()
                self._changed.notify_all()

    def forget(self, namespace: str, session: str | None) -> None:
        """The session, or all of a namespace, is no more."""
        with self._changed:
            for mine in [mine for mine in self._piled if mine[0] == namespace and session in (None, mine[1])]:
                for kept in (self._piled, self._left, self._waiting):
                    kept.pop(mine, None)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Until nothing waits and nothing runs; False when the time is up or the last compaction failed."""
        with self._changed:
            ended = self._changed.wait_for(lambda: self._stopping or self._is_idle() or not self._thread, timeout_s)
            return ended and self._failure is None

    def ease(self) -> None:
        """Begin nothing more, and give up what is under way, without waiting for it."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def stop(self, patience_s: float | None = None) -> bool:
        """Whether it ended in so many seconds."""
        self.ease()
        if self._thread is None:
            return True
        self._thread.join(patience_s)
        return not self._thread.is_alive()

    def abandon(self) -> None:
        """In a forked child, where the thread does not exist."""
        self._changed = threading.Condition()
        self._stopping, self._thread, self._waiting = True, None, {}

    # ── the background thread ────────────────────────────────────────────────────────────────────────────────────

    def _start(self) -> None:
        """Where no thread can be had the turn is stored all the same, and the next one tries again."""
        if self._thread is not None or self._stopping:
            return
        thread = threading.Thread(target=self._run, name="libravdb-compaction", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            _log.warning("sessions are not compacted for now: %s", error)
            self._failure = str(error)
            return
        self._thread, self._failure = thread, None

    def _is_idle(self) -> bool:
        return not self._waiting and self._at_work is None

    def _run(self) -> None:
        while True:
            with self._changed:
                self._at_work = None
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._stopping)
                if self._stopping:
                    return
                self._at_work = mine = next(iter(self._waiting))
                del self._waiting[mine]
            try:
                self._let_embedding_go_first()
                self._look_at(*mine)
                self._failure = None
            except StoreClosedError:
                return
            except Exception as error:  # the thread's outermost frame: whatever it is, it must be seen
                self._tell_failure(error)

    def _tell_failure(self, error: Exception) -> None:
        expected = isinstance(error, LibraVDBError)
        if self._stopping and not expected:  # at the end of a program no thread can be had, for one
            _log.debug("a session was not compacted any more: %r", error)
            return
        _log.warning("a session was not compacted: %s", error, exc_info=not expected)
        self._failure = str(error) if expected else repr(error)

    def _let_embedding_go_first(self) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not self._stopping and time.monotonic() < deadline and not self._embedded(_ASKED_EVERY_S):
            pass

    def _look_at(self, namespace: str, session: str) -> None:
        """Until too little has piled up; what was declined, or could not be compacted at all, does not count until more
        comes."""
        mine, compactor = (namespace, session), self._compactor()
        while not self._stopping:
            waiting = compactor.waiting_tokens(namespace, session)
            left = min(self._left.get(mine, 0), waiting)  # what was declined may have been erased since
            if waiting - left < self._trigger:
                with self._changed:
                    self._piled[mine], self._left[mine] = waiting - left, left
                return
            try:
                done = compactor.compact(namespace, session, time.time_ns() // 1_000_000, lambda: self._stopping)
            finally:
                self._stored()
            self._spent += done.spent
            if (failure := done.model_failure) is not None:
                self._model_failure = failure or None
            self._left[mine] = sum(declined.tokens for declined in done.declined if not declined.of_summaries)
            if not done.summaries:
                if not done.ended_early:
                    self._left[mine] = max(self._left[mine], waiting)
                return
