"""Those who watch: one reader of the store for all of them, however many there are.

Laws: without listeners nothing runs. One that does not keep up loses what waited for it and is told so; nobody waits
for it. A listener whose token is taken back hears no more.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

from libravdb_memory.serve.access import Access
from libravdb_memory.serve.http.feed import Event, Feed, reset
from libravdb_memory.serve.service import Service

_log = logging.getLogger(__name__)
MOST_LISTENERS = 64
MOST_WAITING = 256
HEARTBEAT_S = 15.0
_BUSY_S = 0.25
_IDLE_S = 1.0
_TOGETHER_S = 0.05
"""Changes that come one after the other are read together."""
_HEARTBEAT = b": \n\n"


class Listener:
    def __init__(self, access: Access, namespace: str | None) -> None:
        self._access = access
        self._namespace = namespace
        self._waiting: asyncio.Queue[Event | None] = asyncio.Queue(MOST_WAITING)

    def tell(self, event: Event, sequence: int) -> None:
        if not self.hears(event):
            return
        if self._waiting.full():
            while not self._waiting.empty():
                self._waiting.get_nowait()
            event = reset(sequence)
        self._waiting.put_nowait(event)

    def hears(self, event: Event) -> bool:
        return event.is_for(self._access, self._namespace)

    def end(self) -> None:
        while self._waiting.full():
            self._waiting.get_nowait()
        self._waiting.put_nowait(None)

    async def next(self) -> Event | None:
        """None at the end."""
        return await self._waiting.get()


class Hub:
    """Everything here happens in the event loop, but for reading the store."""

    def __init__(self, service: Service, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._service = service
        self._feed = Feed(service)
        self._heartbeat_s = heartbeat_s
        self._listeners: set[Listener] = set()
        self._reading: asyncio.Task[None] | None = None
        self._begun = asyncio.Event()
        self._stirred = asyncio.Event()
        self._closed = False
        self._loop = asyncio.get_running_loop()
        service.metrics.observe(self._called)

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    @property
    def has_room(self) -> bool:
        return not self._closed and len(self._listeners) < MOST_LISTENERS

    def close(self) -> None:
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
        for listener in self._listeners:
            listener.end()

    async def stream(
        self, access: Access, namespace: str | None, last_id: int | None, is_allowed: Callable[[], bool]
    ) -> AsyncGenerator[bytes]:
        """Server-sent events, until the listener leaves, may listen no more, or the daemon ends."""
        listener = Listener(access, namespace)
        self._listeners.add(listener)
        try:
            for first in await self._first(listener, last_id):
                yield encoded(first)
            checked = self._loop.time()
            while True:
                try:
                    event = await asyncio.wait_for(listener.next(), self._heartbeat_s)
                except TimeoutError:
                    told = _HEARTBEAT
                else:
                    if event is None:
                        return
                    told = encoded(event)
                if self._loop.time() - checked >= self._heartbeat_s:
                    checked = self._loop.time()
                    if not is_allowed():
                        return
                yield told
        finally:
            self._left(listener)

    async def _first(self, listener: Listener, last_id: int | None) -> list[Event]:
        """Where it stands, and what one who comes back has missed."""
        if self._reading is None:
            self._feed, self._begun = Feed(self._service), asyncio.Event()
            self._reading = self._loop.create_task(self._read(self._feed, self._begun))
        await self._begun.wait()
        until = self._feed.sequence
        hello = Event("hello", {"sequence": until}, None if last_id is not None else until)
        if last_id is None:
            return [hello]
        missed = await asyncio.to_thread(self._feed.missed, last_id, until)
        return [hello, *([reset(until)] if missed is None else filter(listener.hears, missed))]

    async def _read(self, feed: Feed, begun: asyncio.Event) -> None:
        try:
            await asyncio.to_thread(feed.begin)
            begun.set()
            while True:
                self._stirred.clear()
                for event in await asyncio.to_thread(feed.poll):
                    for listener in self._listeners:
                        listener.tell(event, feed.sequence)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stirred.wait(), _BUSY_S if feed.is_busy else _IDLE_S)
                    await asyncio.sleep(_TOGETHER_S)
        except Exception as error:  # the task's outermost frame: who listens is sent away, and may come back
            if not self._service.stopping.is_set():
                _log.error("the change log cannot be followed: %r", error, exc_info=error)
            for listener in self._listeners:
                listener.end()
            begun.set()
            self._reading = None

    def _left(self, listener: Listener) -> None:
        self._listeners.discard(listener)
        if not self._listeners and self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _called(self, _: str, __: float, ___: bool) -> None:
        """After any call, in the thread that worked on it."""
        if self._listeners and not self._stirred.is_set():
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._stirred.set)


def encoded(event: Event) -> bytes:
    """Escapes keep a line one line, whatever the text holds."""
    number = "" if event.id is None else f"id: {event.id}\n"
    return f"{number}event: {event.name}\ndata: {json.dumps(event.data)}\n\n".encode()
