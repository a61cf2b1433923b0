"""Answers and refusals of the API, as HTTP tells them."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse, PlainTextResponse, Response

from libravdb_memory.identity import Json
from libravdb_memory.serve.failures import ACCESS_DENIED
from libravdb_memory.serve.http.asking import Told
from libravdb_memory.serve.jsonrpc import INVALID_REQUEST, UNKNOWN_METHOD

API = "/api/"
HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_CODES: Mapping[int, tuple[int, str]] = {
    401: (ACCESS_DENIED, "access_denied"),
    403: (ACCESS_DENIED, "access_denied"),
    404: (UNKNOWN_METHOD, "unknown_method"),
}


def refused(path: str, status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    """In words, or as an error object where a program asks."""
    told = {**HEADERS, **(headers or {})}
    if not path.startswith(API):
        return PlainTextResponse(f"{reason}\n", status, told)
    code, kind = _CODES.get(status, (INVALID_REQUEST, "invalid_request"))
    return JSONResponse({"error": {"code": code, "message": reason, "data": {"kind": kind}}}, status, told)


def answered(told: Told) -> Response:
    if told.error is not None:
        return JSONResponse({"error": told.error}, told.status, HEADERS)
    return JSONResponse(told.result, told.status, HEADERS)


def result(value: Mapping[str, Json]) -> Response:
    return JSONResponse(value, 200, HEADERS)
