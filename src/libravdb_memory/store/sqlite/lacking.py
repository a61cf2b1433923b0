"""Which records still lack their vector or token row in a space.

Law: a watermark is a change sequence up to which every record still there and searchable has its row, so what is
missing is looked for above it only; it starts at 0 and the whole log is kept, so a new space sees everything. Token
rows have a watermark of their own: while they are made for what has long been there, new records get vectors first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from libravdb_memory.store.protocol import Space, Unembedded
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.schema import PUT, REF_BITS, first_ref, token_table, vector_table


@dataclass(frozen=True, slots=True)
class Missing:
    """Records that have no row in one of a space's tables."""

    key: int
    table: str
    watermark: str

    def sql(self, columns: str) -> str:
        """Their puts after a given change."""
        return (
            f"SELECT {columns} FROM change c JOIN record r ON r.ref = c.ref "  # noqa: S608
            f"WHERE c.sequence > max(?, (SELECT {self.watermark} FROM space WHERE key = {self.key:d})) "
            f"AND c.kind = {PUT} AND NOT EXISTS (SELECT 1 FROM {self.table} v WHERE v.ref = c.ref)"
        )


def _vectors(space: Space) -> Missing:
    return Missing(space.key, vector_table(space.key), "watermark")


def _parts(space: Space) -> Iterator[Missing]:
    yield _vectors(space)
    if space.tokens:
        yield Missing(space.key, token_table(space.key), "token_watermark")


def unembedded(db: Database, space: Space, limit: int, but: Sequence[str]) -> tuple[Unembedded, ...]:
    """The space must be as the database has it."""
    found: dict[int, Unembedded] = {}
    others = _outside(db, but)
    for missing in _parts(space) if limit else ():
        sql = missing.sql("c.ref, r.version, r.text") + others + " ORDER BY c.sequence"
        for ref, version, text in db.execute(sql, (0,)):
            if ref not in found:
                found[ref] = Unembedded(ref, text, version)
                if len(found) == limit:
                    return tuple(found.values())
    return tuple(found.values())


def _outside(db: Database, prefixes: Sequence[str]) -> str:
    """The condition that a record is in no collection whose name begins so."""
    names = db.execute("SELECT key, name FROM collection") if prefixes else ()
    keys = [f"{key:d}" for key, name in names if name.startswith(tuple(prefixes))]
    return f" AND (c.ref >> {REF_BITS}) NOT IN ({', '.join(keys)})" if keys else ""


def count_unembedded(db: Database, space: Space) -> int:
    parts = [missing.sql("DISTINCT c.ref") for missing in _parts(space)]
    return int(db.execute(f"SELECT count(*) FROM ({' UNION '.join(parts)})", (0,) * len(parts)).get)  # noqa: S608


def advance(db: Database, space: Space) -> None:
    """Raise the watermarks to just below the oldest change that lacks something."""
    for missing in _parts(space):
        oldest = db.execute(missing.sql("c.sequence") + " ORDER BY c.sequence LIMIT 1", (0,)).get
        if oldest is None:
            oldest = db.execute("SELECT coalesce(max(sequence), 0) + 1 FROM change").get
        db.execute(f"UPDATE space SET {missing.watermark} = ? WHERE key = ?", (oldest - 1, missing.key))  # noqa: S608


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
        sql = _vectors(space).sql("count(DISTINCT c.ref)") + " AND +c.ref >= ? AND +c.ref < ?"
        bounds = (first_ref(collection_key), first_ref(collection_key + 1))
        missing = int(db.execute(sql, (through, *bounds)).get)
        if not missing:
            self._through[place] = latest
        return missing


def lost_tokens(db: Database, space: Space) -> Iterator[int]:
    """Records that have a vector and no token row, and are not waiting for one either."""
    sql = (
        f"SELECT v.ref FROM {vector_table(space.key)} v "  # noqa: S608
        f"WHERE NOT EXISTS (SELECT 1 FROM {token_table(space.key)} t WHERE t.ref = v.ref) "
        f"AND v.ref NOT IN (SELECT ref FROM change WHERE kind = {PUT} "
        "AND sequence > (SELECT token_watermark FROM space WHERE key = ?))"
    )
    return (ref for (ref,) in db.execute(sql, (space.key,)))
