"""A connection over which library calls are made, one at a time.

Laws: an answer is waited for as long as it takes; a daemon that goes away is told at once. An error of the library is
raised here as the error it was: its class, its words and its advice.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from libravdb_memory.errors import InvalidInputError, LibraVDBError, StoreError
from libravdb_memory.identity import Json
from libravdb_memory.serve.failures import INTERNAL, INVALID_PARAMS_PREFIX, STOPPING, kind_of
from libravdb_memory.serve.jsonrpc import encode_request
from libravdb_memory.serve.settings import ServeSettings

_LARGEST = ServeSettings().max_frame_mb << 20


class DaemonGoneError(StoreError):
    """The daemon ended, or is about to; the call may have been carried out."""


class DaemonFault(Exception):
    """A call failed in the daemon by a fault of ours; its log has the rest."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The daemon at the other end."""

    pid: int
    endpoint: str


class Line:
    def __init__(self, connected: socket.socket, peer: Peer) -> None:
        self.peer = peer
        self._socket = connected
        self._answers = connected.makefile("rb")
        self._last = 0

    def ask(self, method: str, params: Mapping[str, Json]) -> Any:
        """The result of a call."""
        self._last += 1
        try:
            line = encode_request(self._last, method, params)
        except (TypeError, ValueError) as error:
            raise InvalidInputError("call", f"cannot be told to the daemon: {error}") from error
        if len(line) > _LARGEST:
            told = (
                f"has {len(line):,} bytes; through a daemon (process {self.peer.pid}) at most {_LARGEST:,} can be sent"
            )
            raise InvalidInputError("call", f"{told}: stop it with 'libravdb daemon stop'")
        answer = self._answer(line)
        if "error" in answer:
            raise raised(answer["error"])
        return answer.get("result")

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    def _answer(self, line: bytes) -> Mapping[str, Any]:
        try:
            self._socket.sendall(line)
            answer = cast(object, json.loads(self._answers.readline()))
        except (OSError, ValueError) as error:
            raise self._gone() from error
        if not isinstance(answer, dict):
            raise self._gone()
        return cast("dict[str, Any]", answer)

    def _gone(self) -> DaemonGoneError:
        told = f"the daemon (process {self.peer.pid}) went away before it answered"
        return DaemonGoneError(told, "what it had acknowledged is on disk; run the command again")


def raised(error: Mapping[str, Any]) -> Exception:
    """The error that the daemon's answer tells of."""
    message, data = str(error.get("message")), error.get("data")
    facts = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    if facts.get("kind") == INTERNAL:
        return DaemonFault(f"the daemon failed with an {message}; 'libravdb daemon logs' has the rest")
    unnamed = DaemonGoneError if error.get("code") == STOPPING else StoreError
    kind = {kind_of(each): each for each in _every(LibraVDBError)}.get(str(facts.get("kind")), unnamed)
    found = kind.__new__(kind)
    message = message.removeprefix(INVALID_PARAMS_PREFIX)
    LibraVDBError.__init__(found, message, str(facts.get("hint", "")))
    if isinstance(found, InvalidInputError):
        found.field, _, found.reason = message.partition(": ")
    return found


def _every(kind: type[LibraVDBError]) -> Iterator[type[LibraVDBError]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from _every(inner)
