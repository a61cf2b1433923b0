"""Recall: candidates from the store, fused and ranked, each with the working behind its score.

Law: a record is one candidate however many scopes hold it. What a search could not use is said in `degraded`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from libravdb_memory.beside import Beside
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.errors import EngineError
from libravdb_memory.gating import DURABLE
from libravdb_memory.identity import Json
from libravdb_memory.model import Record
from libravdb_memory.retrieve.fuse import Fused, RetrievalSettings, fuse
from libravdb_memory.retrieve.query import phrases_of
from libravdb_memory.retrieve.rank import MODULATION, Evidence, Profile, ScopeName, score
from libravdb_memory.store.protocol import Filter, Store, TextQuery, VectorHits
from libravdb_memory.usage import USE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DURABLE_PRIOR = 0.5


@dataclass(frozen=True, slots=True)
class Source:
    """A place to search. `name` is what a prompt calls it; `scope` is its kind for the ranking laws."""

    collection: str
    name: str
    scope: ScopeName
    where: Filter | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    record: Record
    source: Source
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Recalled:
    """Best first. `vector` is the question's embedding, None when it could not be made."""

    items: tuple[Remembered, ...]
    vector: NDArray[np.float32] | None
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """What a search by wording found; the records of the best are read at once, while the model is busy."""

    scores: Mapping[int, float]
    origin: dict[int, Source]
    records: Mapping[int, Record]


class Recall:
    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: RetrievalSettings,
        searches_by_meaning: Callable[[], bool],
        beside: Beside,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._searches_by_meaning = searches_by_meaning
        self._beside = beside

    def ranked(
        self,
        question: str,
        sources: Sequence[Source],
        k: int,
        now_ms: int,
        by_wording: Callable[[], Words] | None = None,
    ) -> Recalled:
        """`by_wording` gives what `by_wording` of this class found, where the caller has begun that search already."""
        width = max(self._settings.candidates, k)
        by_wording = by_wording or self._beside.start(lambda: self.by_wording(question, sources, k))
        vector, notes = self._embed(question)
        dense: dict[int, float] = {}
        origin: dict[int, Source] = {}
        missing = 0
        for source, found in self._by_meaning(vector, sources, width):
            missing += found.missing
            dense.update((hit.ref, hit.score) for hit in found.hits)
            origin.update((hit.ref, source) for hit in found.hits)
        if missing:
            notes = (*notes, f"{missing} turns not embedded yet: found by wording only")
        words = by_wording()
        fused = fuse(dense if vector is not None else None, words.scores, self._settings, k + k // 2)
        return Recalled(self._rank(fused, origin | words.origin, words.records, k, now_ms), vector, notes)

    def similarities(self, texts: Sequence[str], refs: Sequence[int]) -> dict[int, tuple[float, ...]]:
        """For each record that has a vector, its cosine to each of the texts."""
        space = next((space for space in self._store.spaces() if space.active), None)
        if not texts or space is None:
            return {}
        import numpy as np

        rows = _unit_rows(np.atleast_2d(self._embedder.embed_documents(texts)))
        found = self._store.get_vectors(space, refs)
        return {ref: tuple((rows @ _unit_rows(vector[None, :])[0]).tolist()) for ref, vector in found.items()}

    def _by_meaning(
        self, vector: NDArray[np.float32] | None, sources: Sequence[Source], width: int
    ) -> Iterator[tuple[Source, VectorHits]]:
        """The first source is usually the largest: the others are searched beside it."""
        if vector is None or not sources:
            return

        def search(source: Source) -> VectorHits:
            return self._store.search_vectors(source.collection, vector, width, where=source.where)

        first, *rest = sources
        if not rest:
            yield first, search(first)
            return
        others = self._beside.start(lambda: [search(source) for source in rest])
        yield first, search(first)
        yield from zip(rest, others(), strict=True)

    def by_wording(self, question: str, sources: Sequence[Source], k: int) -> Words:
        width = max(self._settings.candidates, k)
        query = TextQuery(phrases_of(question))
        scores: dict[int, float] = {}
        origin: dict[int, Source] = {}
        for source in sources:
            found = self._store.search_text(source.collection, query, width, where=source.where)
            scores.update((hit.ref, hit.score) for hit in found)
            origin.update((hit.ref, source) for hit in found)
        best = sorted(scores, key=scores.__getitem__, reverse=True)[: width // 2]  # few others come out on top
        return Words(scores, origin, self._store.fetch(best))

    def _rank(
        self,
        fused: Sequence[Fused],
        origin: Mapping[int, Source],
        known: Mapping[int, Record],
        k: int,
        now_ms: int,
    ) -> tuple[Remembered, ...]:
        head = _contenders(fused, k, self._settings.profile)
        refs = [item.ref for item in head]
        fetched = self._store.fetch([ref for ref in refs if ref not in known])
        records = {ref: record for ref in refs if (record := known.get(ref) or fetched.get(ref))}
        uses = {ref: _count_in(data) for ref, data in self._store.marks(list(records), USE).items()}
        durable = self._store.marks(list(records), DURABLE)
        most_uses = max(uses.values(), default=0)
        found = [
            _judged(
                item,
                records[item.ref],
                origin[item.ref],
                Evidence(
                    relevance=item.score,
                    similarity=item.parts.get("cosine", 0.0),
                    age_s=_age_s(records[item.ref], now_ms),
                    uses=uses.get(item.ref, 0),
                    most_uses=most_uses,
                    authority=_authority(records[item.ref], item.ref in durable),
                    scope=origin[item.ref].scope,
                ),
                self._settings.profile,
            )
            for item in head
            if item.ref in records
        ]
        found.sort(key=lambda item: (-item.score, item.record.collection, -item.record.ref))
        return tuple(found[:k])

    def _embed(self, question: str) -> tuple[NDArray[np.float32] | None, tuple[str, ...]]:
        if not self._searches_by_meaning():
            return None, ("the store is being re-embedded: searched by wording only",)
        try:
            return self._embedder.embed_query(question), ()
        except EngineError as error:
            return None, (f"searched by wording only: {error}",)


def _contenders(fused: Sequence[Fused], k: int, profile: Profile) -> Sequence[Fused]:
    """Those that may come out among the best k. The calibrated law takes a bounded share of relevance at most, so what
    lies below that share of the kth cannot; the older laws have no such bound."""
    if profile != "calibrated" or len(fused) <= k:
        return fused
    floor = (1.0 - MODULATION) * fused[k - 1].score
    return [item for item in fused if item.score >= floor]


def _judged(item: Fused, record: Record, source: Source, evidence: Evidence, profile: Profile) -> Remembered:
    ranked = score(evidence, profile)
    return Remembered(record, source, ranked.score, {**item.parts, **ranked.parts})


def _age_s(record: Record, now_ms: int) -> float:
    return (now_ms - record.ts) / 1000 if record.ts else 0.0


def _authority(record: Record, durable: bool) -> float:
    """A core document's authority, or the prior of a durable turn."""
    stated = record.metadata.get("authority")
    return stated if isinstance(stated, float) else (_DURABLE_PRIOR if durable else 0.0)


def _count_in(data: Mapping[str, Json]) -> int:
    count = data.get("count")
    return count if isinstance(count, int) else 0


def _unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), np.float32)
