"""Text search: BM25 over FTS5, inside one collection.

Laws: filters and the collection are part of the SQL, so k hits come back when k match. Words in too many records to
tell anything are left out while another word is left.
"""

from __future__ import annotations

import apsw

from libravdb_memory.store.protocol import Filter, Found, TextQuery
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.filters import condition_of
from libravdb_memory.store.sqlite.lexical import TOKENIZER, alternatives, quoted

_COMMON_SHARE = 0.10
_COMMON_LEAST = 100  # below this many records a word costs nothing to look up and may still tell them apart
_MOST_PHRASES = 512


def search_text(db: Database, collection_key: int, query: TextQuery, k: int, where: Filter | None) -> tuple[Found, ...]:
    phrases = _telling_phrases(db, query)
    if not phrases or k == 0:
        return ()
    match = f'scope : "c{collection_key}" AND body : ({" OR ".join(map(quoted, phrases))})'
    condition = condition_of(where, collection_key)
    rows = db.execute(
        "SELECT rowid, -bm25(fts, 0.0, 1.0) AS score FROM fts WHERE fts MATCH ? "  # noqa: S608
        + ("" if where is None else f"AND rowid IN (SELECT r.ref FROM record r WHERE {condition.sql}) ")  # noqa: S608
        + "ORDER BY score DESC, rowid LIMIT ?",
        (match, *condition.values, k),
    )
    return tuple(Found(ref, score) for ref, score in rows)


def rebuild(db: Database) -> None:
    db.execute("INSERT INTO fts (fts) VALUES ('rebuild')")
    db.execute("REINDEX")


def _telling_phrases(db: Database, query: TextQuery) -> list[str]:
    """The phrases worth asking for, the rarest first when there are too many."""
    frequency: dict[str, int] = {}
    seen: dict[str, int] = {}
    for wanted in query.phrases:
        for phrase in alternatives(wanted):
            if phrase not in frequency and (words := _tokens(db, phrase)):
                frequency[phrase] = min(_frequency(db, word, seen) for word in words)
    limit = max(_COMMON_LEAST, _COMMON_SHARE * _documents(db))
    telling = [phrase for phrase, count in frequency.items() if 0 < count <= limit]
    kept = telling or [phrase for phrase, count in frequency.items() if count]
    return sorted(kept, key=frequency.__getitem__)[:_MOST_PHRASES] if len(kept) > _MOST_PHRASES else kept


def _tokens(db: Database, phrase: str) -> list[str]:
    tokenizer = db.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
    text = phrase.encode(errors="replace")
    return tokenizer(text, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False)


def _frequency(db: Database, word: str, seen: dict[str, int]) -> int:
    """In how many records of the whole store the word is."""
    if word not in seen:
        db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, fts, col)")
        seen[word] = db.execute("SELECT doc FROM vocabulary WHERE term = ? AND col = 'body'", (word,)).get or 0
    return seen[word]


def _documents(db: Database) -> int:
    return int(db.execute("SELECT count(*) FROM record").get)
