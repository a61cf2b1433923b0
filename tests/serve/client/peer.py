"""A peer on a socket that behaves as a test wants: it is no daemon, or one that is ill."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.serve.process import short_folder

from libravdb_memory.serve.jsonrpc import encode_result

Answer = Callable[[Any], bytes | None]
"""To a request, the bytes to send; None hangs up."""


def healthy(request: Any) -> bytes | None:
    """The answer to `health`, else nothing at all."""
    return encode_result(request["id"], {"ok": True}) if request["method"] == "health" else b""


class Peer:
    def __init__(self, path: Path, answer: Answer) -> None:
        self.endpoint = f"unix:{path}"
        self.requests: list[Any] = []
        self.connections = 0
        self._answer = answer
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                connected, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connected)
            self._threads.append(threading.Thread(target=self._serve, args=(connected,)))
            self._threads[-1].start()

    def _serve(self, connected: socket.socket) -> None:
        with suppress(OSError), connected, connected.makefile("rb") as lines:
            for line in lines:
                request = json.loads(line)
                self.requests.append(request)
                if (data := self._answer(request)) is None:
                    connected.shutdown(socket.SHUT_RDWR)
                    return
                connected.sendall(data)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connected in self._open:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()


@contextmanager
def peer(answer: Answer) -> Iterator[Peer]:
    with short_folder() as folder:
        made = Peer(folder / "peer.sock", answer)
        try:
            yield made
        finally:
            made.close()
