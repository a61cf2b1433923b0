"""Numbered steps from an empty file to the schema of today.

Law: a released step is never edited; each runs in one transaction together with its number, so a file is always at
some whole version.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

from libravdb_memory.errors import StoreTooNewError
from libravdb_memory.store.sqlite import schema
from libravdb_memory.store.sqlite.database import Database


def _tables(db: Database) -> None:
    db.execute(schema.VERSION_1)
    db.execute("INSERT INTO meta (name, value) VALUES ('uuid', ?)", (str(uuid.uuid4()),))


def _token_rows(db: Database) -> None:
    db.execute(schema.VERSION_2)


def _counted_edits(db: Database) -> None:
    db.execute(schema.VERSION_3)
    for (key,) in db.execute("SELECT key FROM space").fetchall():
        db.execute(schema.count_edits(key))


def _merged_beside_commits(db: Database) -> None:
    db.execute(schema.VERSION_4)


STEPS: tuple[Callable[[Database], None], ...] = (
    _tables,
    _token_rows,
    _counted_edits,
    _merged_beside_commits,
)


def migrate(db: Database, path: Path, steps: tuple[Callable[[Database], None], ...] = STEPS) -> None:
    """Bring the file up to date; StoreTooNewError, and nothing changed, when it is ahead of us."""
    found = version_of(db)
    if found > len(steps):
        raise StoreTooNewError(path, found, len(steps))
    for number, step in enumerate(steps[found:], start=found + 1):
        _take(db, step, number)


def _take(db: Database, step: Callable[[Database], None], number: int) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        step(db)
        db.pragma("user_version", number)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite may have rolled back already, and saying so would hide why
            db.execute("ROLLBACK")
        raise


def version_of(db: Database) -> int:
    return int(db.pragma("user_version"))
