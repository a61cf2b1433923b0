"""Embedding spaces: which there are, which one answers, and which records still lack a vector in each.

Laws: exactly one space is active once there is any. A space's watermark is a change sequence up to which every record
still there and searchable has its vector, so what is missing is looked for above it only; a new space starts at 0 and
the whole log is kept, so it sees everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.store.drafts import check_integer, check_text
from libravdb_memory.store.protocol import Space, Unembedded
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.schema import PUT, REF_BITS, first_ref, vector_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def list_spaces(db: Database) -> tuple[Space, ...]:
    rows = db.execute("SELECT key, fingerprint, label, dimensions, active FROM space ORDER BY key")
    return tuple(Space(key, fingerprint, label, size, bool(active)) for key, fingerprint, label, size, active in rows)


def active_space(db: Database) -> Space | None:
    row = db.execute("SELECT key, fingerprint, label, dimensions FROM space WHERE active").fetchone()
    return None if row is None else Space(row[0], row[1], row[2], row[3], active=True)


def check_space(fingerprint: str, label: str, dimensions: int) -> None:
    check_text("fingerprint", fingerprint)
    check_text("label", label)
    check_integer("dimensions", dimensions)
    if dimensions < 1:
        raise InvalidInputError("dimensions", "must be at least 1")


def add_space(db: Database, fingerprint: str, label: str, dimensions: int) -> Space:
    for space in list_spaces(db):
        if space.fingerprint == fingerprint:
            if space.dimensions != dimensions:
                raise InvalidInputError("dimensions", f"this space has {space.dimensions}, not {dimensions}")
            return space
    first = active_space(db) is None
    db.execute(
        "INSERT INTO space (fingerprint, label, dimensions, active, watermark) VALUES (?, ?, ?, ?, 0)",
        (fingerprint, label, dimensions, first),
    )
    key = db.last_insert_rowid()
    db.execute(f"CREATE TABLE {vector_table(key)} (ref INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT")
    return Space(key, fingerprint, label, dimensions, first)


def activate_space(db: Database, space: Space) -> None:
    require(db, space)
    db.execute("UPDATE space SET active = (key = ?)", (space.key,))


def drop_space(db: Database, space: Space) -> None:
    """Forget a space and its vectors. The active one goes only when it is the last."""
    require(db, space)
    spaces = list_spaces(db)
    if len(spaces) > 1 and any(known.active and known.key == space.key for known in spaces):
        raise InvalidInputError("space", f"{space.label} is active; activate another one first")
    db.execute("DELETE FROM space WHERE key = ?", (space.key,))
    db.execute(f"DROP TABLE {vector_table(space.key)}")


def require(db: Database, space: Space) -> None:
    sql = "SELECT 1 FROM space WHERE key = ? AND fingerprint = ?"
    if db.execute(sql, (space.key, space.fingerprint)).get is None:
        raise NotFoundError(space.label)


def unembedded(db: Database, space: Space, limit: int) -> tuple[Unembedded, ...]:
    require(db, space)
    found: dict[int, Unembedded] = {}
    if limit <= 0:
        return ()
    for ref, version, text in db.execute(
        _missing(space.key, "c.ref, r.version, r.text") + " ORDER BY c.sequence", (0,)
    ):
        if ref not in found:
            found[ref] = Unembedded(ref, text, version)
            if len(found) == limit:
                break
    return tuple(found.values())


def count_unembedded(db: Database, space: Space) -> int:
    return int(db.execute(_missing(space.key, "count(DISTINCT c.ref)"), (0,)).get)


class Completeness:
    """Up to which change every record of a collection was found to have its vector. A record loses its vector
    only by a later change, so that only what came later needs counting."""

    def __init__(self) -> None:
        self._through: dict[tuple[int, int], int] = {}

    def missing(self, db: Database, space: Space, collection_key: int) -> int:
        place = (space.key, collection_key)
        through = self._through.get(place, 0)
        latest: int = db.execute("SELECT coalesce(max(sequence), 0) FROM change").get
        if latest == through:
            return 0
        sql = _missing(space.key, "count(DISTINCT c.ref)") + " AND +c.ref >= ? AND +c.ref < ?"
        bounds = (first_ref(collection_key), first_ref(collection_key + 1))
        missing = int(db.execute(sql, (through, *bounds)).get)
        if not missing:
            self._through[place] = latest
        return missing


def put_vectors(
    db: Database, space: Space, refs: Sequence[int], rows: NDArray[np.float32], versions: Sequence[int] | None
) -> list[int]:
    """Store the rows whose records are still there (at their version, if given); returns their positions."""
    require(db, space)
    sql = (
        f"INSERT OR REPLACE INTO {vector_table(space.key)} (ref, data) SELECT ref, ? FROM record WHERE ref = ? "  # noqa: S608
        f"AND (SELECT searchable FROM collection WHERE key = ref >> {REF_BITS})"
    )
    if versions is not None:
        sql += " AND version = ?"
    stored: list[int] = []
    for position, ref in enumerate(refs):
        bindings = (rows[position].tobytes(), ref)
        db.execute(sql, bindings if versions is None else (*bindings, versions[position]))
        if db.changes():
            stored.append(position)
    if stored:
        _advance(db, space.key)
    return stored


def delete_vectors(db: Database, refs: Sequence[int]) -> int:
    """Remove the records' vectors from every space; returns how many there were."""
    removed = 0
    for (key,) in db.execute("SELECT key FROM space").fetchall():
        for ref in refs:
            db.execute(f"DELETE FROM {vector_table(key)} WHERE ref = ?", (ref,))  # noqa: S608
            removed += db.changes()
    return removed


def _missing(key: int, columns: str) -> str:
    """Puts after the given change whose record has no vector; every one before the watermark has."""
    return (
        f"SELECT {columns} FROM change c JOIN record r ON r.ref = c.ref "  # noqa: S608
        f"WHERE c.sequence > max(?, (SELECT watermark FROM space WHERE key = {key:d})) AND c.kind = {PUT} "
        f"AND NOT EXISTS (SELECT 1 FROM {vector_table(key)} v WHERE v.ref = c.ref)"
    )


def _advance(db: Database, key: int) -> None:
    oldest = db.execute(_missing(key, "c.sequence") + " ORDER BY c.sequence LIMIT 1", (0,)).get
    if oldest is None:
        oldest = db.execute("SELECT coalesce(max(sequence), 0) + 1 FROM change").get
    db.execute("UPDATE space SET watermark = ? WHERE key = ?", (oldest - 1, key))
