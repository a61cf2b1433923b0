"""One client: frames in, answers out.

Laws: a client gets an answer to every call and every bad frame, and its connection lives on. It costs little however it
behaves: while it has too many calls unanswered, calls faster than it may, or does not read what it was answered,
nothing more of it is read; one that does not read for long is cut off. Waiting costs nothing but the bytes it has sent.
Before it says who it is, only short frames are read. Where unfinished frames of all clients together take too much, the
oldest of the long ones goes, not the one that came last; and a long one that does not go on is not waited for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import cast

from libravdb_memory.serve.access import Access
from libravdb_memory.serve.calls import Answer, Call, failed, read_call, run
from libravdb_memory.serve.dispatch import Dispatcher
from libravdb_memory.serve.failures import ACCESS_DENIED, BUSY, STOPPING
from libravdb_memory.serve.jsonrpc import BadFrame, FrameReader, Request, encode_error
from libravdb_memory.serve.methods import Table
from libravdb_memory.serve.ownership import peer_uid
from libravdb_memory.serve.pace import Pace
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.settings import ServeSettings
from libravdb_memory.serve.table import AUTHENTICATE, identify

_log = logging.getLogger(__name__)
_WRITE_BUFFER = 1 << 20
_AT_ONCE = 64
"""Frames of one client that are looked at before others get their turn."""
_FIRST_FRAME = 16 << 10
"""Bytes of a frame of a client that has not said who it is: room for a token, and cheap to read."""
_LONG_FRAME = 64 << 10
"""Unfinished frames up to this length may stay unfinished for ever."""


@dataclass(slots=True)
class Shared:
    """What all connections of a daemon share. `uid` is who may connect, where the system tells; `first_access` is what
    a connection may do before it says who it is."""

    service: Service
    table: Table
    settings: ServeSettings
    dispatcher: Dispatcher
    first_access: Access | None
    uid: int | None
    connections: set[Connection] = field(default_factory=lambda: set[Connection]())
    held_bytes: int = 0
    stalled_s: float = 30.0
    """How long the next piece of a long frame is waited for."""
    all_gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the last connection ends."""

    def left(self, connection: Connection) -> None:
        self.connections.discard(connection)
        if not self.connections:
            self.all_gone.set()

    @property
    def frame_limit(self) -> int:
        return self.settings.max_frame_mb << 20

    @property
    def most_held(self) -> int:
        """Bytes of unfinished frames of all clients together."""
        return 16 * self.frame_limit

    def make_room(self) -> None:
        """Of those who hold at least as much as most do, send away the one whose frame began first, till all fit."""
        while self.held_bytes > self.most_held:
            holders = [connection for connection in self.connections if connection.held]
            share = sum(holder.held for holder in holders) / len(holders)
            large = [holder for holder in holders if holder.held >= share]
            min(large, key=lambda holder: holder.began).hang_up("too much is being sent at once")


