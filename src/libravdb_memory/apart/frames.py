"""The messages between a process and the one that it started, and how they lie on a pipe: eight bytes of length, then a
pickle. Both ends are this program, of one version, and the pipe is theirs alone."""

from __future__ import annotations

import pickle
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, TypeAlias

_LENGTH = struct.Struct("<Q")
_LONGEST = 1 << 36


class NoProcessError(Exception):
    """There can be no process of its own, or it has no thread for a call; the object has to live here."""


Ask: TypeAlias = Callable[..., Any]
"""A question of the object to the one that started it."""


@dataclass(frozen=True, slots=True)
class Begin:
    """`make` gives the object; it is told how to ask back."""

    make: Callable[[Ask], object]


@dataclass(frozen=True, slots=True)
class Begun:
    """The object is there, or `error` says why not."""

    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """`live`: somebody is at work who is not to wait for a processor."""

    number: int
    method: str
    arguments: tuple[Any, ...]
    live: bool


@dataclass(frozen=True, slots=True)
class GiveUp:
    number: int


@dataclass(frozen=True, slots=True)
class Answer:
    number: int
    value: Any


@dataclass(frozen=True, slots=True)
class Failure:
    number: int
    error: BaseException


@dataclass(frozen=True, slots=True)
class Question:
    """What the call of that number wants to know; it is answered or fails under the same number."""

    number: int
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """Something for the log."""

    logger: str
    level: int
    message: str


@dataclass(frozen=True, slots=True)
class Alive:
    """Now and then, whatever else is said: the process runs."""


Frame: TypeAlias = Begin | Begun | Call | GiveUp | Answer | Failure | Question | Told | Alive


def packed(frame: Frame) -> bytes:
    """As it lies on the pipe. Raises whatever pickling raises."""
    raw = pickle.dumps(frame, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(raw)) + raw


class Pipe:
    """Sending is safe from many threads, receiving from one."""

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._sending = threading.Lock()

    def send(self, frame: Frame) -> None:
        """Raises what `write` and `packed` raise."""
        self.write(packed(frame))

    def write(self, raw: bytes) -> None:
        """A frame that is packed. Waits while the other end does not read. Raises OSError or ValueError when nobody is
        there any more."""
        with self._sending:
            self._outgoing.write(raw)
            self._outgoing.flush()

    def receive(self) -> Frame:
        """Raises EOFError when the other end is closed, and anything at all when what comes is no frame."""
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        if length > _LONGEST:
            raise ValueError(f"a frame of {length} bytes is none")
        frame: Frame = pickle.loads(self._read(length))
        return frame

    def end(self) -> None:
        """No more is sent: the other end sees that."""
        with self._sending:
            self._outgoing.close()

    def close(self) -> None:
        """Nobody is at the other end any more."""
        self._incoming.close()
        self.end()

    def _read(self, length: int) -> bytes:
        raw = self._incoming.read(length)
        if len(raw) < length:
            raise EOFError
        return raw
