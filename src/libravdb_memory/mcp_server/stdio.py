"""The server on the standard streams, for a client that starts it.

Laws: the daemon is looked for a moment after the first message, so that what clients ask next is not slowed down by it;
a tool that is called does not wait for that moment. Every request is answered, and none twice.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import IO, Any, cast

import anyio
from mcp.server.context import CallNext, HandlerResult
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

from libravdb_memory.config import Config
from libravdb_memory.mcp_server.asking import Asking
from libravdb_memory.mcp_server.handshake import Id, request_of
from libravdb_memory.mcp_server.server import Request, make_server
from libravdb_memory.mcp_server.tools import Place
from libravdb_memory.mcp_server.wire import Wire

MOMENT_S = 0.25
_UNREADABLE = ErrorData(
    code=PARSE_ERROR,
    message="this request cannot be read: a text in it has half a surrogate pair, or it is not of the protocol's form",
)


def serve_stdio(config: Config, place: Place, wire: Wire, *, embedded: bool) -> None:
    asyncio.run(_serve(config, place, wire, embedded))


async def _serve(config: Config, place: Place, wire: Wire, embedded: bool) -> None:
    asking = Asking(config, embedded=embedded)
    server = make_server(asking, lambda _: place)

    due: list[asyncio.TimerHandle] = []

    async def warm_afterwards(ctx: Request, call_next: CallNext) -> HandlerResult:
        answer = await call_next(ctx)
        if not due:
            due.append(asyncio.get_running_loop().call_later(MOMENT_S, asking.warm))
        return answer

    server.middleware.append(warm_afterwards)
    try:
        lines = _Readable(wire, asyncio.get_running_loop())
        async with stdio_server(anyio.wrap_file(cast(IO[str], cast(object, lines)))) as (incoming, outgoing):
            unsettled = _Unsettled(outgoing, wire)
            lines.answering.set_result(unsettled)
            await server.run(incoming, unsettled, server.create_initialization_options())
    finally:
        for each in due:
            each.cancel()
        await asking.close()


class _Readable:
    """The lines that the library can read. Others it passes over without a word, and who asked would wait for ever."""

    def __init__(self, wire: Wire, loop: asyncio.AbstractEventLoop) -> None:
        self._wire = wire
        self._loop = loop
        self.answering: asyncio.Future[_Unsettled] = loop.create_future()

    def readline(self) -> str:
        while (refusal := _refusal(line := self._wire.readline())) is not None:
            asyncio.run_coroutine_threadsafe(self._refuse(refusal), self._loop)
        return line

    async def _refuse(self, refusal: JSONRPCError) -> None:
        await (await asyncio.shield(self.answering)).send(SessionMessage(refusal))


def _refusal(line: str) -> JSONRPCError | None:
    """Of a line that is no message and yet names the request that it was meant to be."""
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        number = request_of(line)
        return None if number is None else JSONRPCError(jsonrpc="2.0", id=number, error=_UNREADABLE)
    return None


class _Unsettled:
    """What the library sends, without the one answer that the client has already."""

    def __init__(self, outgoing: Any, wire: Wire) -> None:
        self._outgoing = outgoing
        self._wire = wire
        self._first = True

    async def send(self, item: SessionMessage, /) -> None:
        first, self._first = self._first, False
        if not (first and _answers(item.message, self._wire.settled())):
            await self._outgoing.send(item)

    async def aclose(self) -> None:
        await self._outgoing.aclose()

    async def __aenter__(self) -> _Unsettled:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


def _answers(message: object, request: Id | None) -> bool:
    return isinstance(message, JSONRPCResponse | JSONRPCError) and request is not None and message.id == request
