"""Whether the text index holds what the records say.

FTS5 can tell itself, but only to who may write, and nobody else may write meanwhile: a second for 40,000 turns. What
it finds is found here by reading one moment of the store: every word of the index with its record and its place, summed
up, must come to the same as every word of the records. How the index is built is looked at with the pages of the store.
"""

from __future__ import annotations

from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.fulltext import numbers, tokenized

_LONGEST_WORD = 32_768
"""Bytes of a word that FTS5 keeps."""
_INDEXED = "SELECT doc, offset, ifnull(CAST(term AS BLOB), x'') FROM instance"
"""A lone accent is a word without letters."""
_SAID = "SELECT s.ref, s.body, d.sz FROM searchable s LEFT JOIN fts_docsize d ON d.id = s.ref"


def difference(db: Database) -> str | None:
    """The first that is found. The connection must remember nothing of the index."""
    db.execute("CREATE VIRTUAL TABLE temp.instance USING fts5vocab(main, fts, instance)")
    with db:
        return _difference(db)


def _difference(db: Database) -> str | None:
    said = documents = words = 0
    for ref, body, size in db.execute(_SAID):
        length = 0
        for part in tokenized(db, body):
            for word in part:
                said ^= hash((ref, length, word.encode()[:_LONGEST_WORD]))
                length += 1
        if size is None or numbers(size) != [length]:
            return f"record {ref} has {length} words, and others there"
        documents += 1
        words += length
    if db.execute("SELECT count(*) FROM fts_docsize").get != documents:
        return "there are records in it that are gone"
    counted = numbers(db.execute("SELECT block FROM fts_data WHERE id = 1").get or b"")
    if (counted or [0, 0]) != [documents, words]:  # nothing is written down before the first record
        return "its count of records or words is wrong"
    indexed = 0
    for instance in db.execute(_INDEXED):
        indexed ^= hash(instance)
    return None if indexed == said else "its words are not those of the records"
