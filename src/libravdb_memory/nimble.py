"""Work in the background that leaves the foreground its pace.

A thread that computes keeps Python's interpreter lock for 5 ms at a time, and storing a turn needs the lock several
times over; it keeps a processor, too, which storing a turn wants anew after each wait for the disk. Laws: while any
such work runs, threads take turns fifty times as often; afterwards as before. The work itself is done by a thread that
waits for a processor longer than others do, unless every processor was wanted already: then it could wait for long
while it holds a lock that they need. Who is interrupted while waiting for it waits until it has given up.
"""

from __future__ import annotations

import contextvars
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TypeVar

T = TypeVar("T")

_TURN_S = 0.0001
_NICE = 10
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


def aside(work: Callable[[], T], give_up: Callable[[], None]) -> T:
    """What the work answers or raises, done by a thread of its own; `give_up` is to make it end soon."""
    outcome: list[T] = []
    failure: list[BaseException] = []
    wanted, go, ended = threading.Event(), threading.Event(), threading.Event()

    def run() -> None:
        go.wait()
        if wanted.is_set():
            _go_behind_others()
            try:
                outcome.append(context.run(work))
            except BaseException as error:  # it is raised in the thread that waits
                failure.append(error)
        ended.set()

    context = contextvars.copy_context()
    thread = threading.Thread(target=run, name="libravdb-aside", daemon=True)
    try:
        thread.start()
        wanted.set()  # an interrupt may come before the thread is known to have started: then nothing is done
        go.set()
        ended.wait()
    except BaseException:
        give_up()
        go.set()
        if wanted.is_set():
            ended.wait()
        raise
    if failure:
        raise failure[0]
    return outcome[0]


def _go_behind_others() -> None:
    """Linux has a niceness for each thread; it cannot be taken back, so this is for threads that end."""
    if sys.platform == "linux" and not _is_crowded():
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


def _is_crowded() -> bool:
    """Whether in the last minute as many wanted a processor as there are; so it is taken to be where nobody knows."""
    try:
        return os.getloadavg()[0] >= (os.cpu_count() or 1)
    except OSError:
        return True
