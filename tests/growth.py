"""What a function costs, and how that grows with the length of its text, measured so that a busy machine fails nothing.

A busy machine only makes a run slower. So what is short is measured often, and its quickest run sets the bound; of the
runs on what is long one within the bound is proof, and the rest need not be made.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_EIGHTFOLD_AND_ROOM = 40
"""Eight times the length; growth with the square would be 64-fold."""
_LEAST_S = 1e-4
_RUNS = 7


def grows_with_length(work: Callable[[str], object], unit: str, length: int) -> bool:
    """Whether a text eight times as long, of the same units, takes no more than that, with room for noise."""
    few, many = (unit * (size // len(unit)) for size in (length, 8 * length))
    return takes_eightfold(lambda: work(few), lambda: work(many))


def takes_eightfold(few: Callable[[], object], many: Callable[[], object]) -> bool:
    """Whether eight times the work takes no more than that, with room for noise."""
    return is_done_within(_EIGHTFOLD_AND_ROOM * max(least(few), _LEAST_S), many)


def is_done_within(bound_s: float, work: Callable[[], object]) -> bool:
    """Whether any of some runs takes less time than that."""
    return any(seconds(work) < bound_s for _ in range(_RUNS))


def least(work: Callable[[], object]) -> float:
    """Seconds of the quickest of some runs."""
    return min(seconds(work) for _ in range(_RUNS))


def seconds(work: Callable[[], object]) -> float:
    """Of the processor, for this thread alone."""
    started = time.thread_time()
    work()
    return time.thread_time() - started