class Connection(asyncio.Protocol):
    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._access = shared.first_access
        self._reader = FrameReader(_FIRST_FRAME if self._access is None else shared.frame_limit)
        self._frames: Iterator[Request | BadFrame] | None = None
        self._in_flight = 0
        self._pace = Pace(shared.settings.max_calls_per_s, 0.0)
        self._waits: asyncio.TimerHandle | None = None
        self._taken = 0
        self.held = 0
        """Bytes of its unfinished frame."""
        self.began = 0.0
        """When that frame began, on the loop's clock."""
        self._heard = 0.0
        self._stalled: asyncio.TimerHandle | None = None
        self._writable = True
        self._ended = False
        self._cut_off: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None

    # ── the transport's side ─────────────────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        shared = self._shared
        if not self._is_allowed():
            shared.service.metrics.count("connections_refused")
            _log.warning("a process of another user tried to connect")
            self._transport.abort()
            return
        if len(shared.connections) >= shared.settings.max_connections:
            shared.service.metrics.count("connections_refused")
            self._transport.write(encode_error(None, BUSY, "too many connections"))
            self._transport.close()
            return
        shared.connections.add(self)
        shared.service.metrics.count("connections")
        self._transport.set_write_buffer_limits(high=_WRITE_BUFFER)

    def data_received(self, data: bytes) -> None:
        self._taken += len(data)
        self._pace.sent(len(data))
        self._heard = asyncio.get_running_loop().time()
        self._offer(self._reader.feed(data))

    def eof_received(self) -> bool:
        """The client has said all it wants to say; it may still read."""
        self._ended = True
        self._offer(self._reader.end())
        return True

    def pause_writing(self) -> None:
        self._writable = False
        loop = asyncio.get_running_loop()
        self._cut_off = loop.call_later(self._shared.settings.write_timeout_s, self._give_up)

    def resume_writing(self) -> None:
        self._writable = True
        if self._cut_off is not None:
            self._cut_off.cancel()
        self._pump()

    def connection_lost(self, exc: Exception | None) -> None:
        self._shared.left(self)
        self._hold(0)
        self._frames, self._transport = None, None
        for timer in (self._cut_off, self._waits):
            if timer is not None:
                timer.cancel()

    # ── the daemon's side ────────────────────────────────────────────────────────────────────────────────────────

    def drain(self) -> None:
        """Read no more; tell what was read and not begun that it will not be."""
        if self._transport is None:
            return
        self._transport.pause_reading()
        waiting, self._frames, self._ended = self._frames, None, True
        for frame in waiting or ():
            if isinstance(frame, Request) and frame.wants_answer:
                self._write(encode_error(frame.id, STOPPING, "the daemon is stopping"))
        self._close_when_done()

    def hang_up(self, reason: str) -> None:
        """Read no more. What has come of the unfinished frame is dropped at once; the calls before it are answered."""
        if self._transport is None:
            return
        self._transport.pause_reading()
        self._reader, self._ended = FrameReader(), True
        self._hold(0)
        self._shared.service.metrics.count("connections_cut_off")
        self._write(encode_error(None, BUSY, reason))
        self._close_when_done()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # ── frames ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _offer(self, frames: Iterator[Request | BadFrame]) -> None:
        self._frames = frames if self._frames is None else chain(self._frames, frames)
        self._pump()

    def _pump(self) -> None:
        """Take frames while there is room for more."""
        if self._transport is None or self._frames is None:
            return
        for _ in range(_AT_ONCE):
            if not self._has_room() or self._is_too_fast():
                self._transport.pause_reading()
                return
            frame = next(self._frames, None)
            if frame is None:
                self._frames = None
                self._rest()
                return
            self._hold(0)  # that frame is complete
            self._pace.called()
            self._handle(frame)
        self._transport.pause_reading()
        asyncio.get_running_loop().call_soon(self._pump)

    def _has_room(self) -> bool:
        shared = self._shared
        if self._in_flight and self._taken > 2 * shared.frame_limit:
            return False
        return self._writable and self._in_flight < shared.settings.max_in_flight

    def _is_too_fast(self) -> bool:
        """If so, it goes on by itself when the time has come."""
        if self._waits is None:
            loop = asyncio.get_running_loop()
            if wait_s := self._pace.wait_s(loop.time()):
                self._waits = loop.call_later(wait_s, self._go_on)
        return self._waits is not None

    def _go_on(self) -> None:
        self._waits = None
        self._pump()

    def _rest(self) -> None:
        """All frames were taken: wait for more."""
        self._hold(self._reader.held_bytes)
        if not self._in_flight:
            self._taken = 0
        self._shared.make_room()
        if self._ended:
            self._close_when_done()
        elif self._transport is not None:
            self._transport.resume_reading()

    def _hold(self, size: int) -> None:
        """So many bytes of an unfinished frame are kept."""
        if not self.held:
            self.began = self._heard
        self._shared.held_bytes += size - self.held
        self.held = size
        if size > _LONG_FRAME and self._stalled is None:
            self._watch()
        elif not size and self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _watch(self) -> None:
        self._stalled = asyncio.get_running_loop().call_later(self._shared.stalled_s, self._check_progress)

    def _check_progress(self) -> None:
        is_read = self._frames is None  # one that is not read at the moment cannot go on
        if is_read and asyncio.get_running_loop().time() - self._heard >= self._shared.stalled_s:
            self.hang_up("the rest of a frame did not come")
        else:
            self._watch()

    def _handle(self, frame: Request | BadFrame) -> None:
        shared = self._shared
        if isinstance(frame, BadFrame):
            shared.service.metrics.count("bad_frames")
            self._write(encode_error(frame.id, frame.code, frame.message))
            if frame.is_http and self._transport is not None:
                self._frames, self._ended = iter(()), True
                self._transport.pause_reading()
            return
        if self._access is None and frame.method != AUTHENTICATE.name:
            message = "access denied: this connection must begin with authenticate"
            self._write(encode_error(frame.id, ACCESS_DENIED, message) if frame.wants_answer else b"")
            return
        call = read_call(shared.table, frame, self._access or Access("nobody", frozenset()))
        if isinstance(call, Answer):
            shared.service.metrics.count("calls_refused")
            self._write(call.line)
        elif call.method is AUTHENTICATE:
            self._identify(call)
        elif (answer := shared.dispatcher.at_once(call)) is not None:
            self._write(answer.line)
        else:
            self._in_flight += 1
            shared.dispatcher.submit(call, self._answered, self)

    def _identify(self, call: Call) -> None:
        try:
            self._access = identify(self._shared.service, call.params)
        except Exception as error:  # answered like that of any other call
            self._write(failed(call.id, call.wants_answer, error, method=call.method.name).line)
        else:
            self._reader.limit = self._shared.frame_limit
            self._write(run(self._shared.service, call).line)

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _answered(self, answer: Answer) -> None:
        self._in_flight -= 1
        self._write(answer.line)
        if not self._in_flight:
            self._taken = 0
        self._pump()
        self._close_when_done()

    def _write(self, line: bytes) -> None:
        if self._transport is not None and line:
            self._transport.write(line)

    def _close_when_done(self) -> None:
        if self._ended and not self._in_flight and self._frames is None and self._transport is not None:
            self._transport.close()

    def _give_up(self) -> None:
        self._shared.service.metrics.count("connections_cut_off")
        _log.warning("a client did not read its answers for %d s: cut off", self._shared.settings.write_timeout_s)
        self.abort()

    def _is_allowed(self) -> bool:
        if self._shared.uid is None or self._transport is None:
            return True
        return peer_uid(self._transport.get_extra_info("socket")) in (None, self._shared.uid)
