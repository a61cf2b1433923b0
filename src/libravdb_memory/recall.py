"""Recall: candidates from the store, weighed and ranked, each with the working behind its score.

Law: a record is one candidate however many scopes hold it. What a search could not use is said in `degraded`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from libravdb_memory.beside import Beside
from libravdb_memory.engines.protocol import Embedder, TokenEmbedder, TokenRows
from libravdb_memory.errors import EngineError
from libravdb_memory.gathering import Gathered, Meant, Source, Worded, by_wording, gather
from libravdb_memory.gating import DURABLE
from libravdb_memory.identity import Json
from libravdb_memory.model import Record
from libravdb_memory.retrieve.dates import tells_time
from libravdb_memory.retrieve.query import keyword_share
from libravdb_memory.retrieve.question import READ_AT_EACH_END, Question, read_question
from libravdb_memory.retrieve.rank import LEAST_SIMILARITY, Evidence, score
from libravdb_memory.retrieve.settings import RetrievalSettings
from libravdb_memory.store.protocol import Space, Store, VectorHits
from libravdb_memory.summaries import is_summary
from libravdb_memory.usage import USE
from libravdb_memory.wording import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from libravdb_memory.retrieve.weigh import Weighed, Weights

_DURABLE_PRIOR = 0.5
_WORDS_ALONE = 0.6
"""How strong evidence is at most when there is no meaning to compare."""
_FAINT = 0.05
"""How strong evidence is at least: what was found has an order, and a factor of 0 would lose it."""
_READ_FOR_TIMES = 20_000
"""Characters of a turn that are looked through for dates."""
SHORTENED = f"a very long question: searched by its first and last {READ_AT_EACH_END:,} characters"
_SPARE = 10
"""Candidates beyond those asked for whose records are read, because the last laws may lift them."""


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
class _Relevant:
    """One candidate as far as its relevance is known. `similarity` is the bare cosine, `keywords` the share of the
    question's that it holds, where a law asks for it."""

    ref: int
    source: Source
    relevance: float
    similarity: float
    parts: Mapping[str, float]
    keywords: float = 0.0


