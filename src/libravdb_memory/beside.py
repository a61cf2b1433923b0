"""Work done beside the embedding of a question: what does not need the vector need not wait for the model.

Law: a result is the same whether the work ran beside or in its turn; without threads (closed, or in a forked child) it
runs at once, so that a closed store is met before any model is.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from libravdb_memory.store.forking import abandon_in_children

T = TypeVar("T")
_THREADS = 4


class Beside:
    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(_THREADS, "libravdb-beside")
        abandon_in_children(self)

    def start(self, work: Callable[[], T]) -> Callable[[], T]:
        """Begin the work; call what is returned for its result."""
        pool = self._pool
        if pool is not None:
            return pool.submit(work).result
        done = work()
        return lambda: done

    def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()

    def abandon(self) -> None:
        self._pool = None
