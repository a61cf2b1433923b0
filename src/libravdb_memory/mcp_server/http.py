"""The server over streamable HTTP: `/mcp` is the configured user's memory, `/mcp/<namespace>` another's.

Laws: it listens on loopback addresses only. Every request is checked on its own: the names it calls this machine by,
the page it comes from, its token, and whether that token reaches the namespace of its URL. Nothing is kept between
requests, so nothing of one can reach another.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from libravdb_memory.config import Config
from libravdb_memory.errors import ConfigError, InvalidInputError, LibraVDBError
from libravdb_memory.mcp_server.asking import Asking
from libravdb_memory.mcp_server.server import Request, make_server
from libravdb_memory.mcp_server.tools import Place
from libravdb_memory.namespaces import given_user
from libravdb_memory.serve.access import TOKENS_FILE, AccessDeniedError, Tokens
from libravdb_memory.serve.endpoint import parse_address
from libravdb_memory.serve.http.guard import Guard
from libravdb_memory.serve.http.server import Bounds, HttpServer
from libravdb_memory.serve.ownership import tcp_listener

_log = logging.getLogger(__name__)
ROOT = "/mcp"
_ONLY_ONCE = ("host", "origin", "authorization")
_PLACE = "libravdb.place"
_WITH = {401: {"www-authenticate": "Bearer"}, 405: {"allow": "POST"}}
"""Headers that go with a refusal."""
_WAYS = frozenset({".", ".."})
"""Names that clients make another path of before they ask."""


def serve_http(config: Config, place: Place, address: str, tell: Callable[[str], None], *, embedded: bool) -> None:
    asyncio.run(_serve(config, place, address, tell, embedded))


async def _serve(config: Config, place: Place, address: str, tell: Callable[[str], None], embedded: bool) -> None:
    where = parse_address(address, "--http")
    if not where.is_loopback:
        raise ConfigError("--http", f"{address} can be reached by others; it serves this machine alone")
    tokens = Tokens(config.home / TOKENS_FILE)
    tokens.owner()
    asking = Asking(config, embedded=embedded)
    manager = StreamableHTTPSessionManager(make_server(asking, place_of), stateless=True)
    app = Guarded(manager.handle_request, Guard(frozenset({where.host.lower()}), tokens), place)
    try:
        with tcp_listener(where) as listener:
            async with manager.run():
                server = HttpServer(app, listener, Bounds())
                server.start()
                asking.warm()
                host, port = listener.getsockname()[:2]
                tell(f"http://{f'[{host}]' if ':' in host else host}:{port}{ROOT}")
                await _told_to_stop()
                await server.stop()
    finally:
        await asking.close()


async def _told_to_stop() -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    await stopped.wait()


def place_of(request: Request) -> Place:
    """As the guard has noted it beside the request."""
    place = None if request.request is None else request.request.scope.get(_PLACE)
    if not isinstance(place, Place):
        raise InvalidInputError("namespace", "is not known for this request")
    return place


@dataclass(frozen=True, slots=True)
class Refused(Exception):
    status: int
    reason: str


class Guarded:
    """What is served, behind the checks."""

    def __init__(self, app: ASGIApp, guard: Guard, place: Place) -> None:
        self._app = app
        self._guard = guard
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            place = self._allowed(Headers(scope=scope), scope)
        except Refused as refused:
            more = _WITH.get(refused.status, {})
            response = PlainTextResponse(f"{refused.reason}\n", refused.status, {"cache-control": "no-store", **more})
            await response(scope, receive, send)
            return
        await self._app({**scope, _PLACE: place, "path": ROOT, "raw_path": ROOT.encode()}, receive, send)

    def _allowed(self, headers: Headers, scope: Scope) -> Place:
        if any(len(headers.getlist(name)) > 1 for name in _ONLY_ONCE):
            raise Refused(400, "a header is there more than once")
        if (refusal := self._guard.refusal(headers)) is not None:
            raise Refused(refusal.status, refusal.reason)
        try:
            access = self._guard.access(headers)
        except AccessDeniedError as error:
            raise Refused(401, error.message) from error
        except LibraVDBError as error:
            _log.error("tokens cannot be read: %s", error)
            raise Refused(500, "the tokens of this home cannot be read") from error
        if scope["method"] != "POST":  # nothing is kept that an open stream or an end of a session could be about
            raise Refused(405, "requests are posted here")
        place = self._place_at(scope)
        if access.namespaces is not None and place.user not in access.namespaces:
            raise Refused(403, "this token does not reach that far")
        return place

    def _place_at(self, scope: Scope) -> Place:
        path: bytes = scope.get("raw_path") or scope["path"].encode()
        path, _, query = path.partition(b"?")
        if query or scope.get("query_string"):  # one that names a namespace must not look as if it had been heard
            raise Refused(400, "a query means nothing here; the path names the namespace")
        if path == b"/mcp":
            return self._place
        root, _, name = path.removeprefix(b"/").partition(b"/")
        if root != b"mcp" or b"/" in name:
            raise Refused(404, "there is /mcp, and /mcp/<namespace>")
        try:
            user = given_user(unquote_to_bytes(name).decode())
        except (UnicodeDecodeError, InvalidInputError) as error:
            raise Refused(404, "that is no namespace") from error
        if user is None or user in _WAYS:
            raise Refused(404, "that is no namespace")
        return Place(user, self._place.session)
