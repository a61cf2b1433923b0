"""A process that dies by SIGKILL at one commit, chosen before: just before it, within its transaction, or right after.

Nothing is left to chance: what was committed before is known, and every kill hits work under way.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from typing import Any, Literal, NoReturn, TypeVar, get_args

from libravdb_memory import Memory
from libravdb_memory.namespaces import guided_namespace_of, summarised_namespace_of
from libravdb_memory.store.protocol import Commit, Erasure, Expect, Put, Remove, Selection, Write

Kind = Literal["turn", "compaction", "erasure", "indexing", "other"]
Moment = Literal["before", "within", "after"]
MOMENTS: tuple[Moment, ...] = get_args(Moment)
T = TypeVar("T")
Told = dict[str, Any]


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("alive after SIGKILL")


class Fate:
    """Watches the commits of a memory: tells of each that returned, and dies at the one of this kind that comes after
    `number` others. Within means: all is written, and SQLite is about to commit it."""

    def __init__(
        self, memory: Memory, kind: Kind, number: int, moment: Moment, tell: Callable[[Told], None] = lambda told: None
    ) -> None:
        self._kind, self._left, self._moment, self._tell = kind, number, moment, tell
        self._within = False
        store: Any = memory._store
        self._commit, self._erase = store.commit, store.erase
        store.commit, store.erase = self.commit, self.erase
        store._writer.call(lambda db: db.set_commit_hook(self._committing))

    def expect_indexing(self) -> None:
        """From here on the next commit of anybody is the fatal one, if it was to be one of these."""
        self._within = self._within or self._kind == "indexing"

    def commit(self, writes: Sequence[Write], *, may_wait: bool = False) -> Commit:
        if any(isinstance(write, Expect) for write in writes):
            kind: Kind = "compaction"
        else:
            kind = "turn" if any(isinstance(write, Put) and write.append_only for write in writes) else "other"
        told = _told_of(writes) if kind == "compaction" else {}
        return self._done(kind, lambda: self._commit(writes, may_wait=may_wait), told)

    def erase(self, selection: Selection) -> Erasure:
        told = {"erased": [[key.collection, key.group, key.id] for key in selection.keys]}
        return self._done("erasure", lambda: self._erase(selection), told)

    def _done(self, kind: Kind, act: Callable[[], T], told: Told) -> T:
        fatal = False
        if kind == self._kind:
            fatal, self._left = self._left == 0, self._left - 1
        if fatal and self._moment == "before":
            die()
        self._within = self._within or (fatal and self._moment == "within")
        done = act()
        if told:
            self._tell(told)
        if fatal:
            die()
        return done

    def _committing(self) -> bool:
        if self._within:
            die()
        return False


def _told_of(writes: Sequence[Write]) -> Told:
    put = [write.draft for write in writes if isinstance(write, Put)]
    removed = [write.key for write in writes if isinstance(write, Remove)]
    return {
        "summaries": [draft.id for draft in put if summarised_namespace_of(draft.collection) is not None],
        "guidance": [
            draft.metadata["source_turn_id"] for draft in put if guided_namespace_of(draft.collection) is not None
        ],
        "removed": [key.id for key in removed if summarised_namespace_of(key.collection) is not None],
    }
