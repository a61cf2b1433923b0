"""Edges: a parent covers its children. Law: the graph has no cycle and no edge without both its records."""

from __future__ import annotations

from libravdb_memory.store.sqlite.database import Database

_PARENTS = "SELECT parent FROM edge WHERE child = ?"


def link(db: Database, parent: int, child: int) -> bool:
    """Add the edge if it is not there; False, and nothing added, when it would close a cycle."""
    if _lies_above(db, child, parent):
        return False
    db.execute("INSERT OR IGNORE INTO edge (parent, child) VALUES (?, ?)", (parent, child))
    return True


def unlink(db: Database, ref: int) -> int:
    """Remove every edge that touches the record; returns how many."""
    before = db.total_changes()
    db.execute("DELETE FROM edge WHERE parent = ?", (ref,))
    db.execute("DELETE FROM edge WHERE child = ?", (ref,))
    return db.total_changes() - before


def _lies_above(db: Database, candidate: int, ref: int) -> bool:
    """Whether `candidate` is the record itself or one of its ancestors. New parents have none, so this is one look."""
    seen = {ref}
    waiting = [ref]
    while waiting:
        if candidate in seen:
            return True
        above = {row[0] for row in db.execute(_PARENTS, (waiting.pop(),))}
        waiting.extend(above - seen)
        seen |= above
    return candidate in seen
