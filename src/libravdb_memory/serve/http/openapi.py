"""The API described in OpenAPI 3.1, made from the method table.

Law: parameters, results and errors are those of the table; what is served beside the methods is written down here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from libravdb_memory import __version__
from libravdb_memory.identity import Json
from libravdb_memory.serve.fields import json_schema
from libravdb_memory.serve.http.exposed import exposed, takes_get
from libravdb_memory.serve.methods import Method, Table
from libravdb_memory.serve.shapes import Shapes

_ERROR: dict[str, Json] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "data"],
            "properties": {
                "code": {"type": "integer", "description": "as over the socket"},
                "message": {"type": "string"},
                "data": {
                    "type": "object",
                    "required": ["kind"],
                    "properties": {"kind": {"type": "string"}, "hint": {"type": "string"}},
                },
            },
        }
    },
}
_REFUSALS: Mapping[str, tuple[str, str]] = {
    "400": ("BadParameters", "Parameters that cannot be read, or are refused."),
    "401": ("NoToken", "No token, or one that is not known."),
    "403": ("OutOfReach", "The token does not reach that far, or the request is another page's."),
    "404": ("NotFound", "No such method, or nothing there."),
    "409": ("Conflict", "A conflict, or an id that several records have."),
    "413": ("TooLarge", "A body of more than 4 MB."),
    "415": ("NotJson", "A body that is not application/json."),
    "421": ("AnotherName", "A Host that is no name of this machine."),
    "422": ("RulesOverrun", "Hard rules that do not fit."),
    "500": ("Failed", "Anything else."),
    "503": ("Busy", "Too busy, or stopping."),
    "507": ("StoreFull", "The disk is full."),
}
_OF_BODIES = ("413", "415")
_OF_ALL = ("401", "403", "421", "500", "503")


def openapi(table: Table, cookie: str = "libravdb") -> dict[str, Json]:
    """`cookie` is the name of that of a page."""
    shapes = Shapes()
    paths = {f"/api/{name}": _path(method, shapes) for name, method in sorted(exposed(table).items())}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "LibraVDB Memory",
            "version": __version__,
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
            "description": "The methods of the daemon over HTTP: one path for each, parameters as a JSON object. With"
            " the cookie of a page, whatever is no GET needs the header X-LibraVDB: 1.",
        },
        "servers": [{"url": "/", "description": "this daemon"}],
        "security": [{"token": []}, {"page": []}],
        "paths": {**paths, **_beside()},
        "components": {
            "schemas": {**dict(sorted(shapes.named.items())), "Error": _ERROR},
            "responses": {name: _response(told, _ref("schemas", "Error")) for name, told in _REFUSALS.values()},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "a token of tokens.json"},
                "page": {"type": "apiKey", "in": "cookie", "name": cookie, "description": "of a page that signed in"},
            },
        },
    }


def _path(method: Method[Any], shapes: Shapes) -> dict[str, Json]:
    body: dict[str, Json] = {
        "content": {"application/json": {"schema": json_schema(method.params)}},
        "required": "required" in json_schema(method.params),
    }
    result = shapes.of(method.result)
    verbs: dict[str, Json] = {"post": {**_operation(method, "post", result), "requestBody": body}}
    if takes_get(method):
        verbs["get"] = _operation(method, "get", result)
    return verbs


def _operation(method: Method[Any], verb: str, result: dict[str, Json]) -> dict[str, Json]:
    refusals = [status for status in _REFUSALS if verb == "post" or status not in _OF_BODIES]
    return {
        "operationId": method.name if verb == "post" else f"{verb}_{method.name}",
        "summary": method.summary,
        "responses": {"200": _response("The result.", result), **_refusals(*refusals)},
    }


def _beside() -> dict[str, Json]:
    """What is no method of the table."""
    truth: dict[str, Json] = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}
    text: dict[str, Json] = {"type": "string"}
    health: dict[str, Json] = {
        "type": "object",
        "required": ["ok", "message"],
        "properties": {"ok": {"type": "boolean"}, "message": text},
    }
    me: dict[str, Json] = {
        "type": "object",
        "required": ["name", "namespaces", "isOwner", "signedInByCookie"],
        "properties": {
            "name": text,
            "namespaces": {"type": ["array", "null"], "items": text},
            "isOwner": {"type": "boolean"},
            "signedInByCookie": {"type": "boolean"},
        },
    }
    token: dict[str, Json] = {"type": "object", "required": ["token"], "properties": {"token": text}}
    sign_in: dict[str, Json] = {"requestBody": {"required": True, "content": {"application/json": {"schema": token}}}}
    only: dict[str, Json] = {"name": "userId", "in": "query", "schema": text, "description": "of this user alone"}
    events: dict[str, Json] = {
        "content": {"text/event-stream": {"schema": text}},
        "description": "Server-sent events, until one leaves.",
    }
    return {
        "/api/sign-in": {
            "post": _other("sign_in", "Sign a page in.", truth, "400", *_OF_BODIES, open_to_all=True) | sign_in
        },
        "/api/sign-out": {"post": _other("sign_out", "Sign this page out.", truth)},
        "/api/me": {"get": _other("me", "Say who asks, and how far that reaches.", me)},
        "/api/openapi.json": {"get": _other("openapi", "This description.", {"type": "object"})},
        "/api/events": {
            "get": {
                "operationId": "events",
                "summary": "Hear of changes as they happen.",
                "parameters": [only],
                "responses": {"200": events, **_refusals("400", *_OF_ALL)},
            }
        },
        "/health/live": {"get": _health("live", "Say that the daemon answers.", health)},
        "/health/ready": {"get": _health("readiness", "Say whether store and model answer.", health)},
    }


def _other(
    name: str, summary: str, result: dict[str, Json], *refusals: str, open_to_all: bool = False
) -> dict[str, Json]:
    statuses = sorted({*_OF_ALL, *refusals})
    told: dict[str, Json] = {"200": _response("The result.", result), **_refusals(*statuses)}
    security: dict[str, Json] = {"security": []} if open_to_all else {}
    return {"operationId": name, "summary": summary, "responses": told, **security}


def _health(name: str, summary: str, result: dict[str, Json]) -> dict[str, Json]:
    told: dict[str, Json] = {"200": _response("Yes.", result), "503": _response("Not now.", result)}
    return {"operationId": name, "summary": summary, "security": [], "responses": told}


def _response(told: str, schema: dict[str, Json]) -> dict[str, Json]:
    return {"description": told, "content": {"application/json": {"schema": schema}}}


def _refusals(*statuses: str) -> dict[str, Json]:
    return {status: _ref("responses", _REFUSALS[status][0]) for status in statuses}


def _ref(kind: str, name: str) -> dict[str, Json]:
    return {"$ref": f"#/components/{kind}/{name}"}
