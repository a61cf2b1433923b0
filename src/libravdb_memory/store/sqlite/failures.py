"""What SQLite and the operating system report, as errors of this library. The only place that maps them."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from libravdb_memory.errors import (
    InvalidInputError,
    LibraVDBError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)
from libravdb_memory.store.sqlite.database import Database

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}


def translated(error: apsw.Error | OSError, path: Path) -> LibraVDBError:
    """The error of this library that says the same; raise it `from` the original."""
    if isinstance(error, OSError):
        return _of_system(error, path)
    match error:
        case apsw.FullError():
            return StoreFullError(path)
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return StoreReadOnlyError(path)
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreCorruptError(path, str(error))
        case apsw.SQLError() if str(error).startswith("no such table"):  # a file that lost a table lost more than that
            return StoreCorruptError(path, str(error))
        case apsw.TooBigError():
            return InvalidInputError("text", "is longer than the store can hold")
        case _:
            return StoreError(f"{path}: {type(error).__name__}: {error}")


@contextmanager
def translating(path: Path) -> Generator[None]:
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise translated(error, path) from error
    except UnicodeDecodeError as error:  # nothing but UTF-8 was ever stored
        raise StoreCorruptError(path, f"a text is not UTF-8: {error.reason}") from error


@contextmanager
def naming_system_errors(db: Database) -> Generator[None]:
    """SQLite calls most of what the system refuses an I/O error; inside, it becomes the system's own error, which tells
    a quota or a full disk from a broken one."""
    try:
        yield
    except apsw.IOError as error:
        if db.system_errno:
            raise OSError(db.system_errno, os.strerror(db.system_errno)) from error
        raise


def _of_system(error: OSError, path: Path) -> LibraVDBError:
    if error.errno in _FULL:
        return StoreFullError(path)
    if error.errno in _READ_ONLY:
        return StoreReadOnlyError(path)
    return StoreError(f"{path}: {error}")
