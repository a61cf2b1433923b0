"""Which methods of the table are served over HTTP, and their description in OpenAPI.

Law: what only reads is served, and few that write; never what is for the owner's own commands.
"""

from __future__ import annotations

from typing import Any

from libravdb_memory import __version__
from libravdb_memory.identity import Json
from libravdb_memory.serve.fields import json_schema
from libravdb_memory.serve.methods import Method, Table

WRITING = frozenset({"ingest_message", "assemble_context", "memory_forget", "memory_compact", "job_start"})
_NOT_HERE = frozenset({"authenticate"})
_ERROR: dict[str, Json] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "integer"},
                "message": {"type": "string"},
                "data": {
                    "type": "object",
                    "properties": {"kind": {"type": "string"}, "hint": {"type": "string"}},
                },
            },
        }
    },
}


def exposed(table: Table) -> Table:
    return {
        name: method
        for name, method in table.items()
        if name not in _NOT_HERE and not method.owner_only and (not method.writes or name in WRITING)
    }


def takes_get(method: Method[Any]) -> bool:
    """Reads, and needs nothing to be said."""
    return method.name not in WRITING and not method.writes and "required" not in json_schema(method.params)


def openapi(table: Table) -> dict[str, Json]:
    """OpenAPI 3.1 of the exposed methods."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "LibraVDB Memory",
            "version": __version__,
            "description": "The methods of the daemon over HTTP: one path for each, parameters as a JSON object.",
        },
        "security": [{"token": []}, {"page": []}],
        "paths": {f"/api/{name}": _path(method) for name, method in sorted(exposed(table).items())},
        "components": {
            "schemas": {"Error": _ERROR, "Result": {"type": "object"}},
            "responses": {
                "Error": {
                    "description": "What went wrong.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                }
            },
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "page": {"type": "apiKey", "in": "cookie", "name": "libravdb"},
            },
        },
    }


def _path(method: Method[Any]) -> dict[str, Json]:
    schema: Json = json_schema(method.params)
    body: dict[str, Json] = {"content": {"application/json": {"schema": schema}}, "required": not takes_get(method)}
    verbs: dict[str, Json] = {"post": {**_operation(method, "post"), "requestBody": body}}
    if takes_get(method):
        verbs["get"] = _operation(method, "get")
    return verbs


def _operation(method: Method[Any], verb: str) -> dict[str, Json]:
    result: dict[str, Json] = {"schema": {"$ref": "#/components/schemas/Result"}}
    return {
        "operationId": method.name if verb == "post" else f"{verb}_{method.name}",
        "summary": method.summary,
        "responses": {
            "200": {"description": "The result.", "content": {"application/json": result}},
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
