"""The ladder of a cluster: which summary to try next, and when to give up.

    a model, normal → too long: a model, aggressive → too long: the fallback
    a model's words off the mark, empty, unusable or failed → an extract on the same rung
    an extract, normal → anything but accepted: aggressive → the fallback → declined

Laws: no rung is tried twice by the same method and the ladder only goes down, so it ends after four attempts at most;
its last rung needs no model; it is accepted only if something is said, strictly smaller than the sources, and declines
with the reason of every attempt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from libravdb_memory.compact.preserve import Method, accepted
from libravdb_memory.compact.settings import CompactionSettings, Rung

Outcome: TypeAlias = Literal["accepted", "too long", "off the mark", "failed", "unusable", "empty"]

OVERSHOOT = 2
"""Times its limit that a model's summary may cost: it counts in tokens of its own."""


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt to make: how, and on which rung."""

    method: Method
    rung: Rung

    @property
    def name(self) -> str:
        return f"{self.method} {self.rung.name}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a step. `detail` says more about a failure; `figure` and `bound` are the tokens or the align that
    decided, and the most or least that it should have been."""

    step: Step
    outcome: Outcome
    detail: str = ""
    figure: float | None = None
    bound: float | None = None


@dataclass(frozen=True, slots=True)
class Climb:
    """The attempts in order; the last one is accepted, or all were in vain."""

    attempts: tuple[Attempt, ...]

    @property
    def accepted(self) -> bool:
        return bool(self.attempts) and self.attempts[-1].outcome == "accepted"

    @property
    def passed_over(self) -> Attempt | None:
        """The last attempt of a model where an extract was accepted."""
        if not self.accepted or self.attempts[-1].step.method == "abstractive":
            return None
        return next((each for each in reversed(self.attempts) if each.step.method == "abstractive"), None)

    @property
    def declined(self) -> str:
        """Why nothing was accepted; empty when something was."""
        if self.accepted:
            return ""
        return "; ".join(
            f"{attempt.step.name}: {attempt.outcome}{f' ({attempt.detail})' if attempt.detail else ''}"
            for attempt in self.attempts
        )


def first_step(settings: CompactionSettings, model: bool) -> Step:
    return Step("abstractive" if model else "extractive", settings.rungs[0])


def next_step(last: Attempt, settings: CompactionSettings) -> Step | None:
    """What to try after this; None when it was accepted or nothing is left."""
    if last.outcome == "accepted":
        return None
    rungs = settings.rungs
    place = rungs.index(last.step.rung)
    if last.step.method == "abstractive":
        if last.outcome != "too long":
            return Step("extractive", last.step.rung)
        place += 1
        return Step("abstractive" if rungs[place] is not rungs[-1] else "extractive", rungs[place])
    return Step("extractive", rungs[place + 1]) if place + 1 < len(rungs) else None


def most_tokens(step: Step, source_tokens: int) -> int:
    """What a summary may cost."""
    limit = step.rung.limit(source_tokens) * (OVERSHOOT if step.method == "abstractive" else 1)
    return min(limit, source_tokens - 1)


def judge(
    step: Step, summary: str, tokens: int, source_tokens: int, align: float, settings: CompactionSettings
) -> Outcome:
    """What to make of a summary of so many tokens."""
    if not any(map(str.isalnum, summary)):
        return "empty"
    if tokens > most_tokens(step, source_tokens):
        return "too long"
    return "accepted" if accepted(step.method, align, settings) else "off the mark"


def climb(attempt: Callable[[Step], Attempt], settings: CompactionSettings, *, model: bool) -> Climb:
    """Try step after step until one is accepted or none is left."""
    made: list[Attempt] = []
    step: Step | None = first_step(settings, model)
    while step is not None:
        made.append(attempt(step))
        step = next_step(made[-1], settings)
    return Climb(tuple(made))
