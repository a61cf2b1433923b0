"""From a path to an owned, current, writable data file.

Laws: nothing is created or changed before it is certain that what lies there is ours. A new store is built under
another name and renamed into place, so a crash leaves a whole store or none.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import apsw

from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite import files
from libravdb_memory.store.sqlite.connections import PAGE_SIZE, check_sqlite_version, connect, connect_writer
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.failures import naming_system_errors
from libravdb_memory.store.sqlite.lock import OwnerLock
from libravdb_memory.store.sqlite.migrations import migrate
from libravdb_memory.store.sqlite.ownlog import begin_line, refuse_foreign_log


def own(data: Path, vfs: str | None) -> OwnerLock:
    """Take the store at this path, creating it if there is none; the caller releases the lock."""
    check_sqlite_version()
    if not files.holds_store(data):
        files.refuse_remains(data)
        files.make_folder(data.parent)
    lock = OwnerLock(data)
    try:
        if not files.holds_store(data):
            _create(data, vfs)
        refuse_foreign_log(data)
    except BaseException:
        lock.release()
        raise
    return lock


def open_writer(
    data: Path, settings: StoreSettings, vfs: str | None, erasing: Callable[[], bool]
) -> tuple[Database, str]:
    """The writing connection and the store's uuid."""
    db = connect_writer(data, settings, vfs, erasing)
    try:
        with naming_system_errors(db):
            migrate(db, data)
            return db, str(db.execute("SELECT value FROM meta WHERE name = 'uuid'").get)
    except BaseException:
        db.close()
        raise


def _create(data: Path, vfs: str | None) -> None:
    building = files.beside(data, "-new")
    for suffix in ("", "-wal", "-shm", "-journal"):
        files.beside(building, suffix).unlink(missing_ok=True)
    os.close(os.open(building, os.O_RDWR | os.O_CREAT, 0o600))
    db = connect(building, apsw.SQLITE_OPEN_READWRITE, vfs)
    try:
        with naming_system_errors(db):
            db.pragma("page_size", PAGE_SIZE)
            db.pragma("application_id", files.APPLICATION_ID)
            migrate(db, data)
            begin_line(db)
            db.pragma("journal_mode", "WAL")
    finally:
        db.close()
    building.replace(data)
    files.sync_folder(data.parent)
