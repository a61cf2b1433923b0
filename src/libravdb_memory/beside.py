"""Work done beside the embedding of a question: what does not need the vector need not wait for the model.

Law: a result is the same whether the work ran beside or in its turn; without threads (closed, in a forked child, or
where the system gives none) it runs at once, so that a closed store is met before any model is.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import TypeVar

from libravdb_memory.store.forking import abandon_in_children

T = TypeVar("T")
_THREADS = 4


def begun(pool: ThreadPoolExecutor | None, work: Callable[[], T]) -> Callable[[], T]:
    """The work, begun by a thread of the pool, or done at once where it has none and can have none; call what is
    returned for the result."""
    refused: list[bool] = []

    def unless_refused() -> T:
        if refused:
            raise CancelledError
        return work()

    if pool is not None:
        try:
            return pool.submit(unless_refused).result
        except RuntimeError:  # it stands in the queue all the same, for whoever is free next
            refused.append(True)
    done = work()
    return lambda: done


class Beside:
    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(_THREADS, "libravdb-beside")
        abandon_in_children(self)

    def start(self, work: Callable[[], T]) -> Callable[[], T]:
        """Begin the work; call what is returned for its result."""
        return begun(self._pool, work)

    def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()

    def abandon(self) -> None:
        self._pool = None
