"""Work in the background that leaves the foreground its pace.

A thread that computes keeps Python's interpreter lock for 5 ms at a time, and storing a turn needs the lock several
times over. Law: while any such work runs, threads take turns ten times as often; afterwards as before.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

_TURN_S = 0.0005
_lock = threading.Lock()
_running: list[float] = []
"""The interval that was in force before each piece of work that runs."""


@contextmanager
def nimble() -> Generator[None]:
    with _lock:
        _running.append(sys.getswitchinterval())
        sys.setswitchinterval(min(_running[0], _TURN_S))
    try:
        yield
    finally:
        with _lock:
            before = _running[0]
            _running.pop()
            if not _running:
                sys.setswitchinterval(before)
