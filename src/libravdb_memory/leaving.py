"""Memories that are still open when the program ends: each is closed then, as if the program had done so.

Laws: a program that forgets `close` ends with its own exit code and without a word. No thread of a memory is inside a
model when Python takes the interpreter away from its threads, for that would end the program by a signal. Ending takes
no longer than a bound, whatever the work in the background waits for. A forked child closes nothing of its parent's.
"""

from __future__ import annotations

import atexit
import importlib
import logging
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from libravdb_memory.store.forking import abandon_in_children

__all__ = ["Ending", "closed_at_exit", "closed_before"]

_log = logging.getLogger(__name__)
_PATIENCE_S = 10.0
"""For all memories together. Loading a model takes a second or two; an endpoint may take a minute."""


class Ending:
    """How one memory ends; it keeps this, and this goes with it. `ease` is to begin nothing more that happens by
    itself, without waiting for anything; `leave` is to close, and waits for nothing that takes longer than so many
    seconds."""

    def __init__(self, ease: Callable[[], object], leave: Callable[[float], object]) -> None:
        self.ease = ease
        self.leave = leave


class _Open:
    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._endings: weakref.WeakSet[Ending] = weakref.WeakSet()

    def add(self, ending: Ending) -> None:
        abandon_in_children(self)
        with self._guard:
            self._endings.add(ending)

    def discard(self, ending: Ending) -> None:
        with self._guard:
            self._endings.discard(ending)

    def abandon(self) -> None:
        """In a forked child: they are its parent's."""
        self._guard = threading.Lock()
        self._endings = weakref.WeakSet()

    def ease(self) -> None:
        for ending in self._listed():
            ending.ease()

    def leave(self) -> None:
        patience_ends = time.monotonic() + _PATIENCE_S
        for ending in self._listed():
            try:
                ending.leave(max(patience_ends - time.monotonic(), 0.0))
            except KeyboardInterrupt:  # whoever interrupts has waited for long enough
                return
            except Exception as error:  # the program ends, and nobody is left to raise it to
                _log.warning("a memory was not closed: %s", error)

    def _listed(self) -> list[Ending]:
        with self._guard:
            return list(self._endings)


_open = _Open()


def closed_at_exit(ease: Callable[[], object], leave: Callable[[float], object]) -> Ending:
    ending = Ending(ease, leave)
    _open.add(ending)
    return ending


def closed_before(ending: Ending) -> None:
    """It is closed, or about to be, by whoever opened it."""
    _open.discard(ending)


atexit.register(_open.leave)
importlib.import_module("concurrent.futures.thread")  # it stops all pools at the end; what is told later comes before
_before_pools: Any = getattr(threading, "_register_atexit", None)
"""Once pools are stopped a compaction that goes on would only fail, and what it gave them is waited for."""
if _before_pools is not None:
    with suppress(RuntimeError):  # the program is about to end already
        _before_pools(_open.ease)
