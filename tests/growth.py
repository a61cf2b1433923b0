"""How the time of a function grows with the length of its text, measured so that a busy machine hits all alike."""

from __future__ import annotations

import time
from collections.abc import Callable

_EIGHTFOLD_AND_ROOM = 40
"""Eight times the length; growth with the square would be 64-fold."""
_LEAST_S = 1e-4


def grows_with_length(work: Callable[[str], object], unit: str, length: int) -> bool:
    """Whether a text eight times as long takes no more than that, with room for noise."""
    few, many = (unit * (size // len(unit)) for size in (length, 8 * length))
    pairs = [(_seconds(work, few), _seconds(work, many)) for _ in range(5)]
    small, large = (min(times) for times in zip(*pairs, strict=True))
    return large < _EIGHTFOLD_AND_ROOM * max(small, _LEAST_S)


def _seconds(work: Callable[[str], object], text: str) -> float:
    started = time.thread_time()
    work(text)
    return time.thread_time() - started
