"""The tables, and the rules the database itself enforces.

A record's `ref` is its collection's key in the high bits and a running number in the low 40: a collection is one range
of every table keyed by ref. A `grp` belongs to one collection, so (id, grp) is a record's whole address. Vectors live
in one table per embedding space, `vector_<key>`, their token rows in `token_<key>` if the space keeps any; `edits`
counts what happens to vectors beside being appended. The change log tells puts into unsearchable collections apart, so
that what lacks a vector is known from the log alone.

Law: rows of an append-only collection cannot be updated, nor deleted outside the erase path, whoever asks.
"""

from __future__ import annotations

from libravdb_memory.store.sqlite.lexical import TOKENIZER

REF_BITS = 40
PUT, REMOVE, ERASE, PUT_UNSEARCHABLE = 1, 2, 3, 4

_TOKENIZE = " ".join(f"''{word}''" for word in TOKENIZER)

VERSION_1 = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE collection (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    append_only INTEGER NOT NULL,
    searchable INTEGER NOT NULL DEFAULT 1,
    floor INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE grp (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    collection INTEGER NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (collection, name)
) STRICT;

CREATE TABLE record (
    ref INTEGER PRIMARY KEY,
    grp INTEGER NOT NULL,
    id TEXT NOT NULL,
    ts INTEGER NOT NULL,
    version INTEGER NOT NULL,
    hash TEXT NOT NULL,
    metadata TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX record_address ON record (id, grp);
CREATE INDEX record_grp ON record (grp);

CREATE TABLE change (sequence INTEGER PRIMARY KEY, ref INTEGER NOT NULL, kind INTEGER NOT NULL) STRICT;

CREATE TABLE edge (parent INTEGER NOT NULL, child INTEGER NOT NULL, PRIMARY KEY (parent, child)) STRICT, WITHOUT ROWID;
CREATE INDEX edge_child ON edge (child, parent);

CREATE TABLE label (key INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE mark (
    label INTEGER NOT NULL,
    ref INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (label, ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX mark_ref ON mark (ref);

CREATE TABLE space (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    active INTEGER NOT NULL,
    watermark INTEGER NOT NULL
) STRICT;

CREATE TRIGGER record_raw_is_never_edited BEFORE UPDATE ON record
WHEN (SELECT append_only FROM collection WHERE key = old.ref >> {REF_BITS})
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER record_raw_is_only_erased BEFORE DELETE ON record
WHEN (SELECT append_only FROM collection WHERE key = old.ref >> {REF_BITS}) AND NOT libravdb_erasing()
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER record_keeps_its_address BEFORE UPDATE OF ref, grp, id ON record
WHEN new.ref <> old.ref OR new.grp <> old.grp OR new.id <> old.id
BEGIN SELECT RAISE(ABORT, 'a record keeps its address'); END;

CREATE TRIGGER collection_keeps_its_policy BEFORE UPDATE OF key, append_only, searchable ON collection
WHEN new.key <> old.key OR new.append_only <> old.append_only OR new.searchable <> old.searchable
BEGIN SELECT RAISE(ABORT, 'a collection keeps its policy'); END;

CREATE TRIGGER collection_goes_when_empty BEFORE DELETE ON collection
WHEN EXISTS (SELECT 1 FROM record WHERE ref >= old.key << {REF_BITS} AND ref < (old.key + 1) << {REF_BITS})
BEGIN SELECT RAISE(ABORT, 'a collection with records stays'); END;

CREATE VIEW searchable AS
SELECT ref, libravdb_searchable(text) AS body FROM record
WHERE (SELECT c.searchable FROM collection c WHERE c.key = ref >> {REF_BITS});

CREATE VIRTUAL TABLE fts USING fts5(
    body, content = 'searchable', content_rowid = 'ref', tokenize = '{_TOKENIZE}'
);
INSERT INTO fts (fts, rank) VALUES ('secure-delete', 1);
"""  # noqa: S608

VERSION_2 = """
ALTER TABLE space ADD COLUMN tokens TEXT NOT NULL DEFAULT '';
ALTER TABLE space ADD COLUMN token_watermark INTEGER NOT NULL DEFAULT 0;
"""

VERSION_3 = """
CREATE TABLE edits (
    space INTEGER NOT NULL,
    collection INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (space, collection)
) STRICT, WITHOUT ROWID;
"""

VERSION_4 = """
INSERT INTO fts (fts, rank) VALUES ('automerge', 0);
"""


def count_edits(space_key: int) -> str:
    """Count, for each collection, every change of a space's vectors but those that append one: an index that knows the
    count needs to look for appended ones only. The database itself counts, so that no writer can forget it."""
    table = vector_table(space_key)
    count = (
        f"INSERT INTO edits (space, collection, number) VALUES ({space_key:d}, {{row}}.ref >> {REF_BITS}, 1) "  # noqa: S608
        "ON CONFLICT (space, collection) DO UPDATE SET number = number + 1;"
    )
    after = f"ref > new.ref AND ref < (new.ref >> {REF_BITS}) + 1 << {REF_BITS}"
    return f"""
CREATE TRIGGER {table}_inserted AFTER INSERT ON {table} WHEN EXISTS (SELECT 1 FROM {table} WHERE {after})
BEGIN {count.format(row="new")} END;
CREATE TRIGGER {table}_updated AFTER UPDATE ON {table} BEGIN {count.format(row="new")} END;
CREATE TRIGGER {table}_deleted AFTER DELETE ON {table} BEGIN {count.format(row="old")} END;
"""  # noqa: S608


def vector_table(space_key: int) -> str:
    return f"vector_{space_key:d}"


def token_table(space_key: int) -> str:
    return f"token_{space_key:d}"


def first_ref(collection_key: int) -> int:
    return collection_key << REF_BITS
