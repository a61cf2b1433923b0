"""The daemon of a home as other programs see it: which process it is, where it listens, whether it answers.

Laws: a note in the run folder says who claims to listen; it is believed only when the daemon itself answers with that
pid. So nothing is ever taken for the daemon, or ended in its place, because a number was used again. While a daemon
lives it holds a lock beside its note: whoever has the port of a dead one is never shown the owner's token.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from libravdb_memory.errors import ConfigError, StoreLockedError
from libravdb_memory.identity import Json
from libravdb_memory.serve.access import TOKENS_FILE, Tokens
from libravdb_memory.serve.endpoint import RUN_FOLDER, Endpoint, TcpEndpoint, UnixEndpoint, parse_endpoint
from libravdb_memory.serve.jsonrpc import encode_request
from libravdb_memory.store.sqlite.files import make_folder
from libravdb_memory.store.sqlite.lock import OwnerLock, owner_of

_NOTE = "libravdbd.pid"
LOG_NAME = "libravdbd.log"
_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Note:
    """What a daemon wrote down when it began to listen."""

    pid: int
    endpoint: str


@dataclass(frozen=True, slots=True)
class Running:
    """A daemon that answers; `health` is what it said."""

    pid: int
    endpoint: str
    health: dict[str, Any]


@contextmanager
def announced(home: Path, endpoint: str) -> Generator[None]:
    """The note is there from now on, until the end."""
    note = _note_file(home)
    make_folder(note.parent)
    try:
        lock = OwnerLock(note)
    except StoreLockedError:
        yield  # another daemon of this home, with a store of its own, was here first
        return
    beside = note.with_name(f"{note.name}.{os.getpid()}")
    with open(beside, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(json.dumps({"pid": os.getpid(), "endpoint": endpoint}))
    beside.replace(note)
    try:
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()


def claims(home: Path, port: int) -> bool:
    """Whether a daemon of this home lives and says that it listens at this port."""
    note = noted(home)
    if note is None or owner_of(_note_file(home)) != note.pid:
        return False
    kind, _, rest = note.endpoint.partition(":")
    return kind == "tcp" and rest.rpartition(":")[2] == str(port)


def noted(home: Path) -> Note | None:
    try:
        form: dict[str, Any] = json.loads(_note_file(home).read_text())
        return Note(int(form["pid"]), str(form["endpoint"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def running(home: Path) -> Running | None:
    """The daemon of this home, if one answers."""
    note = noted(home)
    if note is None:
        return None
    health = ask(home, note.endpoint, "health")
    return Running(note.pid, note.endpoint, health) if health is not None and health.get("pid") == note.pid else None


def ask(
    home: Path,
    endpoint: str,
    method: str,
    params: Mapping[str, Json] | None = None,
    patience_s: float = _PATIENCE_S,
) -> dict[str, Any] | None:
    """The result of one call; None when nobody answers it, or with an error."""
    try:
        place = parse_endpoint(endpoint)
    except ConfigError:
        return None
    if isinstance(place, TcpEndpoint) and not claims(home, place.port):
        return None
    token = "" if isinstance(place, UnixEndpoint) else Tokens(home / TOKENS_FILE).owner().secret
    try:
        with connect(place) as connected, connected.makefile("rb") as answers:
            connected.settimeout(patience_s)
            if token:
                connected.sendall(encode_request(0, "authenticate", {"token": token}))
                answers.readline()
            connected.sendall(encode_request(1, method, params or {}))
            answer = cast(object, json.loads(answers.readline()))
    except (OSError, ValueError):
        return None
    result = cast(dict[str, object], answer).get("result") if isinstance(answer, dict) else None
    return cast(dict[str, Any], result) if isinstance(result, dict) else None


def connect(endpoint: Endpoint) -> socket.socket:
    """A connection on which nothing is waited for longer than a few seconds."""
    if not isinstance(endpoint, UnixEndpoint):
        return socket.create_connection((endpoint.host, endpoint.port), timeout=_PATIENCE_S)
    with contextlib.ExitStack() as undo:
        connected = undo.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        connected.settimeout(_PATIENCE_S)
        connected.connect(os.fspath(endpoint.path))
        undo.pop_all()
        return connected


def _note_file(home: Path) -> Path:
    return home / RUN_FOLDER / _NOTE


def log_file(home: Path) -> Path:
    return home / RUN_FOLDER / LOG_NAME
