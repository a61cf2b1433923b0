"""Gate regret: what later use says about earlier decisions.

A refused turn that a later query hits was refused wrongly; a kept one that is hit was kept rightly. Law: regret counts
turns, not hits, and every judged turn gives exactly one calibration label.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from libravdb_memory.gate.calibrate import Label


@dataclass(frozen=True, slots=True)
class Outcome:
    """A turn the gate judged, and how many later queries had it among their answers."""

    score: float
    durable: bool
    hits: int = 0


@dataclass(frozen=True, slots=True)
class Regret:
    refused: int
    regretted: int
    kept: int
    used: int

    @property
    def rate(self) -> float:
        """Share of the refused turns that were wanted later; 0 when none was refused."""
        return self.regretted / self.refused if self.refused else 0.0


def tally(outcomes: Iterable[Outcome]) -> Regret:
    refused = regretted = kept = used = 0
    for outcome in outcomes:
        wanted = outcome.hits > 0
        if outcome.durable:
            kept, used = kept + 1, used + wanted
        else:
            refused, regretted = refused + 1, regretted + wanted
    return Regret(refused, regretted, kept, used)


def labels_of(outcomes: Iterable[Outcome]) -> tuple[Label, ...]:
    """Labels for `calibrate.fit`: a turn was useful when a later query wanted it, kept or not."""
    return tuple(Label(outcome.score, float(outcome.hits > 0)) for outcome in outcomes)
