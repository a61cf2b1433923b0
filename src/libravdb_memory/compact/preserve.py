"""How near a summary stays to what it covers, in the space that recall searches.

    align = cos(s, centroid of the turns);   cover = mean of max(0, cos(s, t));   space = clamp((align + cover) / 2)
    confidence = space for an extract;  .8·space + .2·model for a model's summary that tells how sure it is

Laws: all of them lie in [0, 1], align in [-1, 1], for every input, vectors of zeros and no numbers included. A model's
summary is accepted from the least align on; an extract always. A summary replaces its sources only when it is strictly
smaller, both sides priced by one counter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.tokens import Pricing, TokenCounter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32] | NDArray[np.float64]
    Vector = Vectors
    Floats = NDArray[np.float64]

Method: TypeAlias = Literal["abstractive", "extractive"]

SPACE_SHARE, MODEL_SHARE = 0.8, 0.2


@dataclass(frozen=True, slots=True)
class Preservation:
    align: float
    cover: float

    @property
    def space(self) -> float:
        return _unit((self.align + self.cover) / 2)

    def confidence(self, model: float | None = None) -> float:
        """`model` is how sure a model was of its own words; None for an extract and for a model that does not say."""
        return self.space if model is None else _unit(SPACE_SHARE * self.space + MODEL_SHARE * _unit(model))


def preservation(summary: Vectors, turns: Vectors) -> Preservation:
    """Of the vector of a summary and those of its turns, one in each row."""
    if not turns.shape[0]:
        return Preservation(0.0, 0.0)
    said, covered = unit_rows(summary[None, :])[0], unit_rows(turns)
    align = float(centroid(turns) @ said)
    return Preservation(min(max(align, -1.0), 1.0), _unit(float(np.maximum(covered @ said, 0.0).mean())))


def centroid(vectors: Vectors) -> Floats:
    """The direction of some rows together."""
    direction: Floats = unit_rows(unit_rows(vectors).mean(axis=0)[None, :])[0]
    return direction


def accepted(method: Method, align: float, settings: CompactionSettings) -> bool:
    return method == "extractive" or align >= settings.min_align


def asks_a_model(gating_scores: Iterable[float | None], ready: bool, settings: CompactionSettings) -> bool:
    """Whether a cluster is worth a model's time: by the mean of the scores that are known."""
    known = [score for score in gating_scores if score is not None and math.isfinite(score)]
    return ready and bool(known) and math.fsum(known) / len(known) >= settings.abstractive_from


def tokens_of(texts: Sequence[str], counter: TokenCounter) -> int:
    """What texts cost on lines of their own: the one price for sources and summaries."""
    return Pricing(counter).price(texts)


def progresses(sources: Sequence[str], summary: str, counter: TokenCounter) -> bool:
    """Whether something is said and it is strictly smaller. `summary` is all that the node says, pins included."""
    return bool(summary.strip()) and tokens_of([summary], counter) < tokens_of(sources, counter)


def unit_rows(vectors: Vectors) -> Floats:
    """Rows of length 1; what has no direction, or is no number, becomes zeros."""
    rows = np.nan_to_num(np.asarray(vectors, np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    peak = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = rows / np.where(peak > 0.0, peak, 1.0)
    length = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return scaled / np.where(length > 0.0, length, 1.0)


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0
