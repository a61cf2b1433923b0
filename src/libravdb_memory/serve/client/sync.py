"""The blocking client: threads may share it, and each of their calls is on its way at once.

Laws: nothing is connected before the first call. After a fork, a child makes a connection of its own and leaves its
parent's alone.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import ExitStack, suppress
from functools import update_wrapper
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.serve.client import verbs
from libravdb_memory.serve.client.core import CALL_TIMEOUT_S, Line, Outcome, UnavailableError
from libravdb_memory.serve.client.delivering import Desk
from libravdb_memory.serve.client.opening import Opening, fresh_reach, opening
from libravdb_memory.serve.client.scripts import Ask, Disk, Job, Script
from libravdb_memory.serve.client.spool import MAX_SPOOL_BYTES
from libravdb_memory.serve.endpoint import Endpoint, UnixEndpoint

P = ParamSpec("P")
T = TypeVar("T")
_PIECE = 1 << 16
_ORDERS = 64


class _Connection:
    """The thread that reads is the one that lets go of the socket, when nobody sends: its number may be used again."""

    def __init__(self, connected: socket.socket, timeout_s: float) -> None:
        self._socket = connected
        self._timeout_s = timeout_s
        self._line = Line()
        self._guard = threading.Lock()
        self._sending = threading.Lock()
        self._reader = threading.Thread(target=self._read, name="libravdb-client", daemon=True)
        self._reader.start()

    @property
    def lost(self) -> bool:
        return self._line.failure is not None

    def exchange(self, calls: Sequence[Ask]) -> list[Outcome]:
        deadlines = [time.monotonic() + (call.timeout_s or self._timeout_s) for call in calls]
        answers = [self._send(call, deadline) for call, deadline in zip(calls, deadlines, strict=True)]
        return [self._await(answer, deadline) for answer, deadline in zip(answers, deadlines, strict=True)]

    def close(self, reason: str = "the client was closed") -> None:
        with self._guard:
            self._line.fail(reason)
        with suppress(OSError):  # gone already; else this ends what the threads wait for
            self._socket.shutdown(socket.SHUT_RDWR)

    def join(self) -> None:
        self._reader.join(self._timeout_s)

    def leave_to_parent(self) -> None:
        """Close what a fork copied, without a word to the other end."""
        self._socket.close()

    def _send(self, call: Ask, deadline: float) -> Future[Outcome]:
        answer: Future[Outcome] = Future()
        if not self._sending.acquire(timeout=max(0.0, deadline - time.monotonic())):
            self.close("the daemon does not read")  # which ends the sending that is under way
            self._sending.acquire()
        try:
            with self._guard:
                data = self._line.call(call.method, call.params, deadline, answer.set_result)
            self._socket.sendall(data)
        except OSError as error:
            self.close(f"the connection is lost ({error.strerror or error})")
        finally:
            self._sending.release()
        return answer

    def _await(self, answer: Future[Outcome], deadline: float) -> Outcome:
        while True:
            try:
                return answer.result(max(0.0, deadline - time.monotonic()))
            except FutureTimeoutError:
                with self._guard:
                    overdue = self._line.expire(time.monotonic())
                if overdue:
                    self.close()

    def _read(self) -> None:
        while not self.lost:
            try:
                data = self._socket.recv(_PIECE)
            except TimeoutError:
                continue
            except OSError as error:
                data = b""
                reason = f"the connection is lost ({error.strerror or error})"
            else:
                reason = "the daemon hung up"
            with self._guard:
                if data:
                    self._line.feed(data)
                else:
                    self._line.fail(reason)
        self.close()
        with self._sending:
            self._socket.close()


def _connect(endpoint: Endpoint, connect_s: float, timeout_s: float) -> _Connection:
    with ExitStack() as undo:
        if isinstance(endpoint, UnixEndpoint):
            connected = undo.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            connected.settimeout(connect_s)
            connected.connect(os.fspath(endpoint.path))
        else:
            connected = undo.enter_context(socket.create_connection((endpoint.host, endpoint.port), connect_s))
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.settimeout(timeout_s)
        undo.pop_all()
        return _Connection(connected, timeout_s)


def _verb(make: Callable[Concatenate[Desk, P], Job[T]]) -> Callable[Concatenate[Client, P], T]:
    def method(client: Client, /, *args: P.args, **named: P.kwargs) -> T:
        return client.run(make(client.desk, *args, **named))

    update_wrapper(method, make)
    return method


class Client:
    """A daemon's memory, for a program that waits for its answers."""

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        home: str | Path | None = None,
        token: str | None = None,
        timeout_s: float = CALL_TIMEOUT_S,
        spool_bytes: int = MAX_SPOOL_BYTES,
    ) -> None:
        self._opening: Opening = opening(endpoint, home=home, token=token, timeout_s=timeout_s, spool_bytes=spool_bytes)
        self._connection: _Connection | None = None
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._reach = fresh_reach()
        self._connecting = threading.Lock()
        self._orders = [threading.Lock() for _ in range(_ORDERS)]

    @property
    def desk(self) -> Desk:
        return self._opening.desk

    bootstrap = _verb(verbs.bootstrap)
    reset = _verb(verbs.reset)
    link = _verb(verbs.link)
    unlink = _verb(verbs.unlink)
    promote_diary = _verb(verbs.promote_diary)
    ingest = _verb(verbs.ingest)
    after_turn = _verb(verbs.after_turn)
    context = _verb(verbs.context)
    send_waiting = _verb(verbs.send_waiting)
    search = _verb(verbs.search)
    get = _verb(verbs.get)
    history = _verb(verbs.history)
    expand = _verb(verbs.expand)
    guidance = _verb(verbs.guidance)
    compact = _verb(verbs.compact)
    forget = _verb(verbs.forget)
    why = _verb(verbs.why)
    why_not = _verb(verbs.why_not)
    replay = _verb(verbs.replay)
    receipts = _verb(verbs.receipts)
    rules_check = _verb(verbs.rules_check)
    health = _verb(verbs.health)
    status = _verb(verbs.status)
    metrics = _verb(verbs.metrics)
    verify = _verb(verbs.verify)
    backup = _verb(verbs.backup)
    reindex = _verb(verbs.reindex)
    call = _verb(verbs.call)

    def run(self, job: Job[T]) -> T:
        if os.getpid() != self._pid:
            self._after_fork()
        if job.order is None:
            return _drive(job.script, self._exchange)
        with self._orders[hash(job.order) % _ORDERS]:
            return _drive(job.script, self._exchange)

    def close(self) -> None:
        if os.getpid() != self._pid:
            self._after_fork()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
            connection.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _after_fork(self) -> None:
        inherited, self._connection = self._connection, None
        if inherited is not None:
            inherited.leave_to_parent()
        self._begin()

    def _exchange(self, calls: Sequence[Ask]) -> list[Outcome]:
        try:
            connection = self._connected()
        except UnavailableError as error:
            return [error] * len(calls)
        outcomes = connection.exchange(calls)
        lost = next((each for each in outcomes if isinstance(each, UnavailableError)), None)
        with self._connecting:
            if lost is None:
                self._reach.answered()
            elif self._connection is connection:  # counted once, however many calls were on it
                self._connection = None
                self._reach.failed(lost.message)
        return outcomes

    def _connected(self) -> _Connection:
        with self._connecting:
            if self._connection is not None and not self._connection.lost:
                return self._connection
            self._reach.begin(self._opening.connect_s)
            self._connection = self._open()
            return self._connection

    def _open(self) -> _Connection:
        begun, connection = self._opening, None
        endpoint = begun.place()
        try:
            connection = _connect(endpoint, begun.connect_s, begun.timeout_s)
            _drive(begun.greeting(endpoint), connection.exchange)
        except (OSError, LibraVDBError) as error:
            if connection is not None:
                connection.close()
            reason = f"no daemon answers at {endpoint} ({error})"
            self._reach.failed(reason)
            raise UnavailableError(reason) from error
        return connection


def _drive(script: Script[T], exchange: Callable[[Sequence[Ask]], list[Outcome]]) -> T:
    """Run a script to its end."""
    sent: Any = None
    failure: Exception | None = None
    while True:
        try:
            step = script.send(sent) if failure is None else script.throw(failure)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        failure = None
        try:
            sent = step.work() if isinstance(step, Disk) else exchange(step.calls)
        except Exception as error:  # the script's to handle
            failure = error
