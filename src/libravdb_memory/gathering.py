"""The candidates for a question: who is looked at closely, and everything the store knows of them.

Path: what the searches by wording and by meaning found, narrowed by a first score to the most promising, joined by
their neighbours in the conversation (an answer often has none of the words of its question), with their tokens and
cosines. Law: a candidate passes the filter of its source; a neighbour that might not is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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

_ANCHORS = 96
_LATER, _EARLIER = 2, 1
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
    """What a search by wording found: scores, sources and places by ref; and for refs that hold identifiers of the
    question letter by letter, the share of them."""

    scores: Mapping[int, float]
    origin: Mapping[int, Source]
    exact: Mapping[int, float]
    places: Mapping[int, Place]


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
    return Worded(scores, origin, exact, store.places(list(scores)))


def gather(store: Store, space: Space | None, question: Question, worded: Worded, meant: Meant) -> Gathered:
    found = {**worded.origin, **meant.origin}
    places = dict(worded.places) | store.places([ref for ref in meant.scores if ref not in worded.places])
    found = {ref: found[ref] for ref in sorted(places, reverse=True)}
    anchors = _most_promising(question, worded, meant, found, places)
    origin = _with_neighbours(store, anchors, found, places)
    refs = sorted(origin, reverse=True)
    cosines = _cosines(store, meant, origin, refs)
    pool = _pool(refs, places)
    return Gathered(refs, origin, pool, _signals(store, space, worded, meant.tokens, cosines, refs))


def _phrases(question: Question) -> tuple[tuple[str, ...], ...]:
    """Names of participants are in every greeting: they say who spoke, not what about."""
    names = {word for person in question.named for word in person.split()}
    phrases = phrases_of(question.text)
    return tuple(phrase for phrase in phrases if not set(phrase) <= names | {"s"}) or phrases


def _literally(store: Store, question: Question, source: Source) -> dict[int, float]:
    """The records that hold identifiers as they are written; rarer ones count for more."""
    import math

    shares: dict[int, float] = {}
    total = 0.0
    for identifier in question.identifiers:
        query = TextQuery(phrases_of(identifier)[:1])
        records = store.fetch(
            [hit.ref for hit in store.search_text(source.collection, query, _LITERAL, where=source.where)]
        )
        holding = [ref for ref, record in records.items() if mentions_exactly(record.text.lower(), identifier)]
        if holding:
            weight = math.log1p(_LITERAL / len(holding))
            total += weight
            for ref in holding:
                shares[ref] = shares.get(ref, 0.0) + weight
    return {ref: share / total for ref, share in shares.items()}


def _most_promising(
    question: Question, worded: Worded, meant: Meant, found: Mapping[int, Source], places: Mapping[int, Place]
) -> list[int]:
    refs = list(found)
    if len(refs) <= _ANCHORS:
        return refs
    import numpy as np

    from libravdb_memory.retrieve import weigh

    wording = np.array([worded.scores.get(ref, 0.0) for ref in refs])
    low = min(meant.scores.values(), default=0.0)
    cosine = np.array([meant.scores.get(ref, low) for ref in refs])
    exact = np.array([worded.exact.get(ref, 0.0) for ref in refs])
    scores = weigh.first_pass(_pool(refs, places), wording, cosine, exact, question)
    best = np.argsort(-scores, kind="stable")[:_ANCHORS]
    return [refs[row] for row in best.tolist()]


def _with_neighbours(
    store: Store, anchors: Iterable[int], found: Mapping[int, Source], places: dict[int, Place]
) -> dict[int, Source]:
    """The anchors and those around them, whose places are added to `places`."""
    origin = {ref: found[ref] for ref in anchors}
    earlier = later = {ref: source for ref, source in origin.items() if _lets_neighbours_in(source.where)}
    for step in range(max(_LATER, _EARLIER)):
        later = _next(later, places, "after") if step < _LATER else {}
        earlier = _next(earlier, places, "before") if step < _EARLIER else {}
        joined = later | earlier
        places.update(store.places([ref for ref in joined if ref not in places]))
        origin = joined | origin
    return {ref: source for ref, source in origin.items() if ref in places}


def _next(those: Mapping[int, Source], places: Mapping[int, Place], side: str) -> dict[int, Source]:
    steps = ((getattr(places[ref], side), source) for ref, source in those.items() if ref in places)
    return {ref: source for ref, source in steps if ref is not None}


def _lets_neighbours_in(where: Filter | None) -> bool:
    return where is None or (isinstance(where, Equals) and where.field == "group")


def _cosines(store: Store, meant: Meant, origin: Mapping[int, Source], refs: Sequence[int]) -> Mapping[int, float]:
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
    row = {ref: number for number, ref in enumerate(refs)}
    groups: dict[int, int] = {}
    count = len(here)
    return Pool(
        before=np.fromiter((row.get(place.before, -1) for place in here), np.intp, count),  # type: ignore[arg-type]
        after=np.fromiter((row.get(place.after, -1) for place in here), np.intp, count),  # type: ignore[arg-type]
        group=np.fromiter((groups.setdefault(place.group, len(groups)) for place in here), np.intp, count),
        ts=np.fromiter((place.ts for place in here), np.int64, count),
        words=np.fromiter((place.length for place in here), np.float64, count) / _CHARACTERS_PER_WORD,
        asks=np.fromiter((place.asks for place in here), np.bool_, count),
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

    def column(values: Mapping[int, float]) -> Floats:
        return np.fromiter((values.get(ref, 0.0) for ref in refs), np.float64, len(refs))

    kept = store.get_tokens(space, refs) if space is not None and question is not None else {}
    tokens = late.Tokens.of([kept.get(ref, b"") for ref in refs], TOKEN_DIMENSIONS)
    asked = question or TokenRows(np.empty(0, np.uint16), np.empty((0, TOKEN_DIMENSIONS), np.int8))
    match, count = late.interact(asked.ids, asked.rows, tokens)
    return Signals(column(worded.scores), column(cosines), column(worded.exact), match, count, tokens.lengths)
