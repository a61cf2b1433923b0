"""The asynchronous client: the same scripts, awaited. One event loop uses it.

Law: what a cancelled call has begun on disk is finished, and nothing of it stays locked.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
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
_ORDERS = 64


class _Connection(asyncio.Protocol):
    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._line = Line()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._line.feed(data)
        if self.lost:
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._line.fail("the daemon hung up" if exc is None else f"the connection is lost ({exc})")

    @property
    def lost(self) -> bool:
        return self._line.failure is not None

    async def exchange(self, calls: Sequence[Ask]) -> list[Outcome]:
        return [await answer for answer in [self._send(call) for call in calls]]

    def close(self) -> None:
        self._line.fail("the client was closed")
        if self._transport is not None:
            self._transport.abort()

    def _send(self, call: Ask) -> asyncio.Future[Outcome]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Outcome] = loop.create_future()
        deadline = loop.time() + (call.timeout_s or self._timeout_s)

        def done(outcome: Outcome) -> None:
            if not answer.done():
                answer.set_result(outcome)

        data = self._line.call(call.method, call.params, deadline, done)
        timer = loop.call_at(deadline, self._expire)
        answer.add_done_callback(lambda _: timer.cancel())
        if data and self._transport is not None:
            self._transport.write(data)
        return answer

    def _expire(self) -> None:
        if self._line.expire(asyncio.get_running_loop().time()):
            self.close()


async def _connect(endpoint: Endpoint, connect_s: float, timeout_s: float) -> _Connection:
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(connect_s):
        if isinstance(endpoint, UnixEndpoint):
            make: Coroutine[Any, Any, tuple[Any, _Connection]] = loop.create_unix_connection(
                lambda: _Connection(timeout_s), os.fspath(endpoint.path)
            )
        else:
            make = loop.create_connection(lambda: _Connection(timeout_s), endpoint.host, endpoint.port)
        transport, connection = await make
    if not isinstance(endpoint, UnixEndpoint):
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _verb(
    make: Callable[Concatenate[Desk, P], Job[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    async def method(client: AsyncClient, /, *args: P.args, **named: P.kwargs) -> T:
        return await client.run(make(client.desk, *args, **named))

    update_wrapper(method, make)
    return method


class AsyncClient:
    """A daemon's memory, for a program that awaits its answers."""

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
        self._reach = fresh_reach()
        self._connecting = asyncio.Lock()
        self._orders = [asyncio.Lock() for _ in range(_ORDERS)]

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

    async def run(self, job: Job[T]) -> T:
        if job.order is None:
            return await _drive(job.script, self._exchange)
        async with self._orders[hash(job.order) % _ORDERS]:
            return await _drive(job.script, self._exchange)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
            await asyncio.sleep(0)  # the transport lets go of its socket in the next round of the loop

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _exchange(self, calls: Sequence[Ask]) -> list[Outcome]:
        try:
            connection = await self._connected()
        except UnavailableError as error:
            return [error] * len(calls)
        outcomes = await connection.exchange(calls)
        lost = next((each for each in outcomes if isinstance(each, UnavailableError)), None)
        if lost is None:
            self._reach.answered()
        elif self._connection is connection:  # counted once, however many calls were on it
            self._connection = None
            self._reach.failed(lost.message)
        return outcomes

    async def _connected(self) -> _Connection:
        async with self._connecting:
            if self._connection is not None and not self._connection.lost:
                return self._connection
            self._reach.begin(self._opening.connect_s)
            self._connection = await self._open()
            return self._connection

    async def _open(self) -> _Connection:
        begun, connection = self._opening, None
        endpoint = begun.place()
        try:
            connection = await _connect(endpoint, begun.connect_s, begun.timeout_s)
            await _drive(begun.greeting(endpoint), connection.exchange)
        except (OSError, LibraVDBError) as error:
            if connection is not None:
                connection.close()
            reason = f"no daemon answers at {endpoint} ({error})"
            self._reach.failed(reason)
            raise UnavailableError(reason) from error
        except BaseException:  # cancelled
            if connection is not None:
                connection.close()
            raise
        return connection


async def _drive(script: Script[T], exchange: Callable[[Sequence[Ask]], Awaitable[list[Outcome]]]) -> T:
    """Run a script to its end."""
    sent: Any = None
    failure: BaseException | None = None
    while True:
        try:
            step = script.send(sent) if failure is None else script.throw(failure)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        failure = None
        try:
            sent = await _on_disk(step) if isinstance(step, Disk) else await exchange(step.calls)
        except (Exception, asyncio.CancelledError) as error:  # the script's to handle, or to clean up after
            failure = error


async def _on_disk(step: Disk) -> Any:
    work = asyncio.ensure_future(asyncio.to_thread(step.work))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        with suppress(Exception):
            step.undo(await work)
        raise
