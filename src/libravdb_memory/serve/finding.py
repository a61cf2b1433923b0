"""Searching a public collection by meaning.

Laws: a score is the cosine of question and record. A record is found from the moment it is stored: one that has no
vector yet is compared by one made on the spot, and where no model answers, by the share of the question's words that it
holds. Ties are broken by collection and id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from libravdb_memory.errors import EngineError
from libravdb_memory.model import Record
from libravdb_memory.retrieve.query import keyword_share, phrases_of
from libravdb_memory.retrieve.question import what_counts
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.showing import Item
from libravdb_memory.serve.views import Source, View, view_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Space, Store, TextQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_NEWEST = 256
"""Records without a vector are looked for among so many of the newest, and so many that have words of the question."""
_AT_ONCE = 64
"""So many of them are embedded for a question; the others are compared by their words."""


@dataclass(frozen=True, slots=True)
class Scored:
    score: float
    item: Item


def search(service: Service, name: str, text: str, k: int, excluded: Collection[str] = ()) -> list[Scored]:
    """The best of one collection; all of it without a limit (k is zero or less)."""
    return search_all(service, (name,), text, k if k > 0 else -1, {name.strip(): excluded})


def search_all(
    service: Service, names: Iterable[str], text: str, k: int, excluded: Mapping[str, Collection[str]]
) -> list[Scored]:
    """The best of several collections together; no limit if k is negative."""
    views = [view_of(service.store, name, service.within) for name in dict.fromkeys(names)]
    if not text.strip() or not any(view.sources for view in views):
        return []
    question = _Question(service, text)
    found: list[Scored] = []
    for view in views:
        without = set(excluded.get(view.name, ()))
        found += [scored for scored in question.answers(view, k, without) if scored.item.id not in without]
    found.sort(key=lambda scored: (-scored.score, scored.item.collection, scored.item.id))
    return found if k < 0 else found[:k]


class _Question:
    """A question, embedded once."""

    def __init__(self, service: Service, text: str) -> None:
        self._store = service.store
        self._embedder = service.memory.embedder
        self._text = what_counts(text)
        self._space = _searched_space(service)
        self._vector = self._embedded()

    def answers(self, view: View, k: int, excluded: Collection[str]) -> Iterable[Scored]:
        most = -1 if k < 0 else k + len(excluded)
        for source in view.sources:
            scores = self._scores(source, most)
            ranked = sorted(scores.items(), key=lambda found: (-found[1], found[0]))
            records = self._store.fetch([ref for ref, _ in (ranked if most < 0 else ranked[:most])])
            for item in source.show(self._store, list(records.values())):
                if item.record is not None:
                    yield Scored(scores[item.record.ref], item)

    def _scores(self, source: Source, most: int) -> dict[int, float]:
        if self._vector is None or self._space is None:
            return self._one_by_one(source, most)
        k = most if most >= 0 else _size(self._store, source.collection)
        found = self._store.search_vectors(source.collection, self._vector, k, where=source.where)
        scores = {hit.ref: hit.score for hit in found.hits}
        # Fewer than were asked for: a vector may be on disk and not yet where it is searched.
        whole = found.complete and len(scores) >= k
        return scores if whole else {**self._one_by_one(source, most), **scores}

    def _one_by_one(self, source: Source, most: int) -> dict[int, float]:
        """With those that the search by vectors could not see."""
        records = {record.ref: record for record in self._candidates(source, most)}
        scores: dict[int, float] = {}
        if self._vector is not None and self._space is not None:
            scores = self._store.similarities(source.collection, self._vector, list(records))
        lacking = [record for ref, record in records.items() if ref not in scores]
        by_words = {record.ref: keyword_share(self._text, record.text) for record in lacking}
        scores |= {ref: share for ref, share in by_words.items() if share > 0 or most < 0}
        return scores if self._vector is None else {**scores, **self._by_meaning(lacking[:_AT_ONCE], self._vector)}

    def _candidates(self, source: Source, most: int) -> Iterable[Record]:
        """The newest, and those that have words of the question; all of them if all are wanted."""
        if most < 0:
            yield from every(self._store, source.collection, source.where)
            return
        yield from self._store.page(source.collection, where=source.where, limit=_NEWEST, newest_first=True).records
        words = TextQuery(phrases_of(self._text))
        worded = self._store.search_text(source.collection, words, _NEWEST, where=source.where)
        yield from self._store.fetch([hit.ref for hit in worded]).values()

    def _by_meaning(self, records: Sequence[Record], vector: Vector) -> dict[int, float]:
        if not records:
            return {}
        import numpy as np

        try:
            rows = self._embedder.embed_documents([record.text for record in records])
        except EngineError:
            return {}
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)
        cosines = np.clip((rows @ vector) / np.maximum(lengths, 1e-12), -1.0, 1.0)
        return {record.ref: float(cosines[row]) for row, record in enumerate(records)}

    def _embedded(self) -> Vector | None:
        try:
            return self._embedder.embed_query(self._text)
        except EngineError:
            return None


def _searched_space(service: Service) -> Space | None:
    """The space that searches use, if this embedder made it."""
    mine = service.memory.embedder.space.fingerprint
    return next((space for space in service.store.spaces() if space.active and space.fingerprint == mine), None)


def _size(store: Store, collection: str) -> int:
    return next((info.count for info in store.collections(collection) if info.name == collection), 0)
