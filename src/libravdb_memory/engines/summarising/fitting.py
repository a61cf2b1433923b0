"""How turns that are too long together are brought within what a model can read.

Law: every turn stays, in order; only the longest lose something, from the middle, and say so with a mark. The result
costs at most the limit. This is about the model's view alone: what is stored is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from libravdb_memory.engines.windows import CHARACTERS_PER_TOKEN

MARK = " […] "
_FEWEST_TOKENS = 8
_HEAD = 2 / 3


def fitted(turns: Sequence[str], limit: int, count: Callable[[str], int]) -> list[str] | None:
    """The turns, shortened where needed; None when each would be left with next to nothing."""
    costs = [count(turn) for turn in turns]
    if sum(costs) <= limit:
        return list(turns)
    most = _waterline(costs, limit)
    if most < _FEWEST_TOKENS:
        return None
    return [turn if cost <= most else _shortened(turn, most, count) for turn, cost in zip(turns, costs, strict=True)]


def _waterline(costs: Sequence[int], limit: int) -> int:
    """The highest cost m for which the sum of min(cost, m) stays within the limit."""
    left = limit
    for place, cost in enumerate(ordered := sorted(costs)):
        share = left // (len(ordered) - place)
        if cost > share:
            return share
        left -= cost
    return ordered[-1]


def _shortened(turn: str, most: int, count: Callable[[str], int]) -> str:
    """Head and tail of the turn, as long as `most` allows."""
    low, high = 0, min(len(turn) - 1, most * CHARACTERS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_without_middle(turn, middle)) <= most:
            low = middle
        else:
            high = middle - 1
    return _without_middle(turn, low)


def _without_middle(turn: str, kept: int) -> str:
    head = int(kept * _HEAD)
    return turn[:head].rstrip() + MARK + turn[len(turn) - (kept - head) :].lstrip()
