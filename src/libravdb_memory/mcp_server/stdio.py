"""The server on the standard streams, for a client that starts it.

Law: the handshake waits for nothing: the daemon is found or started while the client reads the list of tools.
"""

from __future__ import annotations

import asyncio

from mcp.server.stdio import stdio_server

from libravdb_memory.config import Config
from libravdb_memory.mcp_server.asking import Asking
from libravdb_memory.mcp_server.server import make_server
from libravdb_memory.mcp_server.tools import Place


def serve_stdio(config: Config, place: Place, *, embedded: bool) -> None:
    asyncio.run(_serve(config, place, embedded))


async def _serve(config: Config, place: Place, embedded: bool) -> None:
    asking = Asking(config, embedded=embedded)
    server = make_server(asking, lambda _: place)
    try:
        async with stdio_server() as (incoming, outgoing):
            asking.warm()
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await asking.close()
