"""Names and running numbers, as the writer knows them: collections, groups, labels, the next ref, the change log.

Only the thread that leads the writer touches this, inside its transaction; after a rollback everything is forgotten and
read again. A number is never given twice: when records leave, their collection remembers how far it had counted.
"""

from __future__ import annotations

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.schema import first_ref

_MOST_CACHED = 50_000
_COLLECTION = "SELECT key, append_only, searchable, floor FROM collection WHERE name = ?"


class Collection:
    __slots__ = ("append_only", "key", "next_ref", "searchable")

    def __init__(self, key: int, append_only: bool, searchable: bool, next_ref: int) -> None:
        self.key = key
        self.append_only = append_only
        self.searchable = searchable
        self.next_ref = next_ref


class Catalog:
    def __init__(self) -> None:
        self._collections: dict[str, Collection] = {}
        self._groups: dict[tuple[int, str], int] = {}
        self._labels: dict[str, int] = {}
        self._sequence: int | None = None

    def forget(self) -> None:
        self._collections.clear()
        self._groups.clear()
        self._labels.clear()
        self._sequence = None

    def sequence(self, db: Database) -> int:
        known = self._sequence
        if known is None:
            known = self._sequence = int(db.execute("SELECT coalesce(max(sequence), 0) FROM change").get)
        return known

    def advance(self, db: Database, number: int) -> int:
        """Claim the next numbers of the change log; returns the first."""
        first = self.sequence(db) + 1
        self._sequence = first + number - 1
        return first

    def log(self, db: Database, ref: int, kind: int) -> None:
        sequence = self.advance(db, 1)
        db.execute("INSERT INTO change (sequence, ref, kind) VALUES (?, ?, ?)", (sequence, ref, kind))

    def collection(self, db: Database, name: str) -> Collection | None:
        known = self._collections.get(name)
        if known is None:
            row = db.execute(_COLLECTION, (name,)).fetchone()
            if row is not None:
                known = self._remember(name, row[0], bool(row[1]), bool(row[2]), _next_ref(db, row[0], row[3]))
        return known

    def opened(self, db: Database, name: str, append_only: bool, searchable: bool) -> Collection:
        """The collection to put into, made now if need be."""
        known = self.collection(db, name)
        if known is None:
            sql = "INSERT INTO collection (name, append_only, searchable) VALUES (?, ?, ?)"
            db.execute(sql, (name, append_only, searchable))
            key = db.last_insert_rowid()
            return self._remember(name, key, append_only, searchable, first_ref(key) + 1)
        if known.append_only != append_only:
            policy = "append-only" if known.append_only else "editable"
            raise InvalidInputError("append_only", f"the collection {name!r} is {policy}")
        if known.searchable != searchable:
            policy = "searchable" if known.searchable else "unsearchable"
            raise InvalidInputError("searchable", f"the collection {name!r} is {policy}")
        return known

    def group(self, db: Database, collection: Collection, name: str) -> int | None:
        known = self._groups.get((collection.key, name))
        if known is None:
            sql = "SELECT key FROM grp WHERE collection = ? AND name = ?"
            known = db.execute(sql, (collection.key, name)).get
            if known is not None:
                self._remember_group(collection.key, name, known)
        return known

    def opened_group(self, db: Database, collection: Collection, name: str) -> int:
        known = self.group(db, collection, name)
        if known is None:
            db.execute("INSERT INTO grp (collection, name) VALUES (?, ?)", (collection.key, name))
            known = db.last_insert_rowid()
            self._remember_group(collection.key, name, known)
        return known

    def label(self, db: Database, name: str) -> int | None:
        known = self._labels.get(name)
        if known is None:
            known = db.execute("SELECT key FROM label WHERE name = ?", (name,)).get
            if known is not None:
                self._remember_label(name, known)
        return known

    def opened_label(self, db: Database, name: str) -> int:
        known = self.label(db, name)
        if known is None:
            db.execute("INSERT INTO label (name) VALUES (?)", (name,))
            known = db.last_insert_rowid()
            self._remember_label(name, known)
        return known

    def _remember(self, name: str, key: int, append_only: bool, searchable: bool, next_ref: int) -> Collection:
        if len(self._collections) >= _MOST_CACHED:
            self._collections.clear()
        made = self._collections[name] = Collection(key, append_only, searchable, next_ref)
        return made

    def _remember_group(self, collection_key: int, name: str, key: int) -> None:
        if len(self._groups) >= _MOST_CACHED:
            self._groups.clear()
        self._groups[collection_key, name] = key

    def _remember_label(self, name: str, key: int) -> None:
        if len(self._labels) >= _MOST_CACHED:
            self._labels.clear()
        self._labels[name] = key


def keep_count(db: Database, refs: list[int]) -> None:
    """Before these records leave: note how far their collections have counted."""
    highest: dict[int, int] = {}
    for ref in refs:
        key = ref >> 40
        highest[key] = max(highest.get(key, 0), ref)
    for key, ref in highest.items():
        db.execute("UPDATE collection SET floor = max(floor, ?) WHERE key = ?", (ref, key))


def _next_ref(db: Database, key: int, floor: int) -> int:
    sql = "SELECT max(ref) FROM record WHERE ref >= ? AND ref < ?"
    highest = db.execute(sql, (first_ref(key), first_ref(key + 1))).get
    return max(highest or first_ref(key), floor) + 1
