"""Reading token rows: `token_<space>(ref INTEGER PRIMARY KEY, data BLOB)`, opaque to the store.

Laws: a row is handed out only under the rule that made it. Rows lately asked for stay in memory, up to a bound, until
they are written again or their record leaves; a read that such a change overtook is used once and not kept.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from libravdb_memory.errors import InvalidInputError, StoreCorruptError
from libravdb_memory.store.protocol import Space
from libravdb_memory.store.sqlite import spaces
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.schema import token_table

_MOST_BYTES = 64 << 20


class TokenRowsKept:
    """The same records are candidates of many questions. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: tuple[int, str] = (0, "")
        self._kept: dict[int, bytes] = {}
        self._bytes = 0
        self._changes = 0

    def get(self, db: Database, space: Space, refs: Sequence[int], path: Path) -> dict[int, bytes]:
        rule = spaces.require(db, space).tokens
        if not rule or rule != space.tokens:
            return {}
        with self._lock:
            if self._of != (space.key, rule):
                self._clear()
                self._of = (space.key, rule)
            changes, kept = self._changes, self._kept
            found = {ref: row for ref in refs if (row := kept.get(ref)) is not None}
        if len(found) < len(refs):
            read = _read(db, space, [ref for ref in refs if ref not in found], path)
            found |= read
            self._keep(read, changes)
        return found

    def forget(self, refs: Iterable[int]) -> None:
        """These are gone, or are not what they were."""
        with self._lock:
            self._changes += 1
            for ref in refs:
                self._bytes -= len(self._kept.pop(ref, b""))

    def forget_all(self) -> None:
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self._changes += 1
        self._kept, self._bytes = {}, 0

    def _keep(self, read: dict[int, bytes], changes: int) -> None:
        with self._lock:
            if self._changes != changes:
                return
            self._bytes += sum(len(row) - len(self._kept.get(ref, b"")) for ref, row in read.items())
            self._kept |= read
            while self._bytes > _MOST_BYTES:
                self._drop_oldest()

    def _drop_oldest(self) -> None:
        for ref in list(self._kept)[: 1 + len(self._kept) // 4]:
            self._bytes -= len(self._kept.pop(ref))


def _read(db: Database, space: Space, refs: Sequence[int], path: Path) -> dict[int, bytes]:
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
