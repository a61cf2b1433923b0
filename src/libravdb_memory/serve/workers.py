"""Threads that work on calls.

Laws: a fixed number, started when first needed; work is taken in the order in which it was given. They never keep the
process alive: what is under way when it ends was not acknowledged.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeAlias

Work: TypeAlias = Callable[[], None]


class Workers:
    """`work` must not raise: its own outermost frame sees to that."""

    def __init__(self, name: str, count: int) -> None:
        self._name = name
        self._most = count
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._busy = 0

    def submit(self, work: Work) -> None:
        with self._lock:
            self._busy += 1
            if self._busy > len(self._threads) and len(self._threads) < self._most:
                thread = threading.Thread(target=self._run, name=f"{self._name}-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._queue.put(work)

    @property
    def waiting(self) -> int:
        """Pieces of work that no thread has taken yet."""
        return self._queue.qsize()

    def stop(self) -> None:
        """Let idle threads end; nothing is waited for."""
        for _ in self._threads:
            self._queue.put(None)

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            work()
            with self._lock:
                self._busy -= 1
