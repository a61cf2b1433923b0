"""Where a daemon is reached: `unix:/path` or `tcp:host:port`."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path

from libravdb_memory.errors import ConfigError

SOCKET_NAME = "libravdb.sock"
RUN_FOLDER = "run"
WINDOWS_DEFAULT = "tcp:127.0.0.1:37421"
_LONGEST_PATH = 103  # bytes of a socket's path that every system takes
_SETTING = "serve.endpoint"


@dataclass(frozen=True, slots=True)
class UnixEndpoint:
    path: Path

    def __str__(self) -> str:
        return f"unix:{self.path}"


@dataclass(frozen=True, slots=True)
class TcpEndpoint:
    """Port 0 is any that is free."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"tcp:{self.address}"

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


Endpoint = UnixEndpoint | TcpEndpoint


def parse_endpoint(text: str) -> Endpoint:
    kind, _, rest = text.strip().partition(":")
    if kind == "unix" and rest:
        return _unix(Path(rest).expanduser().absolute())
    if kind == "tcp" and rest:
        return _tcp(rest)
    raise ConfigError(_SETTING, f"takes unix:/path or tcp:host:port, not {text!r}")


def parse_address(text: str, setting: str = "serve.http") -> TcpEndpoint:
    """host:port."""
    return _tcp(text.strip(), setting, "")


def default_endpoint(home: Path) -> Endpoint:
    """In the home; where there are no such sockets, on the loopback address."""
    if os.name == "nt":
        return parse_endpoint(WINDOWS_DEFAULT)
    return _unix((home / RUN_FOLDER / SOCKET_NAME).absolute())


def _unix(path: Path) -> UnixEndpoint:
    size = len(os.fsencode(path))
    if size > _LONGEST_PATH:
        reason = f"the path of a socket may have at most {_LONGEST_PATH} bytes, {path} has {size}"
        raise ConfigError(_SETTING, f"{reason}; name a shorter one")
    return UnixEndpoint(path)


def _tcp(rest: str, setting: str = _SETTING, prefix: str = "tcp:") -> TcpEndpoint:
    host, _, port = rest.rpartition(":")
    if not (host and port.isascii() and port.isdecimal() and int(port) <= 65_535):
        raise ConfigError(setting, f"takes {prefix}host:port, not {prefix + rest!r}")
    return TcpEndpoint(host.removeprefix("[").removesuffix("]"), int(port))
