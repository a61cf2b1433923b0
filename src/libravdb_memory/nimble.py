"""Work in the background that leaves the foreground its pace.

A thread that computes keeps Python's interpreter lock for 5 ms at a time, and storing a turn needs the lock several
times over; it keeps a processor, too, which storing a turn wants anew after each wait for the disk. Laws: while any
such work runs, threads take turns fifty times as often, and whoever is `prompt` gets a processor sooner where somebody
else keeps it; afterwards as before. The work itself is done by a thread that waits for a processor longer than others
do, unless every processor was wanted already: then it could wait for long while it holds a lock that they need. Who is
interrupted while waiting for it waits until it has given up. Where no thread can be had it is done where it is wanted.
"""

from __future__ import annotations

import contextvars
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

from libravdb_memory import slices
from libravdb_memory.engines.places import processors

T = TypeVar("T")

_TURN_S = 0.0001
_NICE = 10
_NOTICE_S = 0.1
"""An interrupt that comes just before a thread begins to wait goes unnoticed until it waits anew."""
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


@contextmanager
def prompt() -> Generator[None]:
    """What this thread does here is short, and somebody waits for it. Afterwards its slices are the usual ones."""
    asked = bool(_running) and slices.ask_for(slices.SHORT_S)
    try:
        yield
    finally:
        if asked:
            slices.ask_for(slices.USUAL_S)


def aside(work: Callable[[], T], give_up: Callable[[], None]) -> T:
    """What the work answers or raises, done by a thread of its own; `give_up` is to make it end soon.

    Events would do, were it not for interrupts: one that comes inside `Event.set` or `Event.wait` can leave the event
    locked for ever. A SimpleQueue has no such moment.
    """
    outcome: list[T] = []
    failure: list[BaseException] = []
    ended: list[bool] = []
    go, bell = SimpleQueue[bool](), SimpleQueue[None]()

    def run() -> None:
        if go.get():
            _go_behind_others()
            try:
                outcome.append(context.run(work))
            except BaseException as error:  # it is raised in the thread that waits
                failure.append(error)
        ended.append(True)
        bell.put(None)

    def until_ended() -> None:
        while not ended:
            with suppress(Empty):
                bell.get(timeout=_NOTICE_S)

    context = contextvars.copy_context()
    thread = threading.Thread(target=run, name="libravdb-aside", daemon=True)
    begun = False
    try:
        if not _has_started(thread):
            return work()
        begun = True  # an interrupt may come before the thread is known to have started: then nothing is done
        go.put(True)
        until_ended()
    except BaseException:
        give_up()
        go.put(False)
        if begun:
            until_ended()
        raise
    if failure:
        raise failure[0]
    return outcome[0]


def _has_started(thread: threading.Thread) -> bool:
    try:
        thread.start()
    except RuntimeError:  # there is none to be had
        return False
    return True


def _go_behind_others() -> None:
    """Linux has a niceness for each thread; it cannot be taken back, so this is for threads that end."""
    if sys.platform == "linux" and not _is_crowded():
        with suppress(OSError):
            mine = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, mine, max(os.getpriority(os.PRIO_PROCESS, mine), _NICE))


def go_behind_others() -> None:
    """For a process that shares no lock with anybody: all of it waits for a processor longer than others do, and gives
    its own to whoever wakes up there."""
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(max(0, _NICE - os.nice(0)))
    slices.ask_for(slices.LONG_S)


def _is_crowded() -> bool:
    """Whether in the last minute as many wanted a processor as there are; so it is taken to be where nobody knows."""
    try:
        return os.getloadavg()[0] >= processors()
    except OSError:
        return True
