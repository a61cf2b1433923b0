"""What the store can do here, and how it is."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from libravdb_memory.store.protocol import Capabilities, StoreStatus
from libravdb_memory.store.sqlite import files, lacking, spaces
from libravdb_memory.store.sqlite.database import Database, open_database

if TYPE_CHECKING:
    from libravdb_memory.store.sqlite.vectors import VectorShelf

_FULL = 2
_MEMORY = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


def note_sync(db: Database) -> None:
    """A commit waits for the disk only if it changes something: this changes as little as can be."""
    db.execute(
        "INSERT INTO meta (name, value) VALUES ('syncs', '1') "
        "ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)"
    )


def capabilities(db: Database) -> Capabilities:
    text = _works("CREATE VIRTUAL TABLE probe USING fts5(body)")
    vectors = find_spec("usearch") is not None
    notes = () if vectors else ("usearch is not installed: large collections are searched exactly",)
    return Capabilities(
        backend="sqlite",
        version=apsw.sqlite_lib_version(),
        durable=db.pragma("journal_mode") == "wal" and db.pragma("synchronous") == _FULL,
        text_index=text,
        vector_index=vectors,
        online_backup=_can_back_up(),
        notes=notes,
    )


def status(db: Database, data: Path, shelf: VectorShelf | None) -> StoreStatus:
    known = spaces.list_spaces(db)
    active = spaces.active_space(db)
    return StoreStatus(
        records=_number(db, "SELECT count(*) FROM record"),
        collections=_number(
            db,
            "SELECT count(*) FROM collection c WHERE EXISTS (SELECT 1 FROM grp g JOIN record r ON r.grp = g.key "
            "WHERE g.collection = c.key)",
        ),
        edges=_number(db, "SELECT count(*) FROM edge"),
        sequence=_number(db, "SELECT coalesce(max(sequence), 0) FROM change"),
        bytes_on_disk=files.size_on_disk(data),
        resident_vector_bytes=0 if shelf is None else shelf.resident_bytes,
        unembedded=0 if active is None else lacking.count_unembedded(db, active),
        spaces=known,
        indexes={} if shelf is None else shelf.describe(),
    )


def _number(db: Database, sql: str) -> int:
    return int(db.execute(sql).get)


def _works(sql: str) -> bool:
    db = open_database(":memory:", _MEMORY)
    try:
        db.execute(sql)
    except apsw.SQLError:
        return False
    finally:
        db.close()
    return True


def _can_back_up() -> bool:
    source, target = open_database(":memory:", _MEMORY), open_database(":memory:", _MEMORY)
    try:
        source.execute("CREATE TABLE probe (value)")
        copy = target.backup("main", source, "main")
        copy.step()
        copy.close()
        return bool(target.execute("SELECT count(*) FROM probe").get == 0)
    finally:
        target.close()
        source.close()
