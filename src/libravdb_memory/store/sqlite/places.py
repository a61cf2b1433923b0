"""Where records stand: their neighbours, who spoke, how long it is. For the many candidates of one question.

Law: one statement, so that an answer is one moment of the store.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import apsw

from libravdb_memory.errors import StoreCorruptError
from libravdb_memory.store.protocol import Place
from libravdb_memory.store.sqlite.database import Database

_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_END = 64
"""Characters looked at for a question mark: more white space than that is no end of a sentence."""

# The record next to another is nearly always its neighbour in the group too, and on the same page; the index of groups
# is asked only if not. The text is measured outside, because SQLite ends a text at the first NUL.
_PLACES = """
SELECT r.ref, r.grp, r.ts,
    CASE WHEN (SELECT grp FROM record WHERE ref = r.ref - 1) = r.grp THEN r.ref - 1
    ELSE (SELECT max(b.ref) FROM record b WHERE b.grp = r.grp AND b.ref < r.ref) END,
    CASE WHEN (SELECT grp FROM record WHERE ref = r.ref + 1) = r.grp THEN r.ref + 1
    ELSE (SELECT min(a.ref) FROM record a WHERE a.grp = r.grp AND a.ref > r.ref) END,
    json_extract(r.metadata, '$.role', '$.speaker'), r.text
FROM json_each(?) j CROSS JOIN record r ON r.ref = j.value
"""


def places(db: Database, refs: Sequence[int], path: Path) -> dict[int, Place]:
    found: dict[int, Place] = {}
    try:
        rows = db.execute(_PLACES, (json.dumps([int(ref) for ref in refs]),)).fetchall()
    except apsw.SQLError as error:
        raise StoreCorruptError(path, f"the metadata of a record is damaged ({error})") from error
    for ref, group, ts, before, after, names, text in rows:
        if not isinstance(text, str):
            raise StoreCorruptError(path, f"the text of record {ref} is gone")
        role, speaker = _role_and_speaker(names)
        asks = text[-_END:].rstrip().endswith(_QUESTION_MARKS)
        found[ref] = Place(ref, group, ts, before, after, role, speaker, len(text), asks)
    return found


@lru_cache(maxsize=1024)
def _role_and_speaker(names: str) -> tuple[str, str]:
    role, speaker = json.loads(names)
    return role if isinstance(role, str) else "", speaker if isinstance(speaker, str) else ""
