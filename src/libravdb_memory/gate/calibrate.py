"""Calibration: how useful turns of a given score proved to be, and the threshold that follows.

Isotonic regression by pool-adjacent-violators, in exact arithmetic: of all functions that never fall with the score,
the fitted one has the least weighted squared distance to the labels. Turns with one score are one point. The proposed
threshold is the lowest score from which the curve holds at least `target`. The order of the labels does not matter.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.gate.settings import REFERENCE_THRESHOLD

NEVER = 1.0
"""The threshold proposed when no score was useful enough."""


@dataclass(frozen=True, slots=True)
class Label:
    """A turn's score and how useful it proved, 0 to 1."""

    score: float
    useful: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        _refuse_unless(0.0 <= self.score <= 1.0, "score", "must lie in [0, 1]", self.score)
        _refuse_unless(0.0 <= self.useful <= 1.0, "useful", "must lie in [0, 1]", self.useful)
        _refuse_unless(0.0 < self.weight < math.inf, "weight", "must be finite and above 0", self.weight)


@dataclass(frozen=True, slots=True)
class Step:
    """From score `start` (until the next step) a turn is useful with this probability; `weight` of labels say so."""

    start: float
    useful: float
    weight: float


@dataclass(frozen=True, slots=True)
class Quality:
    """What a threshold would have kept. None where there is nothing to take a share of."""

    threshold: float
    precision: float | None
    recall: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    steps: tuple[Step, ...]
    threshold: float
    at_threshold: Quality
    at_reference: Quality

    def usefulness(self, score: float) -> float:
        """The curve; below the first step it has that step's value."""
        index = bisect_right(self.steps, score, key=lambda step: step.start)
        return self.steps[max(index - 1, 0)].useful


def fit(labels: Iterable[Label], *, target: float = 0.5) -> Calibration:
    """Fit the curve and propose a threshold. Refuses an empty set: there is nothing to learn from it."""
    known = tuple(labels)
    _refuse_unless(bool(known), "labels", "at least one is needed", len(known))
    _refuse_unless(0.0 <= target <= 1.0, "target", "must lie in [0, 1]", target)
    steps = isotonic(known)
    threshold = next((step.start for step in steps if step.useful >= target), NEVER)
    return Calibration(steps, threshold, quality(known, threshold), quality(known, REFERENCE_THRESHOLD))


def quality(labels: Sequence[Label], threshold: float) -> Quality:
    kept = [label for label in labels if label.score >= threshold]
    found = math.fsum(label.useful * label.weight for label in kept)
    return Quality(
        threshold,
        precision=_ratio(found, math.fsum(label.weight for label in kept)),
        recall=_ratio(found, math.fsum(label.useful * label.weight for label in labels)),
    )


@dataclass(slots=True)
class _Block:
    start: float
    total: Fraction
    weight: Fraction

    def mean(self) -> Fraction:
        return self.total / self.weight

    def absorb(self, later: _Block) -> None:
        self.total += later.total
        self.weight += later.weight


def isotonic(labels: Iterable[Label]) -> tuple[Step, ...]:
    """The steps of the fitted curve, strictly rising."""
    blocks: list[_Block] = []
    for block in _points(labels):
        blocks.append(block)
        while len(blocks) > 1 and blocks[-2].mean() >= blocks[-1].mean():
            blocks[-2].absorb(blocks.pop())
    return tuple(Step(block.start, float(block.mean()), float(block.weight)) for block in blocks)


def _points(labels: Iterable[Label]) -> list[_Block]:
    """One block per distinct score, ascending."""
    points: dict[float, _Block] = {}
    for label in labels:
        weight = Fraction(label.weight)
        block = points.setdefault(label.score, _Block(label.score, Fraction(0), Fraction(0)))
        block.absorb(_Block(label.score, Fraction(label.useful) * weight, weight))
    return [points[score] for score in sorted(points)]


def _ratio(part: float, whole: float) -> float | None:
    return min(part / whole, 1.0) if whole > 0.0 else None


def _refuse_unless(good: bool, field: str, reason: str, value: float) -> None:
    if not good:
        raise InvalidInputError(field, f"{reason}, not {value}")
