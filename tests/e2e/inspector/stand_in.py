"""The HTTP API of the inspector with invented answers in the documented shapes: what the page does
with them can be tried for stores of any size, and for jobs and events at any moment.

Law: nothing here is shipped; the shapes are those of docs/reference/http.md.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.e2e.inspector import stand_in_data as data

PAGE = Path(__file__).resolve().parents[3] / "src" / "libravdb_memory" / "serve" / "inspector"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
Answer = tuple[int, dict[str, Any]]


class StandIn:
    """A site on loopback. `data` may be changed while it runs; `tell` sends a live event to every reader."""

    def __init__(self, world: data.World | None = None) -> None:
        self.world = world or data.World()
        self.readers: list[queue.SimpleQueue[str | None]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.server = _Site(self)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def tell(self, name: str, what: dict[str, Any]) -> None:
        for reader in self.readers:
            reader.put(f"event: {name}\ndata: {json.dumps(what)}\n\n")

    def close(self) -> None:
        for reader in list(self.readers):
            reader.put(None)
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def answer(self, method: str, params: dict[str, Any]) -> Answer:
        self.calls.append((method, params))
        if method == "sign-in":
            return (200, {"ok": True}) if params.get("token") == "once" else _refused(401, "the token is not known")
        found: Callable[[dict[str, Any]], dict[str, Any] | None] | None = getattr(self.world, method, None)
        told = found(params) if found else None
        return (200, told) if told is not None else _refused(404, f"{method}: nothing there")


class _Site(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: StandIn) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner

    def handle_error(self, request: object, client_address: object) -> None:
        """Browsers leave in the middle of things."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Site

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/api/events":
            self._events()
        elif path == "/api/me":
            self._json(200, {"name": "owner", "namespaces": None, "isOwner": True, "signedInByCookie": True})
        else:
            self._file(path.strip("/") or "index.html")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.headers.get("x-libravdb") != "1":
            self._json(*_refused(403, "the header is missing"))
            return
        self._json(*self.server.owner.answer(self.path.removeprefix("/api/"), json.loads(body or b"{}")))

    def _json(self, status: int, told: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(told).encode())

    def _file(self, name: str) -> None:
        file = PAGE / name
        if "/" in name or not file.is_file():
            self._json(*_refused(404, "no such file"))
        else:
            self._send(200, KINDS[file.suffix], file.read_bytes())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("content-security-policy", POLICY)
        self.send_header("cache-control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def _events(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        mine: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.wfile.write(b'event: hello\ndata: {"sequence": 1}\n\n')
        self.server.owner.readers.append(mine)
        try:
            while (event := mine.get()) is not None:
                self.wfile.write(event.encode())
                self.wfile.flush()
        except OSError:
            pass
        finally:
            self.server.owner.readers.remove(mine)
            self.close_connection = True


def _refused(status: int, message: str) -> Answer:
    return status, {"error": {"code": -32000, "message": message, "data": {"kind": "refused"}}}
