"""The standard streams of the server, from its first moment on: the first request is answered while all else is loaded.

Laws: nothing here waits for the protocol's own library. Every line that it must hear reaches it, once and in order.
Whatever else reads the standard input finds it empty.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

from libravdb_memory.mcp_server.handshake import Id, opening

HEAD_START_S = 0.25
"""A client has mostly asked by the time this process runs; loading must not slow down the answer."""


class Wire:
    """The client's lines for the library, which reads nothing but lines."""

    def __init__(self, lines: BinaryIO, answers: BinaryIO) -> None:
        self._lines = lines
        self._answers = answers
        self._heard: bytes | None = None
        self._settled: Id | None = None
        self._hearing = threading.Thread(target=self._hear, daemon=True)
        self._hearing.start()

    @classmethod
    def taken(cls) -> Wire:
        """Of this process."""
        lines = os.fdopen(os.dup(0), "rb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        return cls(lines, sys.stdout.buffer)

    def give_way(self) -> None:
        """Return when the first request is answered, or after a while without any."""
        self._hearing.join(HEAD_START_S)

    def settled(self) -> Id | None:
        """The request that the library will hear and whose answer the client has already."""
        self._hearing.join()
        return self._settled

    def readline(self) -> str:
        self._hearing.join()
        heard, self._heard = self._heard, None
        return (self._lines.readline() if heard is None else heard).decode(errors="replace")

    def _hear(self) -> None:
        line = self._lines.readline()
        opened = opening(line)
        if opened is None:
            self._heard = line
            return
        self._heard, self._settled = opened.left, opened.settled
        with suppress(OSError):  # a client that went away is seen by whoever reads next
            self._answers.write(opened.answer)
            self._answers.flush()
