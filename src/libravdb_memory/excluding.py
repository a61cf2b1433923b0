"""Erasing and compaction keep out of each other's way at the moment of writing.

A compaction reads turns, works on them for as long as a model takes, and writes what came of it. Law: what it read
before an erasure is never written after it. Nobody waits for a model: the erasure goes ahead, and the compaction finds
that it was overtaken.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager


class OvertakenError(Exception):
    """Something was erased since the work began."""


class Excluding:
    """Safe to use from many threads."""

    def __init__(self) -> None:
        self._writing = threading.Lock()
        self._erasures = 0

    @property
    def epoch(self) -> int:
        """To be read before anything else is."""
        return self._erasures

    @contextmanager
    def erasing(self) -> Generator[None]:
        """Counted at both ends: who begins to read meanwhile may still see what goes."""
        with self._writing:
            self._erasures += 1
            try:
                yield
            finally:
                self._erasures += 1

    @contextmanager
    def writing(self, epoch: int) -> Generator[None]:
        """Raises OvertakenError when something was erased since that epoch."""
        with self._writing:
            if epoch != self._erasures:
                raise OvertakenError
            yield
