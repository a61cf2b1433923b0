"""What a forked child inherits of something open: nothing that it may use.

Laws: a child never touches its parent's database connections or locks, which would corrupt the one and free the other;
it finds what it inherited closed, and opens its own. So every open thing that holds either is registered here, and
`abandon` lets go of it in the child without waiting for any lock: whoever held one at the fork is not there to free it.

Nothing inherited is ever freed in a child either: freeing a connection closes it, and that waits for a mutex of SQLite
which a thread that is gone may hold. The things of other threads go with their thread's state before any hook runs in
the child, hence they are held before the fork.

What one thread does once for all, such as importing a module, is never done in a child whose parent had begun it: there
its lock is held by a thread that is not there. Where that takes long, forks are held back meanwhile.
"""

from __future__ import annotations

import logging  # noqa: F401  # pyright: ignore[reportUnusedImport] - its hook must be there before ours
import os
import threading
import weakref
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol


class Inherited(Protocol):
    def abandon(self) -> None: ...


class HeldStill(Inherited, Protocol):
    def hold(self) -> None:
        """Just before a fork: keep what belongs to threads, and let none be added until `let_go`."""
        ...

    def let_go(self) -> None:
        """In the parent, after the fork."""
        ...


_guard = threading.RLock()  # held across a fork, so that the child inherits it whole
_open: weakref.WeakSet[Inherited] = weakref.WeakSet()
_still: weakref.WeakSet[HeldStill] = weakref.WeakSet()
_forking: list[Inherited] = []
_holding: list[HeldStill] = []
_abandoned: list[Inherited] = []  # kept for ever


def abandon_in_children(held: Inherited) -> None:
    with _guard:
        _open.add(held)


def hold_across_forks(held: HeldStill) -> None:
    """For what keeps things of threads; it is abandoned in children too."""
    with _guard:
        _open.add(held)
        _still.add(held)


@contextmanager
def forks_held_back() -> Generator[None]:
    """Whoever forks waits until this is done. It must not wait for another thread that may want something here, nor for
    a lock that a hook of somebody else takes first: such hooks run before ours if they were registered after it. Of the
    locks that imports want this is so for the one of `logging`."""
    with _guard:
        yield


def _before() -> None:
    _guard.acquire()
    _forking.extend(_open)
    _holding.extend(_still)
    for held in _holding:
        held.hold()


def _after_in_parent() -> None:
    for held in _holding:
        held.let_go()
    _holding.clear()
    _forking.clear()
    _guard.release()


def _after_in_child() -> None:
    _open.clear()
    _still.clear()
    _holding.clear()
    _abandoned.extend(_forking)
    inherited = _forking[:]
    _forking.clear()
    for held in inherited:
        held.abandon()
    _guard.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
