"""Work under way that others must be able to wait for.

Law: `wait_for_those_under_way` returns when everything that had begun before the call has ended; what begins later does
not delay it.
"""

from __future__ import annotations

import threading
from types import TracebackType


class UnderWay:
    """A context manager entered by each piece of work, from any number of threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._local = threading.local()
        self._begun: set[object] = set()

    def __enter__(self) -> None:
        token = self._local.token = object()
        with self._changed:
            self._begun.add(token)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._changed:
            self._begun.discard(self._local.token)
            self._changed.notify_all()

    def wait_for_those_under_way(self) -> None:
        with self._changed:
            awaited = set(self._begun)
            self._changed.wait_for(lambda: awaited.isdisjoint(self._begun))
