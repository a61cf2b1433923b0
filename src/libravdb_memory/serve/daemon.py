"""The daemon: a store, a socket, and the life between the first call and the last answer.

Laws: the store has a moment to open before anything listens, so that a second daemon on the same data is refused with
the pid of the first. One that takes longer opens while `health` is answered already, and whatever needs it waits. The
endpoint is told, alone on a line, once it listens. Told to stop, it answers what it has begun, refuses the rest, writes
everything down and ends well.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from libravdb_memory.config import Config
from libravdb_memory.errors import ConfigError
from libravdb_memory.journal import Journal
from libravdb_memory.masking import prepare
from libravdb_memory.memory import Memory
from libravdb_memory.serve import gauges
from libravdb_memory.serve.access import ANYBODY, SAME_USER, TOKENS_FILE, Tokens
from libravdb_memory.serve.connection import Connection, Shared
from libravdb_memory.serve.dispatch import Dispatcher
from libravdb_memory.serve.endpoint import Endpoint, TcpEndpoint, UnixEndpoint, default_endpoint, parse_endpoint
from libravdb_memory.serve.opening import Opening
from libravdb_memory.serve.ownership import BACKLOG, tcp_listener, unix_listener
from libravdb_memory.serve.running import announced
from libravdb_memory.serve.service import Opened, Service
from libravdb_memory.serve.settings import ServeSettings
from libravdb_memory.serve.table import every_method
from libravdb_memory.serve.telemetry import check_telemetry, telemetry
from libravdb_memory.serve.web import serving_web, web_address, web_listener
from libravdb_memory.sources.watch import Watcher
from libravdb_memory.store.sqlite.files import locate
from libravdb_memory.store.sqlite.lock import is_own

_log = logging.getLogger(__name__)
_HEAD_START_S = 0.25
_FLUSH_S = 2.0
_CLOSE_S = 5.0
_SPARE_FILES = 128


def endpoint_of(config: Config) -> Endpoint:
    chosen = config.serve.endpoint.strip()
    return parse_endpoint(chosen) if chosen else default_endpoint(config.home)


def serve(config: Config, ready: Callable[[str], None]) -> bool:
    """Until a signal ends it. `ready` is told the endpoint. False when something under way could not be ended: then
    the process must not wait for its threads either."""
    endpoint = endpoint_of(config)
    _check_reach(endpoint, config.serve)
    check_telemetry(config.telemetry)
    with contextlib.ExitStack() as open_parts:
        opening = Opening(lambda: _open(config), config.db_path)
        closing = _Closing(opening, config.serve.drain_s + _CLOSE_S)
        open_parts.callback(closing.close)
        opening.start(_HEAD_START_S, lambda: is_own(locate(config.db_path)))
        web = open_parts.enter_context(web_listener(config))
        service = Service(opening.opened, config, _now_ms, lambda: opening.is_ready, http=web_address(web))
        listening = unix_listener(endpoint) if isinstance(endpoint, UnixEndpoint) else tcp_listener(endpoint)
        listener = open_parts.enter_context(listening)
        if isinstance(endpoint, TcpEndpoint):
            Tokens(config.home / TOKENS_FILE).owner()
        where = _bound(endpoint, listener)
        open_parts.enter_context(announced(config.home, where))
        daemon = _Daemon(service, opening, endpoint, listener, web, _with_room_for_files(config.serve))
        asyncio.run(daemon.run(lambda: ready(where)))
        ended_by = opening.failure  # not what came of it after it was told to stop
        closing.close()  # while its note is still there: who waits for that may start the next one
    if ended_by is not None:
        raise ended_by
    _log.info("stopped")
    return closing.done.is_set()


def _open(config: Config) -> Opened:
    with contextlib.ExitStack() as undo:
        memory = Memory.open(config=config)
        undo.callback(memory.close)
        watcher = Watcher(memory, config.sources)
        undo.callback(watcher.stop)
        watcher.start()
        journal = Journal(memory.store, config.serve.journal_entries)
        return Opened(memory, journal, lambda: watcher.states, undo.pop_all().close)


class _Closing:
    """Closes once. A model that never answers is not waited for: whatever was acknowledged is on disk."""

    def __init__(self, opening: Opening, patience_s: float) -> None:
        self._opening = opening
        self._patience_s = patience_s
        self._begun = False
        self.done = threading.Event()

    def close(self) -> None:
        if self._begun:
            return
        self._begun = True
        self._opening.give_up()
        threading.Thread(target=self._close, name="libravdb-closing", daemon=True).start()
        if not self.done.wait(self._patience_s):
            _log.warning("something under way does not end (a model that does not answer?); it is left")

    def _close(self) -> None:
        opened = self._opening.outcome()
        try:
            if opened is not None:
                opened.close()
        except Exception as error:  # the thread's outermost frame; the process ends all the same
            _log.error("the store was not closed well: %r", error, exc_info=error)
        self.done.set()


@dataclass(slots=True)
class _Daemon:
    service: Service
    opening: Opening
    endpoint: Endpoint
    listener: socket.socket
    web: socket.socket | None
    settings: ServeSettings

    async def run(self, ready: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        dispatcher = Dispatcher(self.service, loop, self.settings.workers)
        shared = self._shared(dispatcher)
        stopping = _on_signals(loop)
        create = loop.create_unix_server if isinstance(self.endpoint, UnixEndpoint) else loop.create_server
        server = await create(lambda: Connection(shared), sock=self.listener, backlog=BACKLOG)
        _log.info("listening on %s, process %d", _bound(self.endpoint, self.listener), os.getpid())
        if self.service.http:
            _log.info("serving %s", self.service.http)
        ready()
        threading.Thread(target=prepare, name="libravdb-patterns", daemon=True).start()
        if not self.opening.is_ready:
            _log.info("the store is being opened")
        self.opening.then(lambda: self._end_where_there_is_no_store(loop, stopping))
        with telemetry(self.service.config.telemetry, self.service.metrics):
            async with serving_web(shared, self.web):
                await self._until_told(shared, dispatcher, stopping, server)
        dispatcher.stop()

    async def _until_told(
        self, shared: Shared, dispatcher: Dispatcher, stopping: asyncio.Event, server: asyncio.Server
    ) -> None:
        await stopping.wait()
        _log.info("stopping: %d calls under way, %d connections", dispatcher.under_way, len(shared.connections))
        self.service.stopping.set()
        self.opening.give_up()
        server.close()
        await self._drain(shared, dispatcher, stopping)

    def _end_where_there_is_no_store(self, loop: asyncio.AbstractEventLoop, stopping: asyncio.Event) -> None:
        if self.opening.failure is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: it ends already
                loop.call_soon_threadsafe(stopping.set)

    def _shared(self, dispatcher: Dispatcher) -> Shared:
        service, settings = self.service, self.settings
        is_unix = isinstance(self.endpoint, UnixEndpoint)
        access = SAME_USER if is_unix else None if settings.tcp_token else ANYBODY
        uid = os.geteuid() if is_unix and hasattr(os, "geteuid") else None
        shared = Shared(service, every_method(), settings, dispatcher, access, uid)
        service.metrics.gauge("connections_open", lambda: len(shared.connections), "Clients that are connected.")
        service.metrics.reading(lambda: gauges.of_queues(dispatcher))
        service.metrics.reading(lambda: gauges.of_store(service))
        service.metrics.reading(gauges.of_process)
        return shared

    async def _drain(self, shared: Shared, dispatcher: Dispatcher, stopping: asyncio.Event) -> None:
        """Until all is answered, the time is up, or a second signal comes."""
        stopping.clear()
        for connection in tuple(shared.connections):
            connection.drain()
        await _first_of(dispatcher.idle(), stopping.wait(), timeout_s=self.settings.drain_s)
        if dispatcher.under_way:
            _log.warning("%d calls were not ended in time", dispatcher.under_way)
        if shared.connections:  # answers leave at the pace of their readers
            shared.all_gone.clear()
            await _first_of(shared.all_gone.wait(), stopping.wait(), timeout_s=_FLUSH_S)
        for connection in tuple(shared.connections):
            connection.abort()
        await asyncio.sleep(0)


def _check_reach(endpoint: Endpoint, settings: ServeSettings) -> None:
    if not isinstance(endpoint, TcpEndpoint) or endpoint.is_loopback:
        return
    if not settings.allow_remote:
        raise ConfigError(
            "serve.endpoint", f"{endpoint} can be reached by others; set serve.allow_remote if it must be"
        )
    if not settings.tcp_token:
        raise ConfigError("serve.tcp_token", f"{endpoint} can be reached by others: it needs tokens")


def _bound(endpoint: Endpoint, listener: socket.socket) -> str:
    """With the port that was free."""
    if isinstance(endpoint, UnixEndpoint):
        return str(endpoint)
    return str(TcpEndpoint(endpoint.host, listener.getsockname()[1]))


def _on_signals(loop: asyncio.AbstractEventLoop) -> asyncio.Event:
    stopping = asyncio.Event()

    def told(_: int, __: FrameType | None) -> None:
        loop.call_soon_threadsafe(stopping.set)

    for number in (signal.SIGTERM, signal.SIGINT):
        try:
            loop.add_signal_handler(number, stopping.set)
        except NotImplementedError:  # Windows
            signal.signal(number, told)
    return stopping


async def _first_of(*waits: Coroutine[Any, Any, object], timeout_s: float) -> None:
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    await asyncio.wait(tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()


def _with_room_for_files(settings: ServeSettings) -> ServeSettings:
    """As many connections as the system gives files for."""
    if os.name != "posix":
        return settings
    import resource

    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.max_connections + _SPARE_FILES
    allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    if soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
    room = max(max(soft, allowed) - _SPARE_FILES, 1)
    return replace(settings, max_connections=min(settings.max_connections, room))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
