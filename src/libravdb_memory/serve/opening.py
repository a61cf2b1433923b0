"""The store of a daemon, while it is being opened and after.

Laws: whatever needs the store waits until it is open; nothing else does. An opening that fails is told to all who wait,
and to those who come later; one that was given up is told as the end of the daemon.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from libravdb_memory.errors import StoreClosedError
from libravdb_memory.serve.service import Opened

_LOOK_S = 0.02


class Opening:
    """`make` opens the store, in a thread of its own; `path` is told to those who come too late."""

    def __init__(self, make: Callable[[], Opened], path: Path) -> None:
        self._make = make
        self._path = path
        self._lock = threading.Lock()
        self._answerable = threading.Event()
        self._ended = threading.Event()
        self._opened: Opened | None = None
        self._then: list[Callable[[], None]] = []
        self.failure: BaseException | None = None

    def start(self, patience_s: float, owned: Callable[[], bool]) -> None:
        """Most stores are open in a moment, and what is wrong with others is best told before anybody connects: a
        failure within this time, or before the store is ours, is raised here."""
        threading.Thread(target=self._run, name="libravdb-opening", daemon=True).start()
        ended = self._ended.wait(patience_s)
        while not ended and not owned():
            ended = self._ended.wait(_LOOK_S)
        if ended and self.failure is not None:
            raise self.failure

    @property
    def is_ready(self) -> bool:
        return self._opened is not None

    def opened(self) -> Opened:
        """Once it is open."""
        if (opened := self._opened) is not None:
            return opened
        self._answerable.wait()
        if (opened := self._opened) is not None:
            return opened
        raise self.failure or StoreClosedError(self._path)

    def give_up(self) -> None:
        """Whoever waits is told now, whatever becomes of it."""
        self._answerable.set()

    def then(self, tell: Callable[[], None]) -> None:
        """Call this when the opening has ended, well or not."""
        with self._lock:
            if not self._ended.is_set():
                self._then.append(tell)
                return
        tell()

    def outcome(self) -> Opened | None:
        """What was opened, once the attempt has ended, also where it was given up."""
        self._ended.wait()
        return self._opened

    def _run(self) -> None:
        try:
            self._opened = self._make()
        except BaseException as error:  # the thread's outermost frame; `start` or `opened` raises it
            self.failure = error
        with self._lock:
            self._ended.set()
        self._answerable.set()
        for tell in self._then:
            tell()
