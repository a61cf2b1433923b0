"""The part of an apsw connection this store uses, with the types a row really has.

apsw describes values by a buffer protocol that type checkers of Python 3.11 do not know; this is the one place that
says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import apsw

Value = str | int | float | bytes | None
Row = tuple[Any, ...]


class Cursor(Protocol):
    def __iter__(self) -> Cursor: ...

    def __next__(self) -> Row: ...

    def fetchone(self) -> Row | None: ...

    def fetchall(self) -> list[Row]: ...

    @property
    def get(self) -> Any:
        """The only column of the only row, None when there is no row."""
        ...


class Copy(Protocol):
    @property
    def done(self) -> bool: ...

    @property
    def page_count(self) -> int: ...

    @property
    def remaining(self) -> int: ...

    def step(self, npages: int = -1) -> bool: ...

    def close(self) -> None: ...


class Tokenizer(Protocol):
    def __call__(
        self, utf8: bytes, flags: int, locale: None, *, include_offsets: bool, include_colocated: bool
    ) -> list[str]: ...


class Database(Protocol):
    @property
    def in_transaction(self) -> bool: ...

    @property
    def system_errno(self) -> int:
        """What the system said at the last I/O error."""
        ...

    def execute(self, statements: str, bindings: Sequence[Value] | None = None) -> Cursor: ...

    def executemany(self, statements: str, sequenceofbindings: Sequence[Sequence[Value]]) -> Cursor: ...

    def pragma(self, name: str, value: Value = None) -> Any: ...

    def changes(self) -> int: ...

    def total_changes(self) -> int: ...

    def last_insert_rowid(self) -> int: ...

    def readonly(self, name: str) -> bool: ...

    def wal_checkpoint(self, dbname: str | None = None, mode: int = 0) -> tuple[int, int]: ...

    def backup(self, databasename: str, sourceconnection: Database, sourcedatabasename: str) -> Copy: ...

    def fts5_tokenizer(self, name: str, args: list[str]) -> Tokenizer: ...

    def create_scalar_function(
        self, name: str, callable: Callable[..., Value], numargs: int, *, deterministic: bool = False, flags: int = 0
    ) -> None: ...

    def set_wal_hook(self, callable: Callable[..., int] | None) -> None: ...

    def set_busy_timeout(self, milliseconds: int) -> None: ...

    def __enter__(self) -> Database:
        """A savepoint or transaction around a `with` block."""
        ...

    def __exit__(self, *_: object) -> bool | None: ...

    def close(self, force: bool = False) -> None: ...


class DataFile(Protocol):
    """The bytes of a data file."""

    def xFileSize(self) -> int: ...

    def xRead(self, amount: int, offset: int) -> bytes: ...

    def xWrite(self, data: bytes, offset: int) -> None: ...

    def xSync(self, flags: int) -> None: ...

    def xClose(self) -> None: ...


def open_file(path: Path, vfs: str | None = None) -> DataFile:
    """To be written by SQLite's own means: a descriptor of ours, once closed, would take its locks along."""
    flags = [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0]
    return cast(DataFile, apsw.VFSFile(vfs or "", str(path), flags))


def open_database(path: Path | str, flags: int, vfs: str | None = None) -> Database:
    return cast(Database, apsw.Connection(str(path), flags=flags, vfs=vfs, statementcachesize=100))
