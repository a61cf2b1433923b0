"""From patterns and neighbours to signals, each in [0, 1], each with what it was made from.

technical         = min(sum of weights of patterns present / norm, 1)
personal          = min(sum of weights of patterns present, 1)          also actionability, code structure
specificity       = min(sum of weight * distinct occurrences / max(length / 100, 1), 1)
novelty           = 1 when nothing durable is near, else 1 - mean(max(0, cosine)) over the nearest 5
frequency         = min(turns with cosine >= .80 among the nearest 10 / 5, 1)
saturation        = min(durable with cosine >= .85 among the nearest 5 / 3, 1)
repetition        = frequency * (1 - saturation): what is kept already need not be kept again
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from libravdb_memory.gate.patterns import Pattern
from libravdb_memory.gate.views import Span, Views

DURABLE_NEIGHBOURS = 5
TURN_NEIGHBOURS = 10
REPEATED_AT = 0.80
REPEATS_FOR_FULL = 5
KEPT_AT = 0.85
KEPT_FOR_FULL = 3
SPECIFIC_PER_LENGTH = 100
MAX_SPANS = 16


@dataclass(frozen=True, slots=True)
class Fired:
    """A pattern that fired: its family, what it adds before the family saturates, and where (first spans only)."""

    family: str
    pattern: str
    weight: float
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Signal:
    value: float
    fired: tuple[Fired, ...]


def presence(family: str, patterns: Sequence[Pattern], views: Views, norm: float = 1.0) -> Signal:
    """Each pattern counts once, at its first place."""
    fired = tuple(
        Fired(family, pattern.name, pattern.weight, (span,))
        for pattern in patterns
        if (span := next(pattern.spans(views), None))
    )
    return Signal(_share(math.fsum(item.weight for item in fired), norm), fired)


def density(family: str, patterns: Sequence[Pattern], views: Views, length: int) -> Signal:
    """Each distinct occurrence counts, against the length of the text."""
    fired = tuple(found for pattern in patterns if (found := _occurrences(family, pattern, views)))
    return Signal(
        _share(math.fsum(item.weight for item in fired), max(length / SPECIFIC_PER_LENGTH, 1.0)),
        fired,
    )


def novelty(durable: Sequence[float]) -> float:
    nearest = _nearest(durable, DURABLE_NEIGHBOURS)
    if not nearest:
        return 1.0
    return clamp(1.0 - math.fsum(max(0.0, cosine) for cosine in nearest) / len(nearest))


def frequency(turns: Sequence[float]) -> float:
    hits = sum(cosine >= REPEATED_AT for cosine in _nearest(turns, TURN_NEIGHBOURS))
    return _share(hits, REPEATS_FOR_FULL)


def saturation(durable: Sequence[float]) -> float:
    hits = sum(cosine >= KEPT_AT for cosine in _nearest(durable, DURABLE_NEIGHBOURS))
    return _share(hits, KEPT_FOR_FULL)


def clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _nearest(cosines: Sequence[float], count: int) -> list[float]:
    return sorted(cosines, reverse=True)[:count]


def _share(amount: float, whole: float) -> float:
    return min(amount / whole, 1.0)


def _occurrences(family: str, pattern: Pattern, views: Views) -> Fired | None:
    text = views.text(pattern.view, cased=True)
    first: dict[str, Span] = {}
    for start, end in pattern.spans(views):
        first.setdefault(text[start:end], (start, end))
    if not first:
        return None
    return Fired(family, pattern.name, pattern.weight * len(first), tuple(first.values())[:MAX_SPANS])
