"""Places at the processors for models that run in the background.

A model keeps a processor busy for some 10 ms at a time. If as many run as there are processors, whoever stores a turn
waits for one of them whenever it has waited for anything else; the more so if the thread that holds Python's
interpreter lock was put off for a model.

Laws: background work never runs more models at once than there are processors, and while turns arrive one fewer, if
that leaves one. Those who wait are served in the order they came. Whoever answers somebody never waits here.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from libravdb_memory.store.forking import abandon_in_children

Work: TypeAlias = Literal["arriving", "later"]
"""What a thread in the background works at: turns that arrive at this time, or what can be done at any."""

_LINGER_S = 0.25
"""After a turn arrived, the next is expected for so long."""


class Places:
    """Safe to use from many threads."""

    def __init__(self, processors: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._processors = processors
        self._clock = clock
        self._arriving_until = clock()
        self._taken = 0
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()
        self._working = threading.local()
        abandon_in_children(self)

    @contextmanager
    def behind(self, work: Work) -> Generator[None]:
        """What this thread does meanwhile is done in the background."""
        before: Work | None = getattr(self._working, "at", None)
        self._working.at = work
        try:
            yield
        finally:
            self._working.at = before

    @contextmanager
    def one(self) -> Generator[None]:
        """A place for one run of a model; at once for whoever does not work in the background."""
        work: Work | None = getattr(self._working, "at", None)
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

    def abandon(self) -> None:
        """In a forked child: whoever had a place is not there to leave it."""
        self._changed = threading.Condition()
        self._queue = deque()
        self._taken = 0

    def _take(self, work: Work) -> None:
        ticket = object()
        with self._changed:
            if work == "arriving":
                self._arriving_until = self._clock() + _LINGER_S
            self._queue.append(ticket)
            try:
                self._changed.wait_for(lambda: self._queue[0] is ticket and self._taken < self._open())
                self._taken += 1
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()

    def _open(self) -> int:
        arriving = self._clock() < self._arriving_until
        return max(1, self._processors - 1 if arriving else self._processors)


def processors() -> int:
    """Those that this process may use, where that can be told."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


places = Places(processors())
"""The processors are one machine's, so their places are too."""
