"""Calls on their way to the threads that work on them, and back.

Laws: calls with the same order key run one after the other, in the order in which they arrived; all others may overtake
each other. Storing, reading, asking a model and long work have threads of their own: a search that waits for a model
delays neither a message nor a look at the status, and a verification delays none of them. Clients take turns (see
`workers`), and of the threads that ask models or work for long, one client never has all. Brief calls are worked on
in the event loop, which spares them two hand-overs; one that was not brief sends those that follow to the threads for a
while, so that the loop stands still seldom and shortly. Everything here happens in the event loop, but for the work of
the others.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from libravdb_memory.serve.calls import Answer, Call, run
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.workers import Workers

Done: TypeAlias = Callable[[Answer], None]
_SLOW_WORKERS = 3
_BRIEF_S = 0.002
_WARY_S = 10.0


class Dispatcher:
    def __init__(
        self,
        service: Service,
        loop: asyncio.AbstractEventLoop,
        workers: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._service = service
        self._loop = loop
        self._writers = Workers("libravdb-write", workers)
        self._readers = Workers("libravdb-read", workers)
        self._thinkers = Workers("libravdb-think", workers, lend=True)
        self._slow = Workers("libravdb-slow", _SLOW_WORKERS, lend=True)
        self._by_name = {
            "write": self._writers,
            "read": self._readers,
            "think": self._thinkers,
            "slow": self._slow,
        }
        self._lines: dict[str, deque[tuple[Call, Done, object]]] = {}
        self._now = now
        self._wary_until = now()
        self._idle = asyncio.Event()
        self._idle.set()
        self.under_way = 0

    def submit(self, call: Call, done: Done, client: object = None) -> None:
        """`client` is whoever asks, as whom its other calls are known too."""
        self.under_way += 1
        self._idle.clear()
        if call.order is None:
            self._start(call, done, client)
        elif (line := self._lines.get(call.order)) is not None:
            line.append((call, done, client))
        else:
            self._lines[call.order] = deque()
            self._start(call, done, client)

    def at_once(self, call: Call) -> Answer | None:
        """The answer to a call that waits for nothing; None when it has to be submitted."""
        if call.method.pace == "instant":
            return run(self._service, call)
        if call.method.pace != "brief" or call.order is not None or not self._service.is_ready():
            return None
        began = self._now()
        if began < self._wary_until:
            return None
        answer = run(self._service, call)
        ended = self._now()
        if ended - began > _BRIEF_S:
            self._wary_until = ended + _WARY_S
        return answer

    def waiting(self) -> dict[str, int]:
        """How many calls wait for a thread, by the kind of thread."""
        return {name: workers.waiting for name, workers in self._by_name.items()}

    @property
    def in_order(self) -> int:
        """How many wait for an earlier call with their key."""
        return sum(len(line) for line in tuple(self._lines.values()))

    async def idle(self) -> None:
        await self._idle.wait()

    def stop(self) -> None:
        for workers in self._by_name.values():
            workers.stop()

    def _start(self, call: Call, done: Done, client: object) -> None:
        def work() -> None:
            answer = run(self._service, call)
            try:
                self._loop.call_soon_threadsafe(self._finished, call, answer, done)
            except RuntimeError:  # the loop is closed: the daemon did not wait for this one
                return

        self._workers_for(call).submit(work, client)

    def _workers_for(self, call: Call) -> Workers:
        if call.method.pace == "slow":
            return self._slow
        if call.method.pace == "thinking":
            return self._thinkers
        return self._writers if call.method.writes else self._readers

    def _finished(self, call: Call, answer: Answer, done: Done) -> None:
        if call.order is not None:
            self._next_in_line(call.order)
        self.under_way -= 1
        if not self.under_way:
            self._idle.set()
        done(answer)

    def _next_in_line(self, order: str) -> None:
        line = self._lines[order]
        if line:
            self._start(*line.popleft())
        else:
            del self._lines[order]
