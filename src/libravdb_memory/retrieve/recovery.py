"""When recall looks weak: three explicit signals, each named.

    weak      the best score is below .15
    vague     the top 4 are all summaries with a mean confidence below .5
    new       the session has no turns yet

Law: without a signal nothing more is searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Signal: TypeAlias = Literal["weak", "vague", "new"]

WEAK_BELOW = 0.15
VAGUE_BELOW = 0.5
VAGUE_TOP = 4


@dataclass(frozen=True, slots=True)
class Standing:
    """A ranked candidate: its score, and the confidence of a summary (None for anything else)."""

    score: float
    confidence: float | None = None


def recovery_signals(ranked: Sequence[Standing], session_turns: int) -> tuple[Signal, ...]:
    signals: list[Signal] = []
    if not ranked or ranked[0].score < WEAK_BELOW:
        signals.append("weak")
    top = [item.confidence for item in ranked[:VAGUE_TOP]]
    known = [confidence for confidence in top if confidence is not None]
    if len(known) == VAGUE_TOP and sum(known) / VAGUE_TOP < VAGUE_BELOW:
        signals.append("vague")
    if session_turns == 0:
        signals.append("new")
    return tuple(signals)
