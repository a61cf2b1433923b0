"""The API: methods of the table as paths, signing in, and live events.

Laws: parameters, access and errors are those of the table. What is asked for with a cookie beside reading carries the
header that a page of another origin cannot send. A body is JSON, and of a bounded size.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from libravdb_memory.errors import InvalidInputError, LibraVDBError
from libravdb_memory.identity import Json
from libravdb_memory.namespaces import resolve_namespace
from libravdb_memory.serve.access import AccessDeniedError
from libravdb_memory.serve.http.answers import HEADERS, answered, refused, result
from libravdb_memory.serve.http.asking import Asking
from libravdb_memory.serve.http.exposed import exposed, takes_get
from libravdb_memory.serve.http.guard import Caller, Guard
from libravdb_memory.serve.http.hub import Hub
from libravdb_memory.serve.http.openapi import openapi
from libravdb_memory.serve.jsonrpc import BadFrame, read_object
from libravdb_memory.serve.signing import SIGNED_IN_S

_log = logging.getLogger(__name__)
LARGEST_BODY = 4 << 20
OWN_HEADER = "x-libravdb"
_READING = ("GET", "HEAD")
_CHALLENGE = {"www-authenticate": "Bearer"}
_NOT_SIGNED_IN = "this link was used or is too old, or the token is not known: 'libravdb ui' makes another link"


class Api:
    def __init__(self, asking: Asking, guard: Guard, hub: Hub) -> None:
        self._asking = asking
        self._guard = guard
        self._hub = hub
        self._table = exposed(asking.table)
        self._openapi = openapi(asking.table, guard.cookie)

    def routes(self) -> list[Route]:
        return [
            Route("/api/sign-in", self.sign_in, methods=["POST"]),
            Route("/api/sign-out", self.sign_out, methods=["POST"]),
            Route("/api/me", self.me, methods=["GET"]),
            Route("/api/openapi.json", self.describe, methods=["GET"]),
            Route("/api/events", self.events, methods=["GET"]),
            Route("/api/{method:path}", self.call, methods=["GET", "POST"]),
        ]

    async def call(self, request: Request) -> Response:
        caller = self.caller(request)
        if isinstance(caller, Response):
            return caller
        name = request.path_params["method"]
        method = self._table.get(name)
        if method is None:
            return self._refused(request, 404, f"there is no method {name[:100]!r} here")
        if request.method in _READING:
            if not takes_get(method):
                return self._refused(request, 405, f"{name} takes a POST with parameters", {"allow": "POST"})
            params: Mapping[str, Json] | Response = {}
        else:
            params = await self._params(request)
        if isinstance(params, Response):
            return params
        return answered(await self._asking.ask(name, params, caller.access))

    async def sign_in(self, request: Request) -> Response:
        params = await self._params(request)
        if isinstance(params, Response):
            return params
        token = params.get("token")
        try:
            cookie = self._guard.sign_in(token) if isinstance(token, str) else None
        except LibraVDBError as error:
            return self._unreadable(request, error)
        if cookie is None:
            self._count_refusal()
            return self._refused(request, 401, _NOT_SIGNED_IN)
        response = result({"ok": True})
        self._set_cookie(response, cookie, int(SIGNED_IN_S))
        return response

    async def sign_out(self, request: Request) -> Response:
        caller = self.caller(request)
        if isinstance(caller, Response):
            return caller
        self._guard.sign_ins.sign_out(self._guard.cookie_value(request.headers))
        response = result({"ok": True})
        self._set_cookie(response, "", 0)
        return response

    async def me(self, request: Request) -> Response:
        caller = self.caller(request)
        if isinstance(caller, Response):
            return caller
        access = caller.access
        namespaces: Json = None if access.namespaces is None else sorted(access.namespaces)
        told: dict[str, Json] = {"name": access.name, "namespaces": namespaces, "isOwner": access.is_owner}
        return result({**told, "signedInByCookie": caller.by_cookie})

    async def describe(self, request: Request) -> Response:
        caller = self.caller(request)
        return caller if isinstance(caller, Response) else result(self._openapi)

    async def events(self, request: Request) -> Response:
        caller = self.caller(request)
        if isinstance(caller, Response):
            return caller
        if not self._hub.has_room:
            return self._refused(request, 503, "too many are listening already")
        named = request.query_params.get("userId", "").strip()
        last = request.headers.get("last-event-id", "").strip()
        last_id = int(last) if last.isascii() and last.isdecimal() and len(last) < 19 else None
        try:
            namespace = resolve_namespace(named) if named else None
        except InvalidInputError as error:
            return self._refused(request, 400, error.message)
        stream = self._hub.stream(caller.access, namespace, last_id, lambda: self._is_known(request))
        return StreamingResponse(stream, 200, dict(HEADERS), "text/event-stream")

    # ── steps ────────────────────────────────────────────────────────────────────────────────────────────────────

    def caller(self, request: Request) -> Caller | Response:
        """Who asks, or what to answer instead."""
        try:
            caller = self._guard.caller(request.headers)
        except AccessDeniedError as error:
            self._count_refusal()
            return self._refused(request, 401, error.message, _CHALLENGE)
        except LibraVDBError as error:
            return self._unreadable(request, error)
        if caller.by_cookie and request.method not in _READING and request.headers.get(OWN_HEADER) != "1":
            self._count_refusal()
            return self._refused(request, 403, "requests of other pages are refused: X-LibraVDB: 1 is missing")
        return caller

    def _unreadable(self, request: Request, error: LibraVDBError) -> Response:
        _log.error("tokens cannot be read: %s", error)
        return self._refused(request, 500, "the tokens of this daemon cannot be read; its log says why")

    def _is_known(self, request: Request) -> bool:
        try:
            self._guard.caller(request.headers)
        except LibraVDBError:
            return False
        return True

    async def _params(self, request: Request) -> Mapping[str, Json] | Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return self._refused(request, 415, "the body must be application/json")
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST_BODY:
                return self._refused(request, 413, f"a body may have {LARGEST_BODY:,} bytes", {"connection": "close"})
        read = read_object(body) if body.strip() else dict[str, Json]()
        if isinstance(read, BadFrame):
            error: dict[str, Any] = {"code": read.code, "message": read.message, "data": {"kind": "invalid_request"}}
            return JSONResponse({"error": error}, 400, HEADERS)
        return read

    def _set_cookie(self, response: Response, value: str, max_age: int) -> None:
        response.set_cookie(self._guard.cookie, value, max_age=max_age, path="/api", httponly=True, samesite="strict")

    def _refused(
        self, request: Request, status: int, reason: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        return refused(request.url.path, status, reason, headers)

    def _count_refusal(self) -> None:
        self._asking.service.metrics.count("http_refused")
