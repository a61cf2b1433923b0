"""One thread for work that nobody waits for.

Law: jobs run one after another in the order given, some not before their time has come; the thread starts with the
first job and keeps its place (a database reader belongs to a thread); `close` asks the running job to stop and waits
for it, but not for ever.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

from libravdb_memory import slices

_log = logging.getLogger(__name__)
_JOIN_S = 5.0


class Background:
    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        self._jobs: deque[Callable[[], None]] = deque()
        self._later: list[tuple[float, Callable[[], None]]] = []
        self._thread: threading.Thread | None = None
        self._busy = False
        self._closed = False

    @property
    def closing(self) -> bool:
        """For long jobs to look at: True when they should end."""
        return self._closed

    def submit(self, job: Callable[[], None]) -> bool:
        """Jobs must not raise. False when it is dropped: after `close`, or where no thread can be had."""
        with self._changed:
            if self._closed or not self._has_thread():
                return False
            self._jobs.append(job)
            self._changed.notify_all()
            return True

    def submit_later(self, job: Callable[[], None], pause_s: float) -> bool:
        """As `submit`, but not before so long."""
        with self._changed:
            if self._closed or not self._has_thread():
                return False
            self._later.append((time.monotonic() + pause_s, job))
            self._changed.notify_all()
            return True

    def settle(self, timeout_s: float) -> bool:
        """Wait until nothing is to be done now; False when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._busy and not self._jobs, timeout_s)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._jobs.clear()
            self._later.clear()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_JOIN_S)

    def _has_thread(self) -> bool:
        if self._thread is None:
            thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                _log.warning("%s cannot begin: %s", self._name, error)
                return False
            self._thread = thread
        return True

    def _run(self) -> None:
        slices.ask_for(slices.USUAL_S)  # whoever needed this thread first may have been in a hurry
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                while not self._closed and not self._take_due():
                    self._changed.wait(self._pause_s())
                if self._closed:
                    return
                job = self._jobs.popleft()
                self._busy = True
            job()

    def _take_due(self) -> bool:
        """Whether there is something to do, now that some of what was for later may be due."""
        now = time.monotonic()
        self._jobs.extend(job for due, job in self._later if due <= now)
        self._later = [(due, job) for due, job in self._later if due > now]
        return bool(self._jobs)

    def _pause_s(self) -> float | None:
        return max(min(due for due, _ in self._later) - time.monotonic(), 0) if self._later else None
