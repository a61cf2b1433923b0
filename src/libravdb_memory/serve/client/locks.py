"""Locks between processes, on files; the system drops them when their holder dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, *, wait: bool) -> bool:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
            else:
                return True

    def _unlock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int, *, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class FileLock:
    """Held from construction to `release`; keeps out other processes and other threads alike."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def wait(cls, file: Path) -> Self:
        descriptor = _opened(file)
        try:
            _lock(descriptor, wait=True)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(descriptor)

    @classmethod
    def attempt(cls, file: Path) -> Self | None:
        descriptor = _opened(file)
        if _lock(descriptor, wait=False):
            return cls(descriptor)
        os.close(descriptor)
        return None

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            _unlock(descriptor)  # closing alone would leave it to a child that was forked a moment ago
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()


def _opened(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
