"""Where the daemon of a client is, and who the client is to it."""

from __future__ import annotations

from pathlib import Path

from libravdb_memory.config import Config
from libravdb_memory.serve.access import OWNER, TOKENS_FILE, Tokens
from libravdb_memory.serve.endpoint import (
    SOCKET_NAME,
    Endpoint,
    TcpEndpoint,
    UnixEndpoint,
    default_endpoint,
    parse_endpoint,
)
from libravdb_memory.serve.running import claims, noted

_OTHER_PLACES = (Path("/opt/homebrew/var/clawdb/run"), Path("/usr/local/var/clawdb/run"))


def find_endpoint(config: Config, explicit: str | None = None) -> Endpoint:
    """The given one; else the configured one; else the first socket there is: that of the home, one that a daemon of
    this home noted, those of other installations. Looked up at each connection: a daemon may come later."""
    if chosen := (explicit or config.serve.endpoint).strip():
        return parse_endpoint(chosen)
    usual = default_endpoint(config.home)
    if isinstance(usual, TcpEndpoint) or usual.path.is_socket():
        return usual
    others = (place / SOCKET_NAME for place in _OTHER_PLACES)
    found = next((path for path in (*_noted_socket(config.home), *others) if path.is_socket()), None)
    return usual if found is None else UnixEndpoint(found)


def _noted_socket(home: Path) -> tuple[Path, ...]:
    """Only a socket: a note may be old, and the owner's token must not be shown to whoever has its port now."""
    note = noted(home)
    kind, _, path = ("", "", "") if note is None else note.endpoint.partition(":")
    return (Path(path),) if kind == "unix" and path else ()


def find_token(endpoint: Endpoint, home: Path, explicit: str | None = None) -> str | None:
    """What to begin a connection with: a token that was given counts everywhere, the owner's over TCP alone, and only
    where a daemon of this home lives."""
    if explicit:
        return explicit
    if not (isinstance(endpoint, TcpEndpoint) and endpoint.is_loopback and claims(home, endpoint.port)):
        return None
    return next((token.secret for token in Tokens(home / TOKENS_FILE).all() if token.name == OWNER), None)
