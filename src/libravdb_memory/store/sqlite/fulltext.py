"""Text search: BM25 over FTS5, inside one collection.

Laws: the collection is a range of rowids and filters are part of the SQL, so k hits come back when k match. Words in
too many records to tell anything are left out while another word is left.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager

import apsw

from libravdb_memory.store.protocol import Filter, Found, TextQuery
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.filters import Condition, condition_of
from libravdb_memory.store.sqlite.lexical import TOKENIZER, alternatives, parts, quoted, searchable
from libravdb_memory.store.sqlite.marks import LABEL
from libravdb_memory.store.sqlite.schema import first_ref

_COMMON_SHARE, _COMMON_MANY, _COMMON_SHARE_OF_MANY = 0.10, 500, 0.02
_COMMON_LEAST = 100  # below this many records a word costs nothing to look up and may still tell them apart
_MOST_PHRASES = 512
_MOST_REMEMBERED = 10_000
_PAGES_MERGED = 8
_WORDS_WRITTEN_ANEW = 200
"""So many of an index can be written anew in the time in which one is overwritten where it lies."""

_SEARCH = (
    "SELECT fts.rowid, -bm25(fts) AS score FROM fts "
    "WHERE fts MATCH ? AND fts.rowid >= ? AND fts.rowid < ? ORDER BY score DESC, fts.rowid LIMIT ?"
)
# The order of a CROSS JOIN is kept: words first, then the marks, then the records that have them.
_SEARCH_FILTERED = (
    "SELECT fts.rowid, -bm25(fts) AS score FROM fts {joined} "
    "WHERE fts MATCH ? AND fts.rowid >= ? AND fts.rowid < ? AND ({condition}) ORDER BY score DESC, fts.rowid LIMIT ?"
)


class Vocabulary:
    """How many records have a word. Counting is as dear as the word is common, so that of common words is remembered
    until the store has grown or shrunk by a quarter."""

    def __init__(self) -> None:
        self._common: dict[str, tuple[int, int]] = {}
        self._last: tuple[TextQuery, int, list[str]] | None = None

    def telling_phrases(self, db: Database, query: TextQuery) -> list[str]:
        """The phrases worth asking for, rarest first. One question goes to several collections, one after the other."""
        sequence = int(db.execute("SELECT coalesce(max(sequence), 0) FROM change").get)
        last = self._last
        if last is not None and last[0] == query and last[1] == sequence:
            return last[2]
        documents = int(db.execute("SELECT count(*) FROM fts_docsize").get)
        phrases = _telling_phrases(db, self, query, documents)
        self._last = (query, sequence, phrases)
        return phrases

    def frequency(self, db: Database, word: str, documents: int) -> int:
        count, when = self._common.get(word, (0, 0))
        if when and 3 * documents < 4 * when < 5 * documents:
            return count
        _open_vocabulary(db)
        count = int(db.execute("SELECT doc FROM vocabulary WHERE term = ?", (word,)).get or 0)
        if count > _COMMON_LEAST:
            if len(self._common) >= _MOST_REMEMBERED:
                self._common.clear()
            self._common[word] = (count, documents)
        return count


def search_text(
    db: Database, vocabulary: Vocabulary, collection_key: int, query: TextQuery, k: int, where: Filter | None
) -> tuple[Found, ...]:
    condition = condition_of(where, collection_key)
    phrases = vocabulary.telling_phrases(db, query)
    if not phrases or k == 0:
        return ()
    sql = _SEARCH if where is None else _SEARCH_FILTERED.format(joined=_joined(condition), condition=condition.sql)
    label = () if condition.label is None else (condition.label,)
    match = " OR ".join(map(quoted, phrases))
    bounds = (first_ref(collection_key), first_ref(collection_key + 1))
    rows = db.execute(sql, (*label, match, *bounds, *condition.values, k))
    return tuple(Found(ref, score) for ref, score in rows)


def _joined(condition: Condition) -> str:
    marks = f"CROSS JOIN mark m ON m.label = {LABEL} AND m.ref = fts.rowid " if condition.label is not None else ""
    return marks + ("CROSS JOIN record r ON r.ref = fts.rowid" if condition.looks_at_records else "")


def merge_some(db: Database) -> bool:
    """Merge a few pages of pieces of the index, if four or more are of a size; whether there may be more to do."""
    before = db.total_changes()
    db.execute("INSERT INTO fts (fts, rank) VALUES ('merge', ?)", (_PAGES_MERGED,))
    return db.total_changes() - before > 1  # the statement itself counts


@contextmanager
def taking_out(db: Database, refs: Sequence[int]) -> Generator[None]:
    """While these are taken out, whichever way holds the writer for less. FTS5 overwrites every entry where it lies,
    and writes the page of each word anew for it; or it notes what is gone, and the whole index is written anew
    afterwards, without that. Neither leaves anything."""
    if not _is_written_anew_sooner(db, refs):
        yield
        return
    db.execute("INSERT INTO fts (fts, rank) VALUES ('secure-delete', 0)")
    yield
    db.execute("INSERT INTO fts (fts) VALUES ('optimize')")
    db.execute("INSERT INTO fts (fts, rank) VALUES ('secure-delete', 1)")


def _is_written_anew_sooner(db: Database, refs: Sequence[int]) -> bool:
    sizes = (db.execute("SELECT sz FROM fts_docsize WHERE id = ?", (ref,)).get for ref in refs)
    words = sum(numbers(size)[0] for size in sizes if size is not None)
    averages = numbers(db.execute("SELECT block FROM fts_data WHERE id = 1").get or b"")
    return words * _WORDS_WRITTEN_ANEW > sum(averages[1:])


def numbers(block: bytes) -> list[int]:
    """As FTS5 writes them down: seven bits a byte, the greatest first."""
    numbers, number = list[int](), 0
    for byte in block:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(number)
            number = 0
    return numbers


def forget_words(db: Database, texts: Iterable[str]) -> None:
    """After these were taken out: FTS5 tells the pages of its index apart by words, whole or their beginnings, which
    stay when the last record that has them goes. Where none has them any more, the next word there is tells the page
    apart just as well: what lay between the two is gone."""
    gone = sorted({word.encode() for text in texts for word in _words_of(db, text)})
    if not gone:
        return
    _open_vocabulary(db)
    db.execute("SELECT term FROM vocabulary LIMIT 1").fetchall()  # what was taken out is written before it is read
    for segment, term in db.execute("SELECT segid, term FROM fts_idx").fetchall():
        word = bytes(term)[1:]  # behind the number of the index
        place = bisect_left(gone, word)
        if not word or place == len(gone) or not gone[place].startswith(word):
            continue
        following = _first_from(db, word)
        if following is None or not following.startswith(word):
            _tell_apart_by(db, segment, bytes(term), following)


def _words_of(db: Database, text: str) -> set[str]:
    return {word for part in tokenized(db, searchable(text)) for word in part}


def tokenized(db: Database, body: str) -> Iterator[list[str]]:
    """The words of what `searchable` answers, in order, some at a time."""
    tokenizer, how = db.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:])), apsw.FTS5_TOKENIZE_DOCUMENT
    for part in parts(body):
        yield tokenizer(part.encode(), how, None, include_offsets=False, include_colocated=False)


def _first_from(db: Database, word: bytes) -> bytes | None:
    """The first word in the index that is not before this one, which may end in the middle of a character."""
    begins = word.decode(errors="ignore")
    words = (str(term).encode() for (term,) in db.execute("SELECT term FROM vocabulary WHERE term >= ?", (begins,)))
    return next((found for found in words if found >= word), None)


def _tell_apart_by(db: Database, segment: int, term: bytes, following: bytes | None) -> None:
    """A page that has no word left is not looked for."""
    instead = None if following is None else term[:1] + following
    beside = "SELECT 1 FROM fts_idx WHERE segid = ? AND term > ? AND term <= ?"
    if instead is None or db.execute(beside, (segment, term, instead)).get is not None:
        db.execute("DELETE FROM fts_idx WHERE segid = ? AND term = ?", (segment, term))
    else:
        db.execute("UPDATE fts_idx SET term = ? WHERE segid = ? AND term = ?", (instead, segment, term))


def _open_vocabulary(db: Database) -> None:
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, fts, row)")


def rebuild(db: Database) -> None:
    db.execute("INSERT INTO fts (fts) VALUES ('rebuild')")
    db.execute("REINDEX")


def _telling_phrases(db: Database, vocabulary: Vocabulary, query: TextQuery, documents: int) -> list[str]:
    """Rarest first; the rarest of all when every one is common."""
    frequency: dict[str, int] = {}
    for wanted in query.phrases:
        for phrase in alternatives(wanted):
            if phrase not in frequency and (words := _tokens(db, phrase)):
                frequency[phrase] = min(vocabulary.frequency(db, word, documents) for word in words)
    limit = common_from(documents)
    known = sorted((phrase for phrase, count in frequency.items() if count), key=frequency.__getitem__)
    return [phrase for phrase in known if frequency[phrase] <= limit][:_MOST_PHRASES] or known[:1]


def common_from(documents: int) -> float:
    """Words in more records than this are common. A search costs as much as its words are common, so that the share
    falls as the store grows; by then every question has rarer words, or its meaning."""
    return max(_COMMON_LEAST, min(_COMMON_SHARE * documents, max(_COMMON_MANY, _COMMON_SHARE_OF_MANY * documents)))


def _tokens(db: Database, phrase: str) -> list[str]:
    tokenizer = db.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
    text = phrase.encode(errors="replace")
    return tokenizer(text, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False)
