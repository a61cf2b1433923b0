"""Which daemon has a store open.

Laws: the store's own lock says which process has it; a daemon counts only when its note and its answer name that
process, and, at a socket, when it belongs to the same user. The owner's token is shown to a daemon of the own home
alone, never on the word of an old note. A daemon of another version is told, not talked to.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from libravdb_memory import __version__
from libravdb_memory.errors import ConfigError, LibraVDBError, StoreError
from libravdb_memory.serve.access import OWNER, TOKENS_FILE, Tokens
from libravdb_memory.serve.bridge.line import Line, Peer
from libravdb_memory.serve.endpoint import UnixEndpoint, parse_endpoint
from libravdb_memory.serve.ownership import peer_uid
from libravdb_memory.serve.running import Note, connect, noted
from libravdb_memory.store.sqlite.lock import owner_of


def find_daemon(data: Path, home: Path) -> Line | None:
    """A line to the daemon that has this data file open: that of the home, or of the folder in which the file lies.
    None when no process has it, or one that is no daemon, or does not answer."""
    pid = owner_of(data)
    if pid is None or pid == os.getpid():
        return None
    for folder, is_own in {data.absolute().parent: False, home.absolute(): True}.items():
        note = noted(folder)
        if note is not None and note.pid == pid and (is_own or note.endpoint.startswith("unix:")):
            return _line_to(note, folder)
    return None


def _line_to(note: Note, home: Path) -> Line | None:
    try:
        connected = connect(parse_endpoint(note.endpoint))
    except (OSError, ConfigError):
        return None
    line = Line(connected, Peer(note.pid, note.endpoint))
    try:
        health = _greeting(line, connected, home)
    except LibraVDBError:
        health = {}
    if health.get("pid") != note.pid:
        line.close()
        return None
    if health.get("version") != __version__:
        line.close()
        told = f"a daemon (process {note.pid}) of version {health.get('version')} has this store open"
        raise StoreError(f"{told}; this is {__version__}", "restart it: 'libravdb daemon stop', then 'start'")
    connected.settimeout(None)
    return line


def _greeting(line: Line, connected: socket.socket, home: Path) -> dict[str, Any]:
    if isinstance(parse_endpoint(line.peer.endpoint), UnixEndpoint):
        if hasattr(os, "geteuid") and peer_uid(connected) not in (None, os.geteuid()):
            return {}
    else:
        for token in Tokens(home / TOKENS_FILE).all():
            if token.name == OWNER:
                line.ask("authenticate", {"token": token.secret})
    health: dict[str, Any] = line.ask("health", {})
    return health
