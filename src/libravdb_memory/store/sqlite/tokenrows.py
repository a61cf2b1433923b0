"""Reading token rows: `token_<space>(ref INTEGER PRIMARY KEY, data BLOB)`, opaque to the store.

Law: a row is handed out only under the rule that made it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from libravdb_memory.errors import InvalidInputError, StoreCorruptError
from libravdb_memory.store.protocol import Space
from libravdb_memory.store.sqlite import spaces
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.schema import token_table


def get_tokens(db: Database, space: Space, refs: Sequence[int], path: Path) -> dict[int, bytes]:
    rule = spaces.require(db, space).tokens
    if not rule or rule != space.tokens:
        return {}
    # The order of a CROSS JOIN is kept: one lookup for each ref.
    sql = f"SELECT t.ref, t.data FROM json_each(?) j CROSS JOIN {token_table(space.key)} t ON t.ref = j.value"  # noqa: S608
    rows: dict[int, bytes] = dict(db.execute(sql, (json.dumps([int(ref) for ref in refs]),)).fetchall())
    if not all(type(data) is bytes for data in rows.values()):
        raise StoreCorruptError(path, f"a token row of space {space.key} is no blob")
    return rows


def check_tokens(refs: Sequence[int], tokens: Sequence[bytes] | None) -> None:
    if tokens is None:
        return
    if len(tokens) != len(refs):
        raise InvalidInputError("tokens", f"are {len(tokens)}, not {len(refs)}")
    for row in tokens:
        if not isinstance(row, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError("tokens", f"must be bytes, not {type(row).__name__}")
