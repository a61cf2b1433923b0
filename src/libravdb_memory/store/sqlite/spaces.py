"""Embedding spaces: which there are, which one answers, and what they keep of each record.

Laws: exactly one space is active once there is any. A record's vector and its token row, where the space keeps rows,
are written in one transaction and deleted in one, so that a row never outlives its vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.store.drafts import check_integer, check_text
from libravdb_memory.store.protocol import Space
from libravdb_memory.store.sqlite import lacking
from libravdb_memory.store.sqlite.database import Database, Row
from libravdb_memory.store.sqlite.schema import REF_BITS, count_edits, token_table, vector_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SPACES = "SELECT key, fingerprint, label, dimensions, active, tokens FROM space"


def list_spaces(db: Database) -> tuple[Space, ...]:
    return tuple(_space_of(row) for row in db.execute(f"{_SPACES} ORDER BY key"))


def active_space(db: Database) -> Space | None:
    row = db.execute(f"{_SPACES} WHERE active").fetchone()
    return None if row is None else _space_of(row)


def require(db: Database, space: Space) -> Space:
    """The space as it is now."""
    row = db.execute(f"{_SPACES} WHERE key = ? AND fingerprint = ?", (space.key, space.fingerprint)).fetchone()
    if row is None:
        raise NotFoundError(space.label)
    return _space_of(row)


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
    db.execute(count_edits(key))
    return Space(key, fingerprint, label, dimensions, first)


def activate_space(db: Database, space: Space) -> None:
    require(db, space)
    db.execute("UPDATE space SET active = (key = ?)", (space.key,))


def drop_space(db: Database, space: Space) -> None:
    """Forget a space, its vectors and its token rows. The active one goes only when it is the last."""
    require(db, space)
    spaces = list_spaces(db)
    if len(spaces) > 1 and any(known.active and known.key == space.key for known in spaces):
        raise InvalidInputError("space", f"{space.label} is active; activate another one first")
    db.execute("DELETE FROM space WHERE key = ?", (space.key,))
    db.execute(f"DROP TABLE {vector_table(space.key)}")
    db.execute("DELETE FROM edits WHERE space = ?", (space.key,))
    db.execute(f"DROP TABLE IF EXISTS {token_table(space.key)}")


def keep_tokens(db: Database, space: Space, rule: str) -> Space:
    if require(db, space).tokens != rule:
        table = token_table(space.key)
        db.execute(f"DROP TABLE IF EXISTS {table}")
        if rule:
            db.execute(f"CREATE TABLE {table} (ref INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT")
        db.execute("UPDATE space SET tokens = ?, token_watermark = 0 WHERE key = ?", (rule, space.key))
    return require(db, space)


@dataclass(frozen=True, slots=True)
class Stored:
    """`count` records have what was given; at these positions the vector is another than before."""

    count: int
    changed: tuple[int, ...]


def put_vectors(
    db: Database,
    space: Space,
    refs: Sequence[int],
    rows: NDArray[np.float32],
    versions: Sequence[int] | None,
    tokens: Sequence[bytes] | None,
) -> Stored:
    """Store what belongs to records that are still there (at their version, if given)."""
    known = require(db, space)
    _check_rule(known, space, tokens)
    there = (
        "SELECT 1 FROM record WHERE ref = ? "  # noqa: S608
        f"AND (SELECT searchable FROM collection WHERE key = ref >> {REF_BITS})"
    )
    if versions is not None:
        there += " AND version = ?"
    count, changed = 0, list[int]()
    for position, ref in enumerate(refs):
        if db.execute(there, (ref,) if versions is None else (ref, versions[position])).get is None:
            continue
        count += 1
        if _write(db, vector_table(space.key), ref, rows[position].tobytes()):
            changed.append(position)
        if tokens is not None:
            _write(db, token_table(space.key), ref, tokens[position])
    if count:
        lacking.advance(db, known)
    return Stored(count, tuple(changed))


def delete_vectors(db: Database, refs: Sequence[int]) -> int:
    """Remove the records' vectors and token rows from every space; returns how many vectors there were."""
    removed = 0
    for key, tokens in db.execute("SELECT key, tokens FROM space").fetchall():
        for ref in refs:
            db.execute(f"DELETE FROM {vector_table(key)} WHERE ref = ?", (ref,))  # noqa: S608
            removed += db.changes()
            if tokens:
                db.execute(f"DELETE FROM {token_table(key)} WHERE ref = ?", (ref,))  # noqa: S608
    return removed


def _space_of(row: Row) -> Space:
    key, fingerprint, label, dimensions, active, tokens = row
    return Space(key, fingerprint, label, dimensions, bool(active), tokens)


def _check_rule(known: Space, given: Space, tokens: Sequence[bytes] | None) -> None:
    if known.tokens != given.tokens:
        raise InvalidInputError("space", f"keeps token rows by the rule {known.tokens!r} now, not {given.tokens!r}")
    if known.tokens and tokens is None:
        raise InvalidInputError("tokens", f"are needed: the space keeps rows by the rule {known.tokens!r}")
    if not known.tokens and tokens is not None:
        raise InvalidInputError("tokens", "are not kept by this space")


def _write(db: Database, table: str, ref: int, data: bytes) -> bool:
    """True if that changed anything: an index need not follow what stays the same."""
    db.execute(
        f"INSERT INTO {table} (ref, data) VALUES (?, ?) "  # noqa: S608
        "ON CONFLICT (ref) DO UPDATE SET data = excluded.data WHERE data <> excluded.data",
        (ref, data),
    )
    return bool(db.changes())
