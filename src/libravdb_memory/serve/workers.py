"""Threads that work on calls.

Laws: a fixed number, started when first needed. The work of one client is taken in the order in which it was given;
clients that wait take turns, so that who asks for much delays who asks for little by one piece of work a thread. Where
threads are lent, no client has all of them. Of several idle threads the one that worked last is taken: what it has at
hand (a connection to the store, its cache) is still warm. They never keep the process alive: what is under way when it
ends was not acknowledged.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from typing import TypeAlias

Work: TypeAlias = Callable[[], None]


class Workers:
    """`work` must not raise: its own outermost frame sees to that. With `lend`, one thread is always left to others
    than the client that has most."""

    def __init__(self, name: str, count: int, *, lend: bool = False) -> None:
        self._name = name
        self._most = count
        self._most_of_one = max(1, count - 1) if lend else count
        self._lock = threading.Lock()
        self._queues: dict[object, deque[Work]] = {}
        """Of each client that waits, in the order of their turns."""
        self._at_work: Counter[object] = Counter()
        self._idle: list[_Seat] = []
        self._started = 0
        self._stopping = False

    def submit(self, work: Work, client: object = None) -> None:
        with self._lock:
            if not self._may_begin(client) or not (self._idle or self._started < self._most):
                self._queues.setdefault(client, deque()).append(work)
                return
            self._at_work[client] += 1
            if self._idle:
                self._idle.pop().take((work, client))
            else:
                self._start((work, client))

    @property
    def waiting(self) -> int:
        """Pieces of work that no thread has taken yet."""
        with self._lock:
            return sum(map(len, self._queues.values()))

    def stop(self) -> None:
        """Let threads end when nothing is left to be done; nothing is waited for."""
        with self._lock:
            self._stopping = True
            while self._idle:
                self._idle.pop().take(None)

    def _may_begin(self, client: object) -> bool:
        return self._at_work[client] < self._most_of_one

    def _start(self, task: _Task) -> None:
        seat = _Seat(task)
        name = f"{self._name}-{self._started}"
        self._started += 1
        threading.Thread(target=self._run, args=(seat,), name=name, daemon=True).start()

    def _run(self, seat: _Seat) -> None:
        while (task := seat.wait()) is not None:
            work, client = task
            work()
            with self._lock:
                self._at_work[client] -= 1
                if not self._at_work[client]:
                    del self._at_work[client]
                following = self._next()
                if following is not None or self._stopping:
                    seat.take(following)
                else:
                    self._idle.append(seat)
            del task, work, client

    def _next(self) -> _Task | None:
        """Of the client whose turn it is; its next turn comes after those of all who wait now."""
        client = next((client for client in self._queues if self._may_begin(client)), _NOBODY)
        if client is _NOBODY:
            return None
        queue = self._queues.pop(client)
        work = queue.popleft()
        if queue:
            self._queues[client] = queue
        self._at_work[client] += 1
        return work, client


_Task: TypeAlias = tuple[Work, object]
_NOBODY = object()


class _Seat:
    """Where one thread waits for its next piece of work; None ends it."""

    __slots__ = ("_given", "_task")

    def __init__(self, task: _Task) -> None:
        self._task: _Task | None = task
        self._given = threading.Lock()  # free: there is work

    def take(self, task: _Task | None) -> None:
        self._task = task
        self._given.release()

    def wait(self) -> _Task | None:
        self._given.acquire()
        task, self._task = self._task, None
        return task
