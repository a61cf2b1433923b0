"""Copies of a store: made while it runs, put back when it does not.

Laws: a backup is one consistent moment, whole or not there. Restoring checks the backup first, never touches a store
that is in use, and keeps what it replaces.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import apsw

from libravdb_memory.errors import ForeignFileError, InvalidInputError, StoreCorruptError, StoreError, StoreTooNewError
from libravdb_memory.store.protocol import Progress
from libravdb_memory.store.sqlite import files
from libravdb_memory.store.sqlite.connections import connect
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.failures import naming_system_errors, translating
from libravdb_memory.store.sqlite.lock import OwnerLock, lock_file
from libravdb_memory.store.sqlite.migrations import STEPS, version_of
from libravdb_memory.store.sqlite.ownlog import begin_line, refuse_foreign_log

_STEP_PAGES = 256


def write_backup(data: Path, target: Path, vfs: str | None, progress: Progress | None) -> None:
    """Copy the store at `data` to the file `target`; an earlier backup there is replaced."""
    with translating(target):
        _check_target(data, target)
        files.make_folder(target.parent)
        partial = files.beside(target, ".partial")
        try:
            _copy(data, partial, vfs, progress)
            check_intact(partial)
            _put_in_place(partial, target)
        finally:
            _unlink(partial)


def restore(backup_file: Path, target: Path, progress: Progress | None = None) -> Path | None:
    """Make `target` (a folder or a file) the store that `backup_file` holds. Returns where the store that was there
    before is kept, None if there was none."""
    data = files.locate(target)
    with translating(backup_file):
        if not files.holds_store(backup_file):
            raise ForeignFileError(backup_file, "there is no backup")
        check_intact(backup_file)
    with translating(data):
        if files.holds_store(data) and data.samefile(backup_file):
            raise InvalidInputError("backup_file", "is the store itself")
        files.make_folder(data.parent)
        lock = OwnerLock(data)
        partial = files.beside(data, ".restoring")
        try:
            _copy(backup_file, partial, None, progress)
            return _swap_in(partial, data)
        finally:
            _unlink(partial)
            lock.release()


def check_intact(file: Path) -> None:
    """Raises unless this is a store of a version we know whose pages hold together."""
    db = connect(file, apsw.SQLITE_OPEN_READONLY)
    try:
        found = version_of(db)
        if found > len(STEPS):
            raise StoreTooNewError(file, found, len(STEPS))
        verdict = str(db.execute("PRAGMA quick_check(1)").get)
    finally:
        db.close()
    if verdict != "ok":
        raise StoreCorruptError(file, verdict)


def _check_target(data: Path, target: Path) -> None:
    if target.is_dir():
        raise InvalidInputError("target", f"{target} is a folder; name a file in it")
    if not files.holds_store(target):
        return
    if target.samefile(data):
        raise InvalidInputError("target", "is the store itself")
    if lock_file(target).exists():
        OwnerLock(target).release()  # raises, naming the owner, when it is in use
        raise InvalidInputError("target", f"{target} is a store, not a backup; choose another name")


def _copy(source: Path, target: Path, vfs: str | None, progress: Progress | None) -> None:
    _unlink(target)
    os.close(os.open(target, os.O_RDWR | os.O_CREAT, 0o600))
    reader = connect(source, apsw.SQLITE_OPEN_READONLY, vfs)
    writer = connect(target, apsw.SQLITE_OPEN_READWRITE)
    try:
        # Without an open read transaction every commit in between would start the copy again.
        reader.execute("BEGIN; SELECT count(*) FROM meta").fetchall()
        with naming_system_errors(writer):
            _copy_pages(reader, writer, progress)
            writer.pragma("journal_mode", "DELETE")
            begin_line(writer)
    finally:
        writer.close()
        reader.close()


def _copy_pages(reader: Database, writer: Database, progress: Progress | None) -> None:
    copy = writer.backup("main", reader, "main")
    try:
        while not copy.done:
            copy.step(_STEP_PAGES)
            if progress is not None:
                progress(copy.page_count - copy.remaining, copy.page_count)
    finally:
        copy.close()


def _put_in_place(partial: Path, target: Path) -> None:
    descriptor = os.open(partial, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    partial.replace(target)
    files.sync_folder(target.parent)


def _swap_in(partial: Path, data: Path) -> Path | None:
    kept = None
    if data.exists():
        kept = _free_name(data)
        _fold_log(data)
        _keep(data, kept)
    _put_in_place(partial, data)
    shutil.rmtree(files.beside(data, "-ann"), ignore_errors=True)
    return kept


def _fold_log(data: Path) -> None:
    """Bring the replaced store's log into its file, so that one rename replaces it whole; a damaged one is kept with
    its log instead."""
    try:
        refuse_foreign_log(data)
        db = connect(data, apsw.SQLITE_OPEN_READWRITE)
        try:
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            db.close()
    except (apsw.Error, StoreCorruptError):
        return


def _keep(data: Path, kept: Path) -> None:
    for suffix in ("-wal", "-shm"):
        log = files.beside(data, suffix)
        if log.exists():
            log.replace(files.beside(kept, suffix))
    try:
        os.link(data, kept)
    except OSError:  # no hard links on this file system: a copy does, it only takes longer
        shutil.copy2(data, kept)


def _free_name(data: Path) -> Path:
    for number in range(1, 10_000):
        name = files.beside(data, ".before-restore" + (f"-{number}" if number > 1 else ""))
        if not name.exists():
            return name
    raise StoreError(f"{data.parent} is full of replaced stores; remove some")


def _unlink(file: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        files.beside(file, suffix).unlink(missing_ok=True)
