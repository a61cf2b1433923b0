"""Where records stand: their neighbours, who spoke, how long it is. For the many candidates of one question.

Laws: each place is as good as one read during the call. A place is remembered only when something comes after it:
new records go to the end of a group, so that it changes only by an edit or a removal, and these forget the whole
collection. `forget` is called after COMMIT; a read that it overtook is used once and not kept.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import apsw

from libravdb_memory.errors import StoreCorruptError
from libravdb_memory.store.protocol import Place
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.schema import REF_BITS

_MOST_KEPT = 32_768

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


class Places:
    """Remembers those lately asked for: the same records are candidates of many questions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, dict[int, Place]] = OrderedDict()
        self._number = 0
        self._changes = 0

    def of(self, db: Database, refs: Sequence[int], path: Path) -> dict[int, Place]:
        found: dict[int, Place] = {}
        unknown: list[int] = []
        with self._lock:
            changes = self._changes
            for ref in refs:
                place = self._kept.get(ref >> REF_BITS, {}).get(ref)
                if place is None:
                    unknown.append(ref)
                else:
                    found[ref] = place
        if unknown:
            read = _read(db, unknown, path)
            found |= read
            self._keep([place for place in read.values() if place.after is not None], changes)
        return found

    def forget(self, refs: Iterable[int]) -> None:
        """These records were edited or are gone."""
        with self._lock:
            self._changes += 1
            for key in {ref >> REF_BITS for ref in refs}:
                self._number -= len(self._kept.pop(key, ()))

    def _keep(self, places: Sequence[Place], changes: int) -> None:
        with self._lock:
            if self._changes != changes:
                return
            for place in places:
                mine = self._kept.setdefault(place.ref >> REF_BITS, {})
                self._number += place.ref not in mine
                mine[place.ref] = place
                self._kept.move_to_end(place.ref >> REF_BITS)
            while self._number > _MOST_KEPT:
                self._drop_some()

    def _drop_some(self) -> None:
        """Of the collection asked for least recently, the places that have been there longest."""
        key, oldest = next(iter(self._kept.items()))
        for ref in list(oldest)[: 1 + len(oldest) // 8]:
            del oldest[ref]
            self._number -= 1
        if not oldest:
            del self._kept[key]


def _read(db: Database, refs: Sequence[int], path: Path) -> dict[int, Place]:
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
