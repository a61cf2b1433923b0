"""What is served over HTTP, as an ASGI application.

Laws: every request passes the guard, whatever it asks for. Without a token only that the daemon answers is told; all
else is asked of the method table with the reach of the token.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.serve.access import Access, AccessDeniedError
from libravdb_memory.serve.http.asking import Asking, Told
from libravdb_memory.serve.http.guard import Guard

_log = logging.getLogger(__name__)
_HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_NOBODY = Access("nobody", frozenset())
_ONLY_ONCE = ("host", "origin", "authorization")


def application(asking: Asking, guard: Guard) -> Starlette:
    pages = _Pages(asking, guard)
    routes = [Route("/health", pages.health, methods=["GET"]), Route("/metrics", pages.metrics, methods=["GET"])]
    return Starlette(routes=routes, middleware=[Middleware(_Guarded, guard=guard, asking=asking)])


class _Guarded:
    def __init__(self, app: ASGIApp, guard: Guard, asking: Asking) -> None:
        self._app = app
        self._guard = guard
        self._asking = asking

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        if any(len(headers.getlist(name)) > 1 for name in _ONLY_ONCE):
            response: Response = _told(400, "a header is there more than once")
        elif (refusal := self._guard.refusal(headers)) is not None:
            self._asking.service.metrics.count("http_refused")
            response = _told(refusal.status, refusal.reason)
        else:
            await self._app(scope, receive, send)
            return
        await response(scope, receive, send)


class _Pages:
    def __init__(self, asking: Asking, guard: Guard) -> None:
        self._asking = asking
        self._guard = guard

    async def health(self, request: Request) -> Response:
        told = await self._asking.ask("health", {}, _NOBODY)
        result = told.result or {}
        return JSONResponse({"ok": result.get("ok"), "message": result.get("message")}, told.status, _HEADERS)

    async def metrics(self, request: Request) -> Response:
        access = self._access(request)
        if isinstance(access, Response):
            return access
        told = await self._asking.ask("metrics", {}, access)
        if told.result is None:
            return _failed(told)
        return Response(told.result["text"], 200, _HEADERS, told.result["contentType"])

    def _access(self, request: Request) -> Access | Response:
        try:
            return self._guard.access(request.headers)
        except AccessDeniedError as error:
            self._asking.service.metrics.count("http_refused")
            response = _told(401, error.message)
            response.headers["www-authenticate"] = "Bearer"
            return response
        except LibraVDBError as error:
            _log.error("tokens cannot be read: %s", error)
            return _told(500, "the tokens of this daemon cannot be read; its log says why")


def _told(status: int, reason: str) -> Response:
    return PlainTextResponse(f"{reason}\n", status, _HEADERS)


def _failed(told: Told) -> Response:
    return _told(told.status, str((told.error or {}).get("message", "failed")))
