"""Why an extract stands where a model is configured, and the words for it.

Laws: every reason is one of a few, with the figures that decided where there are any; what an engine says of its own
failure goes along as it is. A figure is told with as many digits as it takes to see on which side of its bound it lies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from libravdb_memory.compact.settings import CompactionSettings

Reason: TypeAlias = Literal[
    "low score",
    "no score",
    "of extracts",
    "not ready",
    "failed",
    "unusable",
    "too long",
    "off the mark",
    "empty",
]
NEVER_ASKED: frozenset[Reason] = frozenset({"low score", "no score", "of extracts"})
"""What says nothing about the model."""
AWAY: frozenset[Reason] = frozenset({"not ready", "failed"})
"""It gave no answer at all; asked again later, it may."""
_MOST_DIGITS = 6


@dataclass(frozen=True, slots=True)
class PassedOver:
    """`figure` is what was measured, `bound` what it should have kept to; `detail` says more about a failure, or which
    check an answer did not pass."""

    model: str
    reason: Reason
    figure: float | None = None
    bound: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Extracts:
    """So many extracts for one reason. The figures lie between `least` and `most`; `bound` is None where it was not the
    same for all."""

    model: str
    reason: Reason
    count: int
    least: float | None = None
    most: float | None = None
    bound: float | None = None
    detail: str = ""

    def words(self, *, named: bool = True) -> str:
        """Without the count; the model is named, or was just now."""
        name = self.model.partition(":")[2] or self.model
        it, its_answer = (name, f"the answer of {name}") if named else ("it", "its answer")
        why = f": {self.detail}" if self.detail else ""
        match self.reason:
            case "low score":
                scores = "score" if self.least == self.most else "scores"
                setting = "" if self.bound is None else ", which compaction.abstractive_from sets"
                return f"{it} was not asked, mean gate {scores} {self._figures('<')}{setting}"
            case "no score":
                return f"{it} was not asked, no turn has a gate score"
            case "of extracts":
                return f"{it} was not asked to fold extracts"
            case "not ready":
                return f"{it} was not ready{why}"
            case "failed":
                return f"{it} failed{why}"
            case "unusable":
                return f"{its_answer} cannot be used{why}"
            case "too long":
                return f"{its_answer} was too long, {self._figures('>')} tokens"
            case "off the mark":
                return f"{its_answer} was too far from the turns, {self._figures('<')}"
            case "empty":
                return f"{its_answer} says nothing"

    def _figures(self, than: str) -> str:
        digits = 0 if self.reason == "too long" else 2
        told = [_figure(value, self.bound, digits) for value in (self.least, self.most) if value is not None]
        span = " to ".join(dict.fromkeys(told))
        return span if self.bound is None else f"{span} {than} {_figure(self.bound, None, digits)}"


def unasked(model: str, scores: Iterable[float | None], settings: CompactionSettings) -> PassedOver:
    """Of turns that are not worth a model's time, by the mean of the scores that are known."""
    known = [score for score in scores if score is not None and math.isfinite(score)]
    if not known:
        return PassedOver(model, "no score")
    return PassedOver(model, "low score", math.fsum(known) / len(known), settings.abstractive_from)


def counted_extracts(many: Iterable[PassedOver]) -> tuple[Extracts, ...]:
    """By reason and detail, the most frequent first."""
    groups: dict[tuple[str, Reason, str], list[PassedOver]] = {}
    for each in many:
        groups.setdefault((each.model, each.reason, each.detail), []).append(each)
    counted = [_counted(group) for group in groups.values()]
    return tuple(sorted(counted, key=lambda extracts: -extracts.count))


def _counted(group: list[PassedOver]) -> Extracts:
    first = group[0]
    figures = [each.figure for each in group if each.figure is not None]
    return Extracts(
        first.model,
        first.reason,
        len(group),
        least=min(figures, default=None),
        most=max(figures, default=None),
        bound=first.bound if len({each.bound for each in group}) == 1 else None,
        detail=first.detail,
    )


def _figure(value: float, bound: float | None, digits: int) -> str:
    told = f"{value:.{digits}f}"
    while bound is not None and digits < _MOST_DIGITS and (float(told) < bound) != (value < bound):
        digits += 1
        told = f"{value:.{digits}f}"
    return told.replace("0.", ".", 1) if told.startswith(("0.", "-0.")) else told
