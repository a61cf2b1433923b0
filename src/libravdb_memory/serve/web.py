"""Where the daemon serves HTTP, if it does: its socket and its start. The server itself is imported only then.

Law: other machines reach it only where the settings allow it.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from libravdb_memory.config import Config
from libravdb_memory.errors import ConfigError
from libravdb_memory.serve.access import TOKENS_FILE, Tokens
from libravdb_memory.serve.connection import Shared
from libravdb_memory.serve.endpoint import TcpEndpoint, parse_address
from libravdb_memory.serve.ownership import tcp_listener

if TYPE_CHECKING:
    from libravdb_memory.serve.http.hub import Hub
    from libravdb_memory.serve.http.server import HttpServer


@contextmanager
def web_listener(config: Config) -> Generator[socket.socket | None]:
    """None where HTTP is off. The owner's token is there once it listens."""
    if not config.serve.http.strip():
        yield None
        return
    address = parse_address(config.serve.http)
    if not address.is_loopback and not config.serve.allow_remote:
        reason = f"{address.address} can be reached by others; set serve.allow_remote if it must be"
        raise ConfigError("serve.http", reason)
    with tcp_listener(address) as listener:
        Tokens(config.home / TOKENS_FILE).owner()
        yield listener


def web_address(listener: socket.socket | None) -> str:
    """With the port that was free; empty where HTTP is off."""
    if listener is None:
        return ""
    host, port = listener.getsockname()[:2]
    return f"http://{TcpEndpoint(host, port).address}"


@contextlib.asynccontextmanager
async def serving_web(shared: Shared, listener: socket.socket | None) -> AsyncGenerator[None]:
    """On the running loop, until the end of the block."""
    if listener is None:
        yield
        return
    from libravdb_memory.serve.http.hub import Hub

    hub = Hub(shared.service)
    server = _server(shared, listener, hub)
    server.start()
    try:
        yield
    finally:
        hub.close()
        await server.stop()


def _server(shared: Shared, listener: socket.socket, hub: Hub) -> HttpServer:
    from libravdb_memory.serve.http.app import application
    from libravdb_memory.serve.http.asking import Asking
    from libravdb_memory.serve.http.guard import Guard
    from libravdb_memory.serve.http.server import Bounds, HttpServer

    config, settings = shared.service.config, shared.settings
    names = {parse_address(settings.http).host, *settings.http_hosts}
    guard = Guard(
        frozenset(name.strip().lower() for name in names),
        Tokens(config.home / TOKENS_FILE),
        shared.service.sign_ins,
        f"libravdb_{listener.getsockname()[1]}",
    )
    asking = Asking(shared.service, shared.table, shared.dispatcher)
    bounds = Bounds(write_s=settings.write_timeout_s)
    return HttpServer(application(asking, guard, hub), listener, bounds)
