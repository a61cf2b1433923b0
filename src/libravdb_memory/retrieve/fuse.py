"""Dense and lexical evidence, fused into one explained score.

    score = w_dense * dense + w_lexical * lexical,   weights >= 0, summing to 1 over the kinds of evidence at hand

Each kind of evidence is scaled over the candidates: lexical by its best (absent means 0), dense from the weakest
candidate of the list up to the best. So the score lies in [0, 1], rises with either evidence when the other is equal,
and does not depend on the units of the two searches. Ties are broken by the newer record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from libravdb_memory.errors import ConfigError
from libravdb_memory.retrieve.rank import Profile


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    dense_weight: float = field(default=0.5, metadata={"help": "share of meaning in a score, the rest is wording"})
    candidates: int = field(default=100, metadata={"help": "records taken from each kind of search before fusing"})
    profile: Profile = field(
        default="calibrated", metadata={"help": "ranking law: calibrated, or the older reference and hybrid"}
    )

    def __post_init__(self) -> None:
        if not 0.0 <= self.dense_weight <= 1.0:
            raise ConfigError("retrieval.dense_weight", f"must lie in [0, 1], not {self.dense_weight}")
        if self.candidates < 1:
            raise ConfigError("retrieval.candidates", f"must be at least 1, not {self.candidates}")


@dataclass(frozen=True, slots=True)
class Fused:
    """`parts` holds the two addends of the score and the raw evidence behind them (cosine, bm25), where found."""

    ref: int
    score: float
    parts: Mapping[str, float]


def fuse(
    dense: Mapping[int, float] | None,
    lexical: Mapping[int, float],
    settings: RetrievalSettings,
    limit: int | None = None,
) -> tuple[Fused, ...]:
    """Rank the union of both candidate lists, the best `limit` of it if given. `dense` None means that no dense search
    was possible."""
    weight = 0.0 if dense is None else settings.dense_weight
    by_meaning = {ref: weight * share for ref, share in _spread(dense or {}).items()}
    by_wording = {ref: (1.0 - weight) * share for ref, share in _by_best(lexical).items()}
    scores = by_meaning | {ref: by_meaning.get(ref, 0.0) + share for ref, share in by_wording.items()}
    ranked = sorted(((-min(score, 1.0), -ref) for ref, score in scores.items()))[:limit]
    return tuple(
        Fused(-ref, -score, _parts(-ref, dense or {}, lexical, by_meaning, by_wording)) for score, ref in ranked
    )


def _parts(
    ref: int,
    dense: Mapping[int, float],
    lexical: Mapping[int, float],
    by_meaning: Mapping[int, float],
    by_wording: Mapping[int, float],
) -> dict[str, float]:
    parts = {"dense": by_meaning.get(ref, 0.0), "lexical": by_wording.get(ref, 0.0)}
    if ref in dense:
        parts["cosine"] = dense[ref]
    if ref in lexical:
        parts["bm25"] = lexical[ref]
    return parts


def _spread(scores: Mapping[int, float]) -> dict[int, float]:
    """Cosines mapped onto [0, 1]: the weakest candidate 0, the best its own cosine's worth of 1."""
    positive = {ref: max(score, 0.0) for ref, score in scores.items()}
    if not positive:
        return {}
    low, high = min(positive.values()), max(positive.values())
    if high <= low:
        return positive
    return {ref: (score - low) / (high - low) for ref, score in positive.items()}


def _by_best(scores: Mapping[int, float]) -> dict[int, float]:
    best = max(scores.values(), default=0.0)
    return {ref: max(score, 0.0) / best for ref, score in scores.items()} if best > 0.0 else {}
