"""Places at the processors for models that run in the background.

A model keeps a processor busy for some 10 ms at a time. If as many run as there are processors, whoever stores a turn
waits for one of them whenever it has waited for anything else; the more so if the thread that holds Python's
interpreter lock was put off for a model.

Laws: background work begins no more runs at once than there are processors, and while turns arrive one fewer, if that
leaves one; a run is taken to use one processor. Those who wait are served in the order they came. Turns that arrive
wait no longer than a moment, whatever the others do, and then run beside them. Who answers somebody never waits here.
In a process that does nothing else, a thread that runs a model keeps off one processor altogether while turns arrive.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal, TypeAlias

Work: TypeAlias = Literal["arriving", "later"]
"""What a thread in the background works at: turns that arrive at this time, or what can be done at any."""

_LINGER_S = 0.25
"""After a turn arrived, the next is expected for so long."""
_PATIENCE_S = 0.1
"""What arrives waits no longer for a place: a run may be long, or its thread may be behind others of the machine."""


def processors() -> int:
    """Those that this process may use, where that can be told."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Places:
    """Safe to use from many threads."""

    def __init__(self, count: Callable[[], int] = processors, clock: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._clock = clock
        self._arriving_until = clock()
        self._working = threading.local()
        self._all: frozenset[int] = frozenset()
        self.empty()
        _empty_in_children(self)

    @property
    def work(self) -> Work | None:
        """What this thread works at in the background; None: at nothing."""
        at: Work | None = getattr(self._working, "at", None)
        return at

    @contextmanager
    def behind(self, work: Work | None) -> Generator[None]:
        """What this thread does meanwhile is done in the background; None: is not, whatever it was."""
        before = self.work
        self._working.at = work
        try:
            yield
        finally:
            self._working.at = before

    @contextmanager
    def one(self) -> Generator[None]:
        """A place for one run of a model; at once for whoever does not work in the background."""
        work = self.work
        if work is None:
            yield
            return
        self._take(work)
        try:
            yield
        finally:
            with self._changed:
                self._taken -= 1
                self._changed.notify_all()

    def arrived(self) -> None:
        """A turn did, and more are expected."""
        self._arriving_until = self._clock() + _LINGER_S

    def keep_off_one(self) -> None:
        """From now on, and this thread and its children in any case but to run a model: for a process that does
        nothing else, where threads can be bound to processors."""
        if hasattr(os, "sched_getaffinity"):
            self._all = frozenset(os.sched_getaffinity(0))
            number = len(self._all)
            self._count = lambda: number
            self._bind(arriving=True)

    def empty(self) -> None:
        """In a forked child whoever had a place is not there to leave it."""
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()
        self._taken = 0

    def _take(self, work: Work) -> None:
        ticket = object()
        with self._changed:
            began = self._clock()
            if work == "arriving":
                self.arrived()
            self._queue.append(ticket)
            try:
                now = began
                while not self._may_begin(ticket, work, began, now):
                    self._changed.wait(self._pause(work, began, now))
                    now = self._clock()
                self._taken += 1
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()
        self._bind(now < self._arriving_until)

    def _bind(self, arriving: bool) -> None:
        """This thread, to all processors or, while turns arrive, to all but the first. It stays so until its next run:
        what it does in between belongs to it."""
        if len(self._all) > 1 and getattr(self._working, "arriving", None) != arriving:
            try:
                os.sched_setaffinity(0, self._all - {min(self._all)} if arriving else self._all)
                self._working.arriving = arriving
            except OSError:  # where that is not allowed, or not any more
                self._all = frozenset()

    def _may_begin(self, ticket: object, work: Work, began: float, now: float) -> bool:
        if work == "arriving" and now >= began + _PATIENCE_S:
            return True
        arriving = now < self._arriving_until
        return self._queue[0] is ticket and self._taken < max(1, self._count() - 1 if arriving else self._count())

    def _pause(self, work: Work, began: float, now: float) -> float | None:
        """Until time alone may change the answer that was given for this moment; None when it cannot."""
        ends = [began + _PATIENCE_S] if work == "arriving" else []
        left = [end - now for end in (*ends, self._arriving_until)]
        return min((seconds for seconds in left if seconds > 0), default=None)


def _empty_in_children(made: Places) -> None:
    """In every generation; what is gone by then needs nothing."""
    known = weakref.ref(made)

    def forget() -> None:
        if (there := known()) is not None:
            there.empty()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)


places = Places()
"""The processors are shared by all that this process has open, so their places are too."""
