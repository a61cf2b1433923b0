"""What a forked child inherits of something open: nothing that it may use.

Law: a child never touches its parent's database connections or locks, which would corrupt the one and free the other;
it finds what it inherited closed, and opens its own. So every open thing that holds either is registered here, and
`abandon` lets go of it in the child without waiting for any lock: whoever held one at the fork is not there to free it.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Inherited(Protocol):
    def abandon(self) -> None: ...


_open: weakref.WeakSet[Inherited] = weakref.WeakSet()
_abandoned: list[Inherited] = []  # kept for ever: freeing them would close the parent's connections


def abandon_in_children(held: Inherited) -> None:
    _open.add(held)


def _abandon_all() -> None:
    inherited = list(_open)
    _open.clear()
    _abandoned.extend(inherited)
    for held in inherited:
        held.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
