"""Erasing: the one way out for raw history.

Laws: after `erase` the selected records are in no table, index or log of the data file, and the names of groups and
collections they leave empty are gone too, and so are labels that mark nothing any more. Once the log was emptied and
`finish` is done, they are nowhere between the cells of a page either; until then the store says that this is to be
done, so that a crash does not leave them there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw

from libravdb_memory.store.drafts import check_address, check_text
from libravdb_memory.store.protocol import Erasure, Selection
from libravdb_memory.store.sqlite.catalog import Catalog
from libravdb_memory.store.sqlite.commits import remove_record
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.fulltext import forget_words, taking_out
from libravdb_memory.store.sqlite.gaps import wipe_gaps
from libravdb_memory.store.sqlite.marks import drop_unused_labels
from libravdb_memory.store.sqlite.schema import ERASE, REF_BITS

_OF_KEY = (
    "SELECT r.ref FROM collection c JOIN grp g ON g.collection = c.key JOIN record r ON r.grp = g.key "
    "WHERE c.name = ? AND g.name = ? AND r.id = ?"
)
_OF_GROUP = (
    "SELECT r.ref FROM collection c JOIN grp g ON g.collection = c.key JOIN record r ON r.grp = g.key "
    "WHERE c.name = ? AND g.name = ?"
)
_OF_COLLECTION = (
    "SELECT r.ref FROM collection c JOIN grp g ON g.collection = c.key JOIN record r ON r.grp = g.key WHERE c.name = ?"
)
_UNFINISHED = "erasing"


def check_selection(selection: Selection) -> None:
    for key in selection.keys:
        check_address(key.collection, key.id, key.group)
    for collection, group in selection.groups:
        check_text("groups", collection)
        check_text("groups", group)
    for name in selection.collections:
        check_text("collections", name)


def erase(db: Database, catalog: Catalog, selection: Selection) -> tuple[Erasure, list[int]]:
    """What went, and the refs of the records. The connection must allow erasing."""
    refs = sorted(set(_selected(db, selection)))
    edges = vectors = 0
    texts = set[str]()
    with taking_out(db, refs):
        for ref in refs:
            texts.add(db.execute("SELECT text FROM record WHERE ref = ?", (ref,)).get)
            gone = remove_record(db, catalog, ref, ERASE)
            edges += gone[0]
            vectors += gone[1]
    forget_words(db, texts)
    _drop_empty_names(db, {ref >> REF_BITS for ref in refs})
    drop_unused_labels(db)
    db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, '1')", (_UNFINISHED,))
    catalog.forget()
    return Erasure(len(refs), edges, vectors), refs


def is_unfinished(db: Database) -> bool:
    return bool(db.execute("SELECT count(*) FROM meta WHERE name = ?", (_UNFINISHED,)).get)


def finish(db: Database, path: Path, vfs: str | None) -> None:
    """Leave no copy of what was erased in the file. The log must be empty, and is so again unless a reader has just
    begun to need it; nobody else may write or fold one meanwhile."""
    wipe_gaps(db, path, vfs)
    db.execute("DELETE FROM meta WHERE name = ?", (_UNFINISHED,))
    with suppress(apsw.BusyError):
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _selected(db: Database, selection: Selection) -> Iterator[int]:
    for key in selection.keys:
        yield from _column(db, _OF_KEY, (key.collection, key.group, key.id))
    for group in selection.groups:
        yield from _column(db, _OF_GROUP, group)
    for name in selection.collections:
        yield from _column(db, _OF_COLLECTION, (name,))


def _column(db: Database, sql: str, values: tuple[str, ...]) -> list[int]:
    return [row[0] for row in db.execute(sql, values)]


def _drop_empty_names(db: Database, collection_keys: set[int]) -> None:
    for key in collection_keys:
        db.execute(
            "DELETE FROM grp WHERE collection = ? AND NOT EXISTS (SELECT 1 FROM record r WHERE r.grp = grp.key)", (key,)
        )
        db.execute(
            "DELETE FROM collection WHERE key = ? AND NOT EXISTS (SELECT 1 FROM grp WHERE collection = ?)", (key, key)
        )
