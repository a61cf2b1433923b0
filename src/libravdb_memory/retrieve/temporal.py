"""Questions about time: select sets that cover the events, not the best items one by one.

    xi(q)  = min(weights of the temporal patterns in q / 1.5, 1), active from .3
    A(d)   = min(distinct date or time expressions / 3, 1)
    dPhi   = share of the question's event slots that d covers and the picks before it do not
    S_cov  = .6 S + .2 A + .2 dPhi;    S_proj = (1 - xi) S + xi S_cov

Picks are greedy, at most `k_cov`, and stop below .10. Laws: xi = 0 (or inactive) leaves the ranking exactly as it was;
every S_proj lies in [0, 1]; the result is a permutation of what was offered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from libravdb_memory.retrieve.dates import without_mentions
from libravdb_memory.retrieve.query import STOP_WORDS

ACTIVE_FROM = 0.3
SLOT_SIMILARITY = 0.50
MOST_SLOTS = 4
LEAST_PICK = 0.10
RECOVERY_SIMILARITY = 0.15
MOST_RECOVERED = 10
_SATURATION = 1.5
_RELEVANCE_SHARE, _ANCHOR_SHARE, _COVERAGE_SHARE = 0.6, 0.2, 0.2

_PATTERNS: tuple[tuple[float, re.Pattern[str]], ...] = tuple(
    (weight, re.compile(pattern, re.I))
    for weight, pattern in (
        (1.0, r"\bhow many (?:seconds|minutes|hours|days|nights|weeks|weekends|months|years)\b"),
        (0.9, r"\bhow long\b"),
        (0.8, r"\b(?:before|after)\b"),
        (0.8, r"\b(?:first|earlier|earliest)\b"),
        (0.7, r"\b(?:since|between)\b"),
        (0.7, r"\bwhen (?:did|was|were|had|has|have)\b"),
    )
)
_WORD = re.compile(r"[^\W_](?:[\w'’-]|\.(?=\w))*")
_NOT_EVENTS = STOP_WORDS | frozenset(
    "long many much day days week weeks month months year years hour hours minute minutes night nights time times "
    "first earlier earliest last later since between pass passed happen happened elapsed take took order came come "
    "went go start started finish finished".split()
)


@dataclass(frozen=True, slots=True)
class Pickable:
    """A ranked candidate: its score, its A(d), and its similarity to each event slot of the question."""

    score: float
    anchors: float
    slots: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Pick:
    index: int
    score: float
    gain: float


def temporal_strength(question: str) -> float:
    """xi: how much the question is about time."""
    return min(sum(weight for weight, pattern in _PATTERNS if pattern.search(question)) / _SATURATION, 1.0)


def event_slots(question: str) -> tuple[str, ...]:
    """At most four noun-phrase spans: runs of telling words, in order, dates taken out."""
    question = without_mentions(question, " . ")
    slots: list[str] = []
    run: list[str] = []
    position = 0
    for word in _WORD.finditer(question):
        gap = question[position : word.start()]
        if run and (gap.strip() or word.group().lower() in _NOT_EVENTS):
            slots.append(" ".join(run))
            run = []
        if word.group().lower() not in _NOT_EVENTS:
            run.append(word.group())
        position = word.end()
    if run:
        slots.append(" ".join(run))
    return tuple(dict.fromkeys(slots))[:MOST_SLOTS]


def select(candidates: Sequence[Pickable], strength: float, k_cov: int) -> tuple[Pick, ...]:
    """The order in which to offer the candidates: picks that cover the events first, then the rest by score."""
    plain = tuple(Pick(index, candidate.score, 0.0) for index, candidate in enumerate(candidates))
    if strength < ACTIVE_FROM:
        return plain
    picks: list[Pick] = []
    covered: set[int] = set()
    left = set(range(len(candidates)))
    while left and len(picks) < k_cov:
        best = max((_project(candidates[index], index, covered, strength) for index in left), key=_by_score)
        if best.score < LEAST_PICK:
            break
        picks.append(best)
        left.discard(best.index)
        covered |= _covered_by(candidates[best.index])
    return (*picks, *(pick for pick in plain if pick.index in left))


def _project(candidate: Pickable, index: int, covered: set[int], strength: float) -> Pick:
    fresh = len(_covered_by(candidate) - covered)
    gain = fresh / len(candidate.slots) if candidate.slots else 0.0
    coverage = _RELEVANCE_SHARE * candidate.score + _ANCHOR_SHARE * candidate.anchors + _COVERAGE_SHARE * gain
    return Pick(index, min((1.0 - strength) * candidate.score + strength * coverage, 1.0), gain)


def _covered_by(candidate: Pickable) -> set[int]:
    return {slot for slot, similarity in enumerate(candidate.slots) if similarity >= SLOT_SIMILARITY}


def _by_score(pick: Pick) -> tuple[float, int]:
    return pick.score, -pick.index
