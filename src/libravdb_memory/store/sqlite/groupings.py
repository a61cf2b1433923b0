"""The groups of a collection, and how much each holds.

Laws: groups come in the order of their newest records, the newest first; a cursor is the newest ref of the last group
of a page. Counting reads an index alone; texts are measured for the groups of the page only.
"""

from __future__ import annotations

import json

from libravdb_memory.store.protocol import GroupInfo, GroupPage
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.records import collection_key, cursor_at, ref_at

_NAMED = "g.collection = ? AND (? IS NULL OR g.name = ?) AND instr(lower(g.name), lower(?))"
_GROUPS = (
    "SELECT g.key, g.name, count(*), min(r.ref), max(r.ref) AS newest FROM grp g JOIN record r ON r.grp = g.key "  # noqa: S608
    f"WHERE {_NAMED} GROUP BY g.key HAVING max(r.ref) < ? ORDER BY newest DESC LIMIT ?"
)
_TOTAL = f"SELECT count(*) FROM grp g WHERE {_NAMED} AND EXISTS (SELECT 1 FROM record r WHERE r.grp = g.key)"  # noqa: S608
_LENGTHS = (
    "SELECT r.grp, sum(length(r.text)) FROM record r WHERE r.grp IN (SELECT value FROM json_each(?)) GROUP BY r.grp"
)
_TIMES = "SELECT r.ref, r.ts FROM record r WHERE r.ref IN (SELECT value FROM json_each(?))"
_BEYOND = (1 << 63) - 1


def groups(
    db: Database, collection: str, *, name: str | None, containing: str, after: str | None, limit: int
) -> GroupPage:
    key = collection_key(db, collection)
    below = _BEYOND if after is None else ref_at(after, key)
    if key is None:
        return GroupPage((), 0, None)
    named = (key, name, name, containing)
    rows = db.execute(_GROUPS, (*named, below, limit + 1)).fetchall()
    page = rows[:limit]
    lengths: dict[int, int] = dict(db.execute(_LENGTHS, (json.dumps([row[0] for row in page]),)).fetchall())
    ends = [ref for row in page for ref in row[3:5]]
    times: dict[int, int] = dict(db.execute(_TIMES, (json.dumps(ends),)).fetchall())
    found = tuple(
        GroupInfo(group, count, times[first], times[last], lengths[grp]) for grp, group, count, first, last in page
    )
    total = int(db.execute(_TOTAL, named).get)
    return GroupPage(found, total, cursor_at(page[-1][4]) if page and len(rows) > limit else None)
