"""The server on the standard streams, for a client that starts it.

Laws: the daemon is looked for a moment after the first message, so that what clients ask next is not slowed down by it;
a tool that is called does not wait for that moment. No request is answered twice.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import IO, Any, cast

import anyio
from mcp.server.context import CallNext, HandlerResult
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCResponse

from libravdb_memory.config import Config
from libravdb_memory.mcp_server.asking import Asking
from libravdb_memory.mcp_server.handshake import Id
from libravdb_memory.mcp_server.server import Request, make_server
from libravdb_memory.mcp_server.tools import Place
from libravdb_memory.mcp_server.wire import Wire

MOMENT_S = 0.25


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
        async with stdio_server(anyio.wrap_file(cast(IO[str], cast(object, wire)))) as (incoming, outgoing):
            unsettled = _Unsettled(outgoing, wire)
            await server.run(incoming, unsettled, server.create_initialization_options())
    finally:
        for each in due:
            each.cancel()
        await asking.close()


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
