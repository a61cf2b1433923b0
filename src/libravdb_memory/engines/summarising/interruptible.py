"""A request that its caller can walk away from.

Laws:

1. The caller waits no longer than `total_s`, whatever the network does: looking up a name, connecting, sending, every
   attempt and every pause between them included. Nor does it wait longer than a moment once it is cancelled.
2. What is abandoned is cut: its connection is shut, its pauses end, and no further attempt is made.

The request runs in a thread of its own, since a name lookup or a TLS handshake can be waited for in no other way.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from libravdb_memory.engines.http_json import JsonClient, RequestFailed

_POLL_S = 0.05


class Cancelled(Exception):
    """The caller asked for the call to end. `begun`: something may have been sent by then."""

    def __init__(self, *, begun: bool) -> None:
        super().__init__(begun)
        self.begun = begun


def post(
    client: JsonClient,
    body: object,
    total_s: float,
    cancelled: Callable[[], bool],
    sleep: Callable[[float], object] | None = None,
) -> Any:
    """The decoded answer. Raises RequestFailed and Cancelled. `sleep` takes the place of the pauses."""
    deadline = time.monotonic() + total_s
    line = _Line(deadline, sleep)
    held = replace(client, sleep=line.pause, opened=line.hold)
    if cancelled():
        raise Cancelled(begun=False)
    answer = _started(lambda: held.post(body))
    try:
        while not _done(answer):
            if cancelled():
                raise Cancelled(begun=True)
            if time.monotonic() >= deadline:
                raise RequestFailed(f"no answer within {total_s:g} s, attempts and pauses included", timed_out=True)
    except BaseException:
        line.cut()
        raise
    return answer.result()


def _started(work: Callable[[], Any]) -> Future[Any]:
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # raised again where the result is asked for
            future.set_exception(error)

    try:
        threading.Thread(target=run, name="libravdb-request", daemon=True).start()
    except RuntimeError as error:  # there is none to be had
        raise RequestFailed(f"nobody could wait for the answer: {error}") from error
    return future


def _done(future: Future[Any]) -> bool:
    with contextlib.suppress(TimeoutError):
        future.exception(_POLL_S)
    return future.done()


class _Line:
    """The connection and the pauses of one request, which can be cut from another thread."""

    def __init__(self, deadline: float, sleep: Callable[[float], object] | None) -> None:
        self._deadline = deadline
        self._lock = threading.Lock()
        self._given_up = threading.Event()
        self._sleep = sleep or self._given_up.wait
        self._socket: socket.socket | None = None

    def hold(self, connection: socket.socket) -> None:
        with self._lock:
            self._socket = connection
            if self._given_up.is_set():
                raise RequestFailed("given up")

    def pause(self, pause_s: float) -> None:
        if pause_s > self._deadline - time.monotonic():
            raise RequestFailed(f"a pause of {pause_s:g} s is asked for, longer than may be waited", timed_out=True)
        self._sleep(pause_s)
        if self._given_up.is_set():
            raise RequestFailed("given up")

    def cut(self) -> None:
        self._given_up.set()
        with self._lock, contextlib.suppress(OSError):
            if self._socket is not None:
                # The plain shutdown: that of a TLS socket would take the connection apart under the reading thread.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
