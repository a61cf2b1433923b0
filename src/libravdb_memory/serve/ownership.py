"""One daemon per endpoint: a socket of our own, bound for its owner alone.

Laws: a lock says who listens, and the system drops it when its holder dies. What lies at the path of a socket is
removed only when it is a socket, the lock is ours and nothing answers there. At the end only our own socket is removed.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from libravdb_memory.errors import LibraVDBError, StoreLockedError
from libravdb_memory.serve.endpoint import TcpEndpoint, UnixEndpoint
from libravdb_memory.store.sqlite.files import make_folder
from libravdb_memory.store.sqlite.lock import OwnerLock

BACKLOG = 4096
_PATIENCE_S = 2.0


class EndpointTakenError(LibraVDBError):
    """Another daemon listens there, or something that is no socket lies there."""

    def __init__(self, endpoint: object, reason: str, pid: int | None = None) -> None:
        super().__init__(f"{endpoint}: {reason}", "stop it first, or talk to it instead" if pid else "")
        self.endpoint = endpoint
        self.pid = pid


@contextmanager
def unix_listener(endpoint: UnixEndpoint) -> Generator[socket.socket]:
    path = endpoint.path
    make_folder(path.parent)
    try:
        lock = OwnerLock(path)
    except StoreLockedError as error:
        owner = f"process {error.pid}" if error.pid else "another process"
        raise EndpointTakenError(endpoint, f"{owner} listens there", error.pid) from error
    with contextlib.ExitStack() as undo:
        undo.callback(lock.release)
        _remove_stale(endpoint)
        listener = undo.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        _bind_for_owner(listener, path)
        ours = path.stat().st_ino
        undo.callback(_remove_own, path, ours)
        listener.listen(BACKLOG)
        yield listener


@contextmanager
def tcp_listener(endpoint: TcpEndpoint) -> Generator[socket.socket]:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            endpoint.host, endpoint.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise EndpointTakenError(endpoint, f"the host is not known ({error.strerror})") from error
    with socket.socket(family, kind, protocol) as listener:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            raise EndpointTakenError(endpoint, f"it cannot be bound ({error.strerror})") from error
        listener.listen(BACKLOG)
        yield listener


def _remove_stale(endpoint: UnixEndpoint) -> None:
    path = endpoint.path
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise EndpointTakenError(endpoint, "what lies there is no socket; it was left untouched")
    if answers(path):
        raise EndpointTakenError(endpoint, "something answers there")
    path.unlink(missing_ok=True)


def answers(path: Path) -> bool:
    """Whether anybody accepts connections at this socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PATIENCE_S)
        try:
            probe.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # busy, slow, or not ours to ask: somebody is there
            return True
        return True


def _bind_for_owner(listener: socket.socket, path: Path) -> None:
    before = os.umask(0o177)
    try:
        listener.bind(os.fspath(path))
    finally:
        os.umask(before)
    path.chmod(0o600)


def _remove_own(path: Path, inode: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        if path.lstat().st_ino == inode:
            path.unlink()


if sys.platform == "linux":

    def peer_uid(connected: socket.socket) -> int | None:
        """Whose process is at the other end, where the system tells."""
        credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int.from_bytes(credentials[4:8], sys.byteorder)

elif sys.platform == "darwin":

    def peer_uid(connected: socket.socket) -> int | None:
        """Whose process is at the other end, where the system tells."""
        credentials = connected.getsockopt(0, 1, 76)  # LOCAL_PEERCRED gives a version, then the user
        return int.from_bytes(credentials[4:8], sys.byteorder)

else:

    def peer_uid(connected: socket.socket) -> int | None:
        """Not told here; the permissions of the socket and its folder decide alone."""
        return None
