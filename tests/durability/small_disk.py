"""A folder with a quota: beyond it the system call behind SQLite's writes fails with ENOSPC, as on a full disk.

SQLite lets its system calls be replaced, so all of its own code runs, its way of meeting the error included. The call
is replaced for the whole process; files outside the folder do not notice.
"""

from __future__ import annotations

import ctypes
import errno
import os
import uuid
from pathlib import Path

import apsw

_PWRITE = ctypes.CFUNCTYPE(
    ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, use_errno=True
)


class SmallDisk:
    """`quota` is in bytes over all files of the folder, None for no limit. `refusals` counts the writes that failed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._vfs = apsw.VFS(f"small-{uuid.uuid4()}", "")
        self._call = next(name for name in ("pwrite64", "pwrite") if self._vfs.xGetSystemCall(name))
        self._original = self._vfs.xGetSystemCall(self._call)
        self._real = _PWRITE(self._original)
        self._replacement = _PWRITE(self._write)  # kept alive as long as SQLite may call it
        self.quota: int | None = None
        self.refusals = 0

    def __enter__(self) -> SmallDisk:
        self._vfs.xSetSystemCall(self._call, ctypes.cast(self._replacement, ctypes.c_void_p).value)
        return self

    def __exit__(self, *_: object) -> None:
        self._vfs.xSetSystemCall(self._call, self._original)
        self._vfs.unregister()

    @property
    def used(self) -> int:
        return sum(file.stat().st_size for file in self._files())

    def _files(self) -> list[Path]:
        return [file for file in self._folder.iterdir() if file.is_file()]

    def _write(self, descriptor: int, data: int, size: int, offset: int) -> int:
        quota = self.quota  # which a test may lift while somebody writes
        if quota is not None and not self._fits(descriptor, offset + size, quota):
            self.refusals += 1
            ctypes.set_errno(errno.ENOSPC)
            return -1
        written: int = self._real(descriptor, data, size, offset)
        return written

    def _fits(self, descriptor: int, end: int, quota: int) -> bool:
        file = os.fstat(descriptor)
        others = {state.st_ino: state.st_size for state in map(os.stat, self._files())}
        if file.st_ino not in others:
            return True
        return end <= file.st_size or sum(others.values()) + end - file.st_size <= quota
