"""The exact recent tail: which raw turns stay together, and where the tail may begin.

A *bundle* is a run of turns that lose their meaning apart: a tool call with its results, a request with its response,
turns that carry one bundle id. Laws: a tail begins where a bundle begins; moving the beginning back to keep a bundle
whole moves it by at most one bundle, because request and response bind in pairs and never chain through a chat; a
tool call is never on one side and its result on the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""First and last index, both inclusive."""


@dataclass(frozen=True, slots=True)
class TailTurn:
    """A turn as the tail sees it; an id is unique in its session. `calls` are the tool calls it makes, `answers` those
    whose result it is."""

    id: str
    role: str
    text: str
    ts: int = 0
    speaker: str | None = None
    session: str = ""
    bundle: str | None = None
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()


def bundle_starts(turns: Sequence[TailTurn]) -> tuple[int, ...]:
    """For each turn, the index at which its bundle begins."""
    starts = list(range(len(turns)))
    for first, last in _merged(_spans(turns)):
        starts[first : last + 1] = [first] * (last + 1 - first)
    return tuple(starts)


def safe_starts(turns: Sequence[TailTurn]) -> tuple[int, ...]:
    """Every index at which a tail may begin, ascending."""
    return tuple(index for index, start in enumerate(bundle_starts(turns)) if index == start)


def base_start(turns: Sequence[TailTurn], least: int) -> int:
    """Where the tail of at least `least` turns begins, its first bundle kept whole."""
    if not turns or least <= 0:
        return len(turns)
    return bundle_starts(turns)[max(len(turns) - least, 0)]


def recent_start(turns: Sequence[TailTurn], prices: Sequence[int], least: int, target: int) -> int:
    """Where the longest tail of whole bundles begins whose prices add up to no more than the target; never after the
    base tail."""
    start, price = base_start(turns, least), 0
    allowed = set(safe_starts(turns))
    for index in reversed(range(len(turns))):
        price += prices[index]
        if price > target:
            break
        if index in allowed:
            start = min(start, index)
    return start


def _spans(turns: Sequence[TailTurn]) -> Iterator[Span]:
    yield from _requests(turns)
    yield from _tool_calls(turns)
    yield from _explicit(turns)


def _requests(turns: Sequence[TailTurn]) -> Iterator[Span]:
    for index, (turn, following) in enumerate(pairwise(turns)):
        if turn.role == "user" and following.role == "assistant":
            yield index, index + 1


def _tool_calls(turns: Sequence[TailTurn]) -> Iterator[Span]:
    callers: dict[str, int] = {}
    for index, turn in enumerate(turns):
        for call in turn.answers:
            if call in callers:
                yield callers[call], index
        callers.update(dict.fromkeys(turn.calls, index))


def _explicit(turns: Sequence[TailTurn]) -> Iterator[Span]:
    """Runs of one bundle id; the same id coming back later, after other turns, is another bundle."""
    first = 0
    for index, turn in enumerate(turns):
        if turn.bundle is None or turn.bundle != turns[first].bundle:
            first = index
        elif index > first:
            yield first, index


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Overlapping spans as one. Spans that only touch stay apart."""
    current: Span | None = None
    for first, last in sorted(spans):
        if current is not None and first <= current[1]:
            current = (current[0], max(current[1], last))
            continue
        if current is not None:
            yield current
        current = (first, last)
    if current is not None:
        yield current
