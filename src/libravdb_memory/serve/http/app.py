"""What is served over HTTP, as an ASGI application.

Laws: every request passes the guard, whatever it asks for. Without a token only the page's own files and whether the
daemon answers are told; all else is asked of the method table with the reach of the token.
"""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from libravdb_memory.serve.access import Access
from libravdb_memory.serve.http.answers import HEADERS, refused
from libravdb_memory.serve.http.api import Api
from libravdb_memory.serve.http.asking import Asking
from libravdb_memory.serve.http.files import PageFiles
from libravdb_memory.serve.http.guard import Guard
from libravdb_memory.serve.http.hub import Hub
from libravdb_memory.serve.http.readiness import Readiness

_NOBODY = Access("nobody", frozenset())
_ONLY_ONCE = ("host", "origin", "authorization", "cookie", "content-type")


def application(asking: Asking, guard: Guard, hub: Hub) -> Starlette:
    api = Api(asking, guard, hub)
    pages = _Pages(asking, api)
    routes = [
        Route("/health", pages.health, methods=["GET"]),
        Route("/health/live", pages.live, methods=["GET"]),
        Route("/health/ready", pages.ready, methods=["GET"]),
        Route("/metrics", pages.metrics, methods=["GET"]),
        *api.routes(),
        Route("/{name:path}", pages.file, methods=["GET"]),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(_Guarded, guard=guard, asking=asking)],
        exception_handlers={HTTPException: _refusal},
    )


async def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refused(request.url.path, error.status_code, error.detail.lower(), error.headers)


class _Guarded:
    def __init__(self, app: ASGIApp, guard: Guard, asking: Asking) -> None:
        self._app = app
        self._guard = guard
        self._asking = asking

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers, path = Headers(scope=scope), str(scope["path"])
        if any(len(headers.getlist(name)) > 1 for name in _ONLY_ONCE):
            response = refused(path, 400, "a header is there more than once")
        elif (refusal := self._guard.refusal(headers)) is not None:
            self._asking.service.metrics.count("http_refused")
            response = refused(path, refusal.status, refusal.reason)
        else:
            await self._app(scope, receive, send)
            return
        await response(scope, receive, send)


class _Pages:
    def __init__(self, asking: Asking, api: Api) -> None:
        self._asking = asking
        self._api = api
        self._files = PageFiles()
        self._readiness = Readiness(asking)

    async def health(self, request: Request) -> Response:
        told = await self._asking.ask("health", {}, _NOBODY)
        result = told.result or {}
        return JSONResponse({"ok": result.get("ok"), "message": result.get("message")}, told.status, HEADERS)

    async def live(self, request: Request) -> Response:
        return JSONResponse({"ok": True, "message": "ok"}, 200, HEADERS)

    async def ready(self, request: Request) -> Response:
        is_ready, message = await self._readiness.told()
        return JSONResponse({"ok": is_ready, "message": message}, 200 if is_ready else 503, HEADERS)

    async def metrics(self, request: Request) -> Response:
        caller = self._api.caller(request)
        if isinstance(caller, Response):
            return caller
        told = await self._asking.ask("metrics", {}, caller.access)
        if told.result is None:
            return refused(request.url.path, told.status, str((told.error or {}).get("message", "failed")))
        return Response(told.result["text"], 200, HEADERS, told.result["contentType"])

    async def file(self, request: Request) -> Response:
        found = self._files.response(request, request.path_params["name"])
        return found or refused(request.url.path, 404, "there is no such file")
