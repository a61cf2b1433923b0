"""Threads that work on calls.

Laws: a fixed number, started when first needed; work is taken in the order in which it was given. Of several idle
threads the one that worked last is taken: what it has at hand (a connection to the store, its cache) is still warm.
They never keep the process alive: what is under way when it ends was not acknowledged.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

Work: TypeAlias = Callable[[], None]


class Workers:
    """`work` must not raise: its own outermost frame sees to that."""

    def __init__(self, name: str, count: int) -> None:
        self._name = name
        self._most = count
        self._lock = threading.Lock()
        self._queue: deque[Work] = deque()
        self._idle: list[_Seat] = []
        self._started = 0
        self._stopping = False

    def submit(self, work: Work) -> None:
        with self._lock:
            if self._idle:
                self._idle.pop().take(work)
            elif self._started < self._most:
                self._start(work)
            else:
                self._queue.append(work)

    @property
    def waiting(self) -> int:
        """Pieces of work that no thread has taken yet."""
        return len(self._queue)

    def stop(self) -> None:
        """Let threads end when nothing is left to be done; nothing is waited for."""
        with self._lock:
            self._stopping = True
            while self._idle:
                self._idle.pop().take(None)

    def _start(self, work: Work) -> None:
        seat = _Seat(work)
        name = f"{self._name}-{self._started}"
        self._started += 1
        threading.Thread(target=self._run, args=(seat,), name=name, daemon=True).start()

    def _run(self, seat: _Seat) -> None:
        while (work := seat.wait()) is not None:
            work()
            with self._lock:
                if self._queue:
                    seat.take(self._queue.popleft())
                elif self._stopping:
                    seat.take(None)
                else:
                    self._idle.append(seat)


class _Seat:
    """Where one thread waits for its next piece of work; None ends it."""

    __slots__ = ("_given", "_work")

    def __init__(self, work: Work) -> None:
        self._work: Work | None = work
        self._given = threading.Lock()  # free: there is work

    def take(self, work: Work | None) -> None:
        self._work = work
        self._given.release()

    def wait(self) -> Work | None:
        self._given.acquire()
        return self._work
