"""How the time of a function grows with the length of its text, measured so that a busy machine fails nothing.

A busy machine only makes a run slower. So the short text is measured often, and its quickest run sets the bound; of the
runs on the long text one within the bound is proof, and the rest need not be made.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_EIGHTFOLD_AND_ROOM = 40
"""Eight times the length; growth with the square would be 64-fold."""
_LEAST_S = 1e-4
_RUNS = 7


def grows_with_length(work: Callable[[str], object], unit: str, length: int) -> bool:
    """Whether a text eight times as long takes no more than that, with room for noise."""
    few, many = (unit * (size // len(unit)) for size in (length, 8 * length))
    small = min(_seconds(work, few) for _ in range(_RUNS))
    return is_within(_EIGHTFOLD_AND_ROOM * max(small, _LEAST_S), lambda: _seconds(work, many))


def is_within(bound: float, measured: Callable[[], float]) -> bool:
    """Whether any of some runs takes less time than that."""
    return any(measured() < bound for _ in range(_RUNS))


def _seconds(work: Callable[[str], object], text: str) -> float:
    started = time.thread_time()
    work(text)
    return time.thread_time() - started
