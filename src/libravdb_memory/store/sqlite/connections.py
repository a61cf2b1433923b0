"""Connections to the data file: one that writes, and one reader per thread.

Law: every connection knows the SQL functions the schema calls; a reader cannot write; only the erase path can say that
it is erasing.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import apsw

from libravdb_memory.errors import StoreClosedError, StoreError, StoreReadOnlyError
from libravdb_memory.store.forking import hold_across_forks
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite.database import Database, open_database
from libravdb_memory.store.sqlite.failures import naming_system_errors
from libravdb_memory.store.sqlite.lexical import searchable

PAGE_SIZE = 4096
_OLDEST_SQLITE = (3, 51, 3)  # earlier ones can corrupt a WAL file on reset
BUSY_MS = 5_000


def check_sqlite_version() -> None:
    found = apsw.sqlite_lib_version()
    if tuple(int(part) for part in found.split(".")) < _OLDEST_SQLITE:
        raise StoreError(f"SQLite {found} is too old; install apsw 3.51.3 or newer")


def connect(path: Path, flags: int, vfs: str | None = None, erasing: Callable[[], bool] = lambda: False) -> Database:
    """A connection with the functions of our schema and nothing else of ours."""
    db = open_database(path, flags, vfs)
    db.set_busy_timeout(BUSY_MS)
    db.create_scalar_function("libravdb_searchable", searchable, 1, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)
    db.create_scalar_function("libravdb_erasing", erasing, 0, flags=apsw.SQLITE_INNOCUOUS)
    db.pragma("recursive_triggers", 1)
    db.pragma("temp_store", "MEMORY")
    return db


def connect_writer(path: Path, settings: StoreSettings, vfs: str | None, erasing: Callable[[], bool]) -> Database:
    db = connect(path, apsw.SQLITE_OPEN_READWRITE, vfs, erasing)
    if db.readonly("main"):  # SQLite would open it silently, and leave a log beside it
        db.close()
        raise StoreReadOnlyError(path)
    try:
        with naming_system_errors(db):
            db.pragma("journal_mode", "WAL")
            db.pragma("synchronous", "FULL")
            db.pragma("secure_delete", 1)
            db.pragma("cache_size", -settings.cache_mb * 1024)
    except BaseException:
        db.close()
        raise
    return db


def log_pages(settings: StoreSettings) -> int:
    """How long the log may become."""
    return settings.wal_mb * 1024 * 1024 // PAGE_SIZE


def connect_folder(path: Path, vfs: str | None) -> Database:
    """For folding the log into the data file, of which a connection knows nothing before it has read something."""
    db = connect(path, apsw.SQLITE_OPEN_READWRITE, vfs)
    db.pragma("wal_autocheckpoint", 0)
    db.pragma("user_version")
    return db


class _Reader:
    """A thread's connection; `busy` is held while it reads, so that closing waits for it."""

    __slots__ = ("__weakref__", "busy", "db")

    def __init__(self, db: Database) -> None:
        self.db = db
        self.busy = threading.RLock()


class Readers:
    """Read-only connections, made per thread on first use and closed together."""

    def __init__(self, path: Path, vfs: str | None) -> None:
        self._path = path
        self._vfs = vfs
        self._local = threading.local()
        self._all: weakref.WeakSet[_Reader] = weakref.WeakSet()
        self._held: list[_Reader] = []
        self._guard = threading.RLock()
        self._closed = False
        hold_across_forks(self)

    @contextmanager
    def reading(self) -> Generator[Database]:
        reader = self._mine()
        with reader.busy:
            if self._closed:
                raise StoreClosedError(self._path)
            yield reader.db

    def apsw_connection(self) -> apsw.Connection:
        """The calling thread's connection as it is, for work that ends before `close` is called."""
        return cast(apsw.Connection, self._mine().db)

    @contextmanager
    def fresh(self) -> Generator[Database]:
        """A connection that remembers nothing: FTS5 checks an index against what this connection cached of it."""
        db = connect(self._path, apsw.SQLITE_OPEN_READONLY, self._vfs)
        try:
            yield db
        finally:
            db.close()

    def close(self) -> None:
        with self._guard:
            self._closed = True
            readers = list(self._all)
        for reader in readers:
            with reader.busy:
                reader.db.close()

    def hold(self) -> None:
        self._guard.acquire()
        self._held.extend(self._all)

    def let_go(self) -> None:
        self._held.clear()
        self._guard.release()

    def abandon(self) -> None:
        """In a forked child: closed, with the connections left alone, those of threads that are gone among them."""
        self._guard = threading.RLock()
        self._closed = True

    def _mine(self) -> _Reader:
        if self._closed:
            raise StoreClosedError(self._path)
        reader: _Reader | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = self._open()
        return reader

    def _open(self) -> _Reader:
        reader = _Reader(connect(self._path, apsw.SQLITE_OPEN_READONLY, self._vfs))
        with self._guard:
            if self._closed:
                reader.db.close()
                raise StoreClosedError(self._path)
            self._all.add(reader)
        return reader
