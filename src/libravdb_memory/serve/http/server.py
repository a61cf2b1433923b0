"""The HTTP server, on the daemon's own event loop.

Laws: a client costs little however it behaves: a request must arrive whole within a time, its head within a size, and
answers must be read within a time; there are never more than so many clients. Signals are the daemon's, not the
server's.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import struct
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from libravdb_memory.serve.http.addressed import Addressed

_log = logging.getLogger(__name__)
_MOST_CLIENTS = 256
_LONGEST_HEAD = 16 << 10
_REQUEST_S = 10.0
_WRITE_S = 30.0
_STOP_S = 2
_AT_ONCE = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one client may cost."""

    clients: int = _MOST_CLIENTS
    request_s: float = _REQUEST_S
    write_s: float = _WRITE_S


class HttpServer:
    def __init__(self, app: ASGIApp, listener: socket.socket, bounds: Bounds) -> None:
        self._listener = listener
        self._server = _Server(
            uvicorn.Config(
                Addressed(app),
                http=_bounded(bounds),
                ws="none",
                loop="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="error",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                h11_max_incomplete_event_size=_LONGEST_HEAD,
                timeout_graceful_shutdown=_STOP_S,
            )
        )
        self._serving: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._serving = asyncio.get_running_loop().create_task(self._serve())

    async def stop(self) -> None:
        """What is being answered is ended; nothing more is accepted."""
        if self._serving is not None:
            self._server.should_exit = True
            await asyncio.wait({self._serving}, timeout=2 * _STOP_S)

    async def _serve(self) -> None:
        try:
            await self._server.serve([self._listener])
        except Exception as error:  # the task's outermost frame: the daemon serves on without
            _log.error("the HTTP server failed: %r", error, exc_info=error)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def _bounded(bounds: Bounds) -> type[H11Protocol]:
    class Bounded(_BoundedProtocol):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(bounds, *arguments, **named)

    return Bounded


class _BoundedProtocol(H11Protocol):
    def __init__(self, bounds: Bounds, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._bounds = bounds
        self._arriving: asyncio.TimerHandle | None = None
        self._leaving: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._bounds.clients:
            transport.abort()
        else:
            self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._wait_for_request()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait_for_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._leaving = self.loop.call_later(self._bounds.write_s, self._cut_off)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._leaving is not None:
            self._leaving.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for timer in (self._arriving, self._leaving):
            if timer is not None:
                timer.cancel()

    def _cut_off(self) -> None:
        """What it did not read is thrown away: else the kernel would keep it for minutes, and never say so."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()

    def _wait_for_request(self) -> None:
        """One time for the whole of it: bytes that trickle in do not begin it again."""
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            if self._arriving is None and not self.transport.is_closing():
                self._arriving = self.loop.call_later(self._bounds.request_s, self.transport.abort)
        elif self._arriving is not None:
            self._arriving.cancel()
            self._arriving = None
