"""One owner per store: an operating-system lock on a file beside the data.

Law: what counts is the lock, which the system drops when its holder dies; the pid written inside only names the
holder. The file stays after use, because unlinking it while another process opens it would make two owners.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from libravdb_memory.errors import StoreLockedError

_PATIENCE_S = 0.5

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # locked away from the pid, because Windows locks also keep others from reading

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def lock_file(data: Path) -> Path:
    return data.with_name(data.name + "-lock")


def is_own(data: Path) -> bool:
    """Whether this process has taken the store, however far it is with opening it."""
    try:
        return lock_file(data).read_bytes() == str(os.getpid()).encode()
    except OSError:
        return False


def owner_of(data: Path) -> int | None:
    """The process that has the store now; None when none has, or has not said so yet."""
    try:
        descriptor = os.open(lock_file(data), os.O_RDWR)
    except OSError:
        return None
    try:
        pid = _read_pid(descriptor)
        if pid is None:
            return None
        if _try_lock(descriptor):  # its owner was killed
            _unlock(descriptor)
            return None
        return pid
    finally:
        os.close(descriptor)


class OwnerLock:
    """Held from construction to `release`."""

    def __init__(self, data: Path) -> None:
        descriptor = os.open(lock_file(data), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not _try_lock(descriptor):
                raise StoreLockedError(data, _owner(descriptor))
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, str(os.getpid()).encode())
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            _unlock(self._descriptor)  # closing alone would leave it to a child that was forked a moment ago
        self.abandon()

    def abandon(self) -> None:
        """Let go without a word; in a forked child the lock is still the parent's, and ends with it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:  # once: the number may soon be another file's
            os.close(descriptor)


def _owner(descriptor: int) -> int | None:
    """The holder writes its pid just after it has locked: for a moment there may be nothing, or a dead owner's pid."""
    patience = time.monotonic() + _PATIENCE_S
    while True:
        pid = _read_pid(descriptor)
        if (pid is not None and _lives(pid)) or time.monotonic() > patience:
            return pid
        time.sleep(0.005)


def _lives(pid: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _read_pid(descriptor: int) -> int | None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    digits = os.read(descriptor, 20)
    return int(digits) if digits.isdigit() else None