class Recall:
    """`weights` is for measurements; the default ones are those of the product."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settings: RetrievalSettings,
        searches_by_meaning: Callable[[], bool],
        beside: Beside,
        weights: Weights | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._searches_by_meaning = searches_by_meaning
        self._beside = beside
        self._weights = weights

    def read(self, text: str, sources: Sequence[Source]) -> Question:
        """What a question asks, seen by those who speak in the first of its sources."""
        return read_question(text, self._store.speakers(sources[0].collection) if sources else ())

    def by_wording(self, question: Question, sources: Sequence[Source], k: int) -> Worded:
        return by_wording(self._store, question, sources, max(self._settings.candidates, k))

    def ranked(
        self,
        question: Question,
        sources: Sequence[Source],
        k: int,
        now_ms: int,
        worded: Callable[[], Worded] | None = None,
    ) -> Recalled:
        """`worded` gives what `by_wording` found, where the caller has begun that search already."""
        worded = worded or self._beside.start(lambda: self.by_wording(question, sources, k))
        meant, notes = self._by_meaning(question, sources, max(self._settings.candidates, k))
        if question.shortened:
            notes = (*notes, SHORTENED)
        if self._settings.profile == "calibrated":
            relevant, records = self._weighed(question, worded(), meant, k)
        else:
            relevant, records = self._by_older_laws(question, worded(), meant)
        return Recalled(self._rank(relevant, records, k, now_ms), meant.vector, notes)

    def similarities(self, texts: Sequence[str], refs: Sequence[int]) -> dict[int, tuple[float, ...]]:
        """For each record that has a vector, its cosine to each of the texts."""
        space = self._active_space()
        if not texts or space is None:
            return {}
        import numpy as np

        rows = _unit_rows(np.atleast_2d(self._embedder.embed_documents(texts)))
        found = self._store.get_vectors(space, refs)
        return {ref: tuple((rows @ _unit_rows(vector[None, :])[0]).tolist()) for ref, vector in found.items()}

    # ── searching by meaning ─────────────────────────────────────────────────────────────────────────────────────

    def _by_meaning(self, question: Question, sources: Sequence[Source], width: int) -> tuple[Meant, tuple[str, ...]]:
        vector, tokens, notes = self._embed(question)
        scores: dict[int, float] = {}
        origin: dict[int, Source] = {}
        missing = 0
        for source, found in self._nearest(vector, sources, width):
            missing += found.missing
            scores.update((hit.ref, hit.score) for hit in found.hits)
            origin.update((hit.ref, source) for hit in found.hits)
        if missing:
            notes = (*notes, f"{counted(missing, 'text')} not embedded yet: found by wording only")
        return Meant(scores, origin, vector, tokens), notes

    def _embed(self, question: Question) -> tuple[NDArray[np.float32] | None, TokenRows | None, tuple[str, ...]]:
        if not self._searches_by_meaning():
            return None, None, ("the store is being re-embedded: searched by wording only",)
        calibrated = self._settings.profile == "calibrated"
        text = question.spoken if calibrated else question.text
        try:
            if calibrated and isinstance(self._embedder, TokenEmbedder) and self._embedder.token_rule:
                return *self._embedder.read_query(text), ()
            return self._embedder.embed_query(text), None, ()
        except EngineError as error:
            return None, None, (f"searched by wording only: {error}",)

    def _nearest(
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

    def _active_space(self) -> Space | None:
        return next((space for space in self._store.spaces() if space.active), None)

    # ── relevance ────────────────────────────────────────────────────────────────────────────────────────────────

    def _weighed(
        self, question: Question, worded: Worded, meant: Meant, k: int
    ) -> tuple[Sequence[_Relevant], Mapping[int, Record]]:
        if not worded.scores and not meant.scores:
            return (), {}
        import numpy as np

        from libravdb_memory.retrieve import weigh

        gathered = gather(self._store, self._active_space(), question, worded, meant, k)
        if not gathered.refs:
            return (), {}
        weights = self._weights or weigh.Weights()
        weighed = weigh.weigh(gathered.pool, gathered.signals, question, weights)
        rows = np.argsort(-weighed.scores, kind="stable")
        rows = rows[weigh.supported(gathered.pool, gathered.signals)[rows]][: k + _SPARE]
        if not rows.shape[0]:
            return (), {}
        refs = [gathered.refs[row] for row in cast(list[int], rows.tolist())]
        records = self._store.fetch(refs)
        scores = weighed.scores[rows]
        if question.asks_when:
            scores = scores + weights.time * np.array([_tells_time(records.get(ref)) for ref in refs], np.float64)
        scores = weigh.prefer_latest(scores, gathered.pool.ts[rows], weights.latest * question.wants_latest)
        if weights.latest and question.wants_latest and not question.named:
            scores = weigh.supersede(scores, gathered.pool.ts[rows], weighed.met[rows])
        lowest, highest = float(weighed.scores.min()), float(scores.max())
        strength = _strength(gathered, meant, int(np.argmax(weighed.scores)))
        if not highest > lowest:
            return _relevant(gathered, weighed, rows, refs, np.full(len(refs), strength), 0.0), records
        scale = strength / (highest - lowest)
        return _relevant(gathered, weighed, rows, refs, (scores - lowest) * scale, scale), records

    def _by_older_laws(
        self, question: Question, worded: Worded, meant: Meant
    ) -> tuple[Sequence[_Relevant], Mapping[int, Record]]:
        """Similarity alone, or with the support of wording where it is weak."""
        origin = {**meant.origin, **worded.origin}
        refs = [ref for ref in origin if ref in worded.scores or meant.scores.get(ref, 0.0) >= LEAST_SIMILARITY]
        records = self._store.fetch(refs)
        return [
            _Relevant(
                ref,
                origin[ref],
                relevance=similarity,
                similarity=similarity,
                parts={"cosine": similarity, "bm25": worded.scores.get(ref, 0.0)},
                keywords=keyword_share(question.text, record.text),
            )
            for ref, record in records.items()
            for similarity in (max(meant.scores.get(ref, 0.0), 0.0),)
        ], records

    # ── ranking ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _rank(
        self, relevant: Sequence[_Relevant], records: Mapping[int, Record], k: int, now_ms: int
    ) -> tuple[Remembered, ...]:
        uses = {ref: _count_in(data) for ref, data in self._store.marks(list(records), USE).items()}
        durable = self._store.marks(list(records), DURABLE)
        most_uses = max(uses.values(), default=0)
        found: list[Remembered] = []
        for item in relevant:
            record = records.get(item.ref)
            if record is None:
                continue
            ranked = score(
                Evidence(
                    relevance=item.relevance,
                    similarity=item.similarity,
                    keywords=item.keywords,
                    age_s=_age_s(record, now_ms),
                    uses=uses.get(item.ref, 0),
                    most_uses=most_uses,
                    authority=_authority(record, item.ref in durable),
                    decay_rate=_decay_rate(record),
                    scope=item.source.scope,
                ),
                self._settings.profile,
            )
            found.append(Remembered(record, item.source, ranked.score, {**item.parts, **ranked.parts}))
        found.sort(key=lambda item: (-item.score, item.record.collection, -item.record.ref))
        return tuple(found[:k])


def _strength(gathered: Gathered, meant: Meant, best: int) -> float:
    """How strong the best evidence is in itself: a cosine, or the share of the question's tokens met exactly. Of a best
    candidate that is not embedded yet, only the wording is known."""
    import numpy as np

    signals = gathered.signals
    if meant.vector is None:
        return _WORDS_ALONE
    exact = (signals.count > 0).mean(axis=1).max() if signals.count.size else 0.0
    worded = _FAINT if signals.embedded[best] else _WORDS_ALONE
    return float(np.max([signals.cosine.max(), exact, signals.identifiers.max(), worded]))


def _relevant(
    gathered: Gathered,
    weighed: Weighed,
    rows: NDArray[np.intp],
    refs: Sequence[int],
    relevance: NDArray[np.float64],
    scale: float,
) -> list[_Relevant]:
    """With the addends of their relevance by kind; `fit` is what is left: who spoke, when, and how late. Where nothing
    tells candidates apart (a scale of 0), all of it is how strong the evidence is in itself."""
    kinds = {name: (values * scale).tolist() for name, values in weighed.kinds(rows).items()}
    found: list[_Relevant] = []
    for place, ref in enumerate(refs):
        row, value = int(rows[place]), float(relevance[place])
        parts = {name: float(values[place]) for name, values in kinds.items()}
        rest = value - sum(parts.values())
        parts |= {"fit": rest} if scale else {"dense": rest, "fit": 0.0}
        cosine = float(gathered.signals.cosine[row])
        parts |= {"cosine": cosine, "bm25": float(gathered.signals.wording[row])}
        found.append(_Relevant(ref, gathered.origin[ref], value, cosine, parts))
    return found


def _tells_time(record: Record | None) -> bool:
    return record is not None and tells_time(record.text[:_READ_FOR_TIMES])


def _age_s(record: Record, now_ms: int) -> float:
    return (now_ms - record.ts) / 1000 if record.ts else 0.0


def _authority(record: Record, durable: bool) -> float:
    """A core document's authority, or the prior of a durable turn."""
    stated = record.metadata.get("authority")
    return stated if isinstance(stated, float) else (_DURABLE_PRIOR if durable else 0.0)


def _decay_rate(record: Record) -> float:
    """Of a summary; turns do not decay."""
    rate = record.metadata.get("decay_rate")
    return float(rate) if isinstance(rate, int | float) and is_summary(record) else 0.0


def _count_in(data: Mapping[str, Json]) -> int:
    count = data.get("count")
    return count if isinstance(count, int) else 0


def _unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), np.float32)
