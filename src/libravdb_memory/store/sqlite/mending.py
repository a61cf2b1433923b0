"""Vectors and token rows that cannot be used are dropped, and what they belonged to waits to be embedded again.

Law: nothing is lost by it that the records do not bring back.
"""

from __future__ import annotations

from libravdb_memory.store.protocol import Space
from libravdb_memory.store.sqlite import lacking, spaces, vectortable
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.schema import token_table, vector_table


def drop_damaged(db: Database) -> list[int]:
    """The refs whose vectors went."""
    dropped: list[int] = []
    for space in spaces.list_spaces(db):
        dropped += _vectors(db, space)
        if space.tokens:
            _tokens(db, space)
        db.execute("UPDATE space SET watermark = 0, token_watermark = 0 WHERE key = ?", (space.key,))
        lacking.advance(db, space)
    return dropped


def _vectors(db: Database, space: Space) -> list[int]:
    table = vector_table(space.key)
    sql = (
        f"SELECT v.ref, v.data, r.ref IS NULL OR typeof(v.data) <> 'blob' FROM {table} v "  # noqa: S608
        "LEFT JOIN record r ON r.ref = v.ref"
    )
    rows = db.execute(sql)
    damaged = [ref for ref, data, unusable in rows if unusable or vectortable.fault_of(space, data)]
    db.executemany(f"DELETE FROM {table} WHERE ref = ?", [(ref,) for ref in damaged])  # noqa: S608
    return damaged


def _tokens(db: Database, space: Space) -> None:
    db.execute(
        f"DELETE FROM {token_table(space.key)} WHERE typeof(data) <> 'blob' "  # noqa: S608
        f"OR ref NOT IN (SELECT ref FROM {vector_table(space.key)})"
    )
