"""The files of the inspector's page.

Laws: what is served is what the package holds, found by its whole name: no path of a request reaches the file system.
A browser that has a file gets it again only when it changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent.parent / "inspector"
INDEX = "index.html"
_KINDS: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Mapping[str, str] = {
    "cache-control": "no-cache",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


@dataclass(frozen=True, slots=True)
class _File:
    changed_ns: int
    body: bytes
    etag: str


class PageFiles:
    def __init__(self, folder: Path = FOLDER) -> None:
        self._paths = {
            path.relative_to(folder).as_posix(): path
            for path in sorted(folder.rglob("*"))
            if path.suffix in _KINDS and path.is_file()
        }
        self._read: dict[str, _File] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._paths)

    def response(self, request: Request, name: str) -> Response | None:
        """None where there is no such file."""
        path = self._paths.get(name or INDEX)
        if path is None:
            return None
        file = self._file(path)
        headers = {**_HEADERS, "etag": file.etag}
        known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
        if file.etag in known:
            return Response(status_code=304, headers=headers)
        return Response(file.body, 200, headers, _KINDS[path.suffix])

    def _file(self, path: Path) -> _File:
        changed_ns = path.stat().st_mtime_ns
        held = self._read.get(str(path))
        if held is None or held.changed_ns != changed_ns:
            body = path.read_bytes()
            held = self._read[str(path)] = _File(changed_ns, body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
        return held
