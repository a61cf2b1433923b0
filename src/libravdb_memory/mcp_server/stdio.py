"""The server on the standard streams, for a client that starts it.

Law: the handshake waits for nothing, not even for a turn of the interpreter: the daemon is looked for once the first
message is answered.
"""

from __future__ import annotations

import asyncio

from mcp.server.context import CallNext, HandlerResult
from mcp.server.stdio import stdio_server

from libravdb_memory.config import Config
from libravdb_memory.mcp_server.asking import Asking
from libravdb_memory.mcp_server.server import Request, make_server
from libravdb_memory.mcp_server.tools import Place


def serve_stdio(config: Config, place: Place, *, embedded: bool) -> None:
    asyncio.run(_serve(config, place, embedded))


async def _serve(config: Config, place: Place, embedded: bool) -> None:
    asking = Asking(config, embedded=embedded)
    server = make_server(asking, lambda _: place)

    begun = asyncio.Event()

    async def warm_afterwards(ctx: Request, call_next: CallNext) -> HandlerResult:
        answer = await call_next(ctx)
        if not begun.is_set():
            begun.set()
            asking.warm()
        return answer

    server.middleware.append(warm_afterwards)
    try:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await asking.close()
