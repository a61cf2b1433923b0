"""A wire between plugin and daemon that can be cut, slowed and made to lose an answer; it writes down every call."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Wire:
    """Listens at `path` and passes on to the daemon's socket. `calls` are all requests that went through."""

    def __init__(self, path: Path, daemon: Path) -> None:
        self.calls: list[dict[str, Any]] = []
        self.delay_s = 0.0
        self.lose: str | None = None
        """The next answer to this method never arrives, and the connection ends."""
        self.meanwhile: dict[str, Callable[[], None]] = {}
        """Done once, between the daemon's next answer to a method and its arrival."""
        self._daemon = daemon
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(path))
        self._server.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        daemon = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            daemon.connect(str(self._daemon))
        except OSError:
            client.close()
            return
        asked: dict[Any, str] = {}
        threading.Thread(target=self._requests, args=(client, daemon, asked), daemon=True).start()
        with contextlib.suppress(OSError), daemon.makefile("rb") as answers:
            for line in answers:
                time.sleep(self.delay_s)  # a slow daemon, not a wait for something
                method = asked.get(json.loads(line).get("id"))
                self.meanwhile.pop(method or "", _nothing)()
                if method is not None and method == self.lose:
                    self.lose = None
                    break
                client.sendall(line)
        _end(client, daemon)

    def _requests(self, client: socket.socket, daemon: socket.socket, asked: dict[Any, str]) -> None:
        with contextlib.suppress(OSError), client.makefile("rb") as lines:
            for line in lines:
                call = json.loads(line)
                asked[call["id"]] = call["method"]
                self.calls.append(call)
                daemon.sendall(line)
        _end(client, daemon)


def _nothing() -> None:
    pass


def _end(*sockets: socket.socket) -> None:
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
