"""The candidates for a question: who is looked at closely, and everything the store knows of them.

Path: what the searches by wording and by meaning found, narrowed by a first score to the most promising, joined by
their neighbours in the conversation (an answer often has none of the words of its question), with their tokens and
cosines. Law: a candidate passes the filter of its source; a neighbour that might not is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from libravdb_memory.engines.protocol import TOKEN_DIMENSIONS, TokenRows
from libravdb_memory.retrieve.query import phrases_of
from libravdb_memory.retrieve.question import Question, mentions_exactly
from libravdb_memory.retrieve.rank import ScopeName
from libravdb_memory.store.protocol import Equals, Filter, Place, Space, Store, TextQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from libravdb_memory.retrieve.weigh import Floats, Pool, Signals

_ANCHORS = 64
_LATER = 1
_LITERAL = 50
_CHARACTERS_PER_WORD = 5.6


@dataclass(frozen=True, slots=True)
class Source:
    """A place to search. `name` is what a prompt calls it; `scope` is its kind for the ranking laws."""

    collection: str
    name: str
    scope: ScopeName
    where: Filter | None = None


@dataclass(frozen=True, slots=True)
class Worded:
    """What a search by wording found: scores and sources by ref; and for refs that hold identifiers of the question
    letter by letter, the share of them."""

    scores: Mapping[int, float]
    origin: Mapping[int, Source]
    exact: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Meant:
    """What a search by meaning found. `tokens` are those of the question, None when there are none to compare with."""

    scores: Mapping[int, float]
    origin: Mapping[int, Source]
    vector: NDArray[np.float32] | None
    tokens: TokenRows | None


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """Candidates by row, with their source and all evidence."""

    refs: Sequence[int]
    origin: Mapping[int, Source]
    pool: Pool
    signals: Signals


def by_wording(store: Store, question: Question, sources: Sequence[Source], width: int) -> Worded:
    query = TextQuery(_phrases(question))
    scores: dict[int, float] = {}
    origin: dict[int, Source] = {}
    exact: dict[int, float] = {}
    for source in sources:
        found = store.search_text(source.collection, query, width, where=source.where)
        scores.update((hit.ref, hit.score) for hit in found)
        origin.update((hit.ref, source) for hit in found)
        for ref, share in _literally(store, question, source).items():
            exact[ref] = share
            scores.setdefault(ref, 0.0)
            origin[ref] = source
    return Worded(scores, origin, exact)


def gather(
    store: Store, space: Space | None, question: Question, worded: Worded, meant: Meant, least: int = 0
) -> Gathered:
    """At least so many candidates, where the searches found them."""
    found = {**worded.origin, **meant.origin}
    places = store.places(list(found))
    anchors = [ref for ref in sorted(found, reverse=True) if ref in places]
    most = max(_ANCHORS, least)
    if len(anchors) > most:
        anchors = _most_promising(anchors, places, question, worded, meant)[:most]
    origin = _with_neighbours(store, anchors, found, places)
    refs = sorted(origin, reverse=True)
    cosines = _cosines(store, meant, refs, origin)
    signals = _signals(store, space, worded, meant.tokens, cosines, refs)
    return Gathered(refs, origin, _pool(refs, places), signals)


def _phrases(question: Question) -> tuple[tuple[str, ...], ...]:
    """Names of participants are in every greeting: they say who spoke, not what about."""
    names = {word for person in question.named for word in person.split()}
    phrases = phrases_of(question.text)
    return tuple(phrase for phrase in phrases if not set(phrase) <= names | {"s"}) or phrases


def _literally(store: Store, question: Question, source: Source) -> dict[int, float]:
    """The records that hold identifiers as they are written; rarer ones count for more."""
    shares: dict[int, float] = {}
    total = 0.0
    for identifier in question.identifiers:
        query = TextQuery(phrases_of(identifier)[:1])
        found = store.search_text(source.collection, query, _LITERAL, where=source.where)
        records = store.fetch([hit.ref for hit in found])
        holding = [ref for ref, record in records.items() if mentions_exactly(record.text.lower(), identifier)]
        weight = math.log1p(_LITERAL / len(holding)) if holding else 0.0
        total += weight
        for ref in holding:
            shares[ref] = shares.get(ref, 0.0) + weight
    return {ref: share / total for ref, share in shares.items()}


def _most_promising(
    refs: Sequence[int], places: Mapping[int, Place], question: Question, worded: Worded, meant: Meant
) -> list[int]:
    import numpy as np

    from libravdb_memory.retrieve import weigh

    wording = _column(worded.scores, refs, 0.0)
    cosine = _column(meant.scores, refs, min(meant.scores.values(), default=0.0))
    scores = weigh.first_pass(_pool(refs, places), wording, cosine, _column(worded.exact, refs, 0.0), question)
    return [refs[row] for row in np.argsort(-scores, kind="stable").tolist()]


def _with_neighbours(
    store: Store, anchors: Sequence[int], found: Mapping[int, Source], places: dict[int, Place]
) -> dict[int, Source]:
    """The anchors, the turn before each and the next ones after it; their places are added to `places`."""
    origin = {ref: found[ref] for ref in anchors}
    reached = {ref: source for ref, source in origin.items() if _lets_neighbours_in(source.where)}
    around = {before: source for ref, source in reached.items() if (before := places[ref].before) is not None}
    for _ in range(_LATER):
        reached = {after: source for ref, source in reached.items() if (after := places[ref].after) is not None}
        around |= reached
        places.update(store.places([ref for ref in around if ref not in places]))
        reached = {ref: source for ref, source in reached.items() if ref in places}
    return {**{ref: source for ref, source in around.items() if ref in places}, **origin}


def _lets_neighbours_in(where: Filter | None) -> bool:
    return where is None or (isinstance(where, Equals) and where.field == "group")


def _cosines(store: Store, meant: Meant, refs: Sequence[int], origin: Mapping[int, Source]) -> Mapping[int, float]:
    if meant.vector is None:
        return {}
    unknown: dict[str, list[int]] = {}
    for ref in refs:
        if ref not in meant.scores:
            unknown.setdefault(origin[ref].collection, []).append(ref)
    cosines = dict(meant.scores)
    for collection, those in unknown.items():
        cosines.update(store.similarities(collection, meant.vector, those))
    return cosines


def _pool(refs: Sequence[int], places: Mapping[int, Place]) -> Pool:
    import numpy as np

    from libravdb_memory.retrieve.weigh import Pool

    here = [places[ref] for ref in refs]
    rows: dict[int | None, int] = {ref: row for row, ref in enumerate(refs)}
    return Pool(
        before=np.array([rows.get(place.before, -1) for place in here], np.intp),
        after=np.array([rows.get(place.after, -1) for place in here], np.intp),
        group=np.unique(np.array([place.group for place in here], np.int64), return_inverse=True)[1],
        ts=np.array([place.ts for place in here], np.int64),
        words=np.array([place.length for place in here], np.float64) / _CHARACTERS_PER_WORD,
        asks=np.array([place.asks for place in here], np.bool_),
        roles=[place.role for place in here],
        speakers=[place.speaker for place in here],
    )


def _signals(
    store: Store,
    space: Space | None,
    worded: Worded,
    question: TokenRows | None,
    cosines: Mapping[int, float],
    refs: Sequence[int],
) -> Signals:
    import numpy as np

    from libravdb_memory.retrieve import late
    from libravdb_memory.retrieve.weigh import Signals

    kept = store.get_tokens(space, refs) if space is not None and question is not None else {}
    tokens = late.Tokens.of([kept.get(ref, b"") for ref in refs], TOKEN_DIMENSIONS)
    asked = question or TokenRows(np.empty(0, np.uint16), np.empty((0, TOKEN_DIMENSIONS), np.int8))
    match, count = late.interact(asked.ids, asked.rows, tokens)
    return Signals(
        wording=_column(worded.scores, refs, 0.0),
        cosine=_column(cosines, refs, 0.0),
        identifiers=_column(worded.exact, refs, 0.0),
        match=match,
        count=count,
        lengths=tokens.lengths,
        embedded=np.array([ref in cosines for ref in refs], np.bool_),
        read=np.array([ref in kept for ref in refs], np.bool_),
    )


def _column(values: Mapping[int, float], refs: Sequence[int], absent: float) -> Floats:
    import numpy as np

    return np.array([values.get(ref, absent) for ref in refs], np.float64)
