"""Whom a request addresses, by section 3.2 of RFC 9112.

Laws: a request with two Host lines, or with one that no host could be named by, is malformed: 400, whatever it asks
for. Where the target is a whole URI, its authority is the host and the Host line means nothing; what follows sees one
host, in the headers, and a path.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from libravdb_memory.serve.http.answers import refused

_NAME = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2}){1,253}"
_HOST = re.compile(rf"(?P<name>\[(?P<six>[0-9A-Fa-f:.]{{2,45}})\]|{_NAME})(?::(?P<port>[0-9]{{0,5}}))?", re.ASCII)
_URI = re.compile(rb"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*)://(?P<authority>[^/]*)(?P<path>.*)", re.DOTALL)
_LAST_PORT = 65_535


def named_host(value: str) -> str | None:
    """In lower case, without port and brackets; None where no host can be named so."""
    match = _HOST.fullmatch(value)
    if match is None or int(match["port"] or 0) > _LAST_PORT:
        return None
    if match["six"] is None:
        return match["name"].lower()
    try:
        ipaddress.IPv6Address(match["six"])
    except ValueError:
        return None
    return match["six"].lower()


class Addressed:
    """Passes on what addresses one host."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        told = _addressed(scope) if scope["type"] == "http" else scope
        if isinstance(told, str):
            await refused(str(scope["path"]), 400, told, {"connection": "close"})(scope, receive, send)
        else:
            await self._app(told, receive, send)


def _addressed(scope: Scope) -> Scope | str:
    """The request in its plain form, or why it has none."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) > 1:
        return "there is more than one Host"
    if hosts and named_host(hosts[0].decode("latin-1")) is None:
        return "Host names no host"
    target: bytes = scope["raw_path"]
    if target.startswith(b"/") or (scope["method"] == "OPTIONS" and target == b"*"):
        return scope
    uri = _URI.fullmatch(target)
    if uri is None:
        return "the target is neither a path nor a URI"
    return _of_uri(scope, uri)


def _of_uri(scope: Scope, uri: re.Match[bytes]) -> Scope | str:
    if uri["scheme"].lower() != b"http" or named_host(uri["authority"].decode("latin-1")) is None:
        return "the target is no http URI with a host"
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {
        **scope,
        "headers": [(b"host", uri["authority"]), *headers],
        "path": unquote(uri["path"].decode("ascii")) or "/",
        "raw_path": uri["path"] or b"/",
    }
