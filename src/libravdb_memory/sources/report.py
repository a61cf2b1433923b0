"""What a pass over a root found and did, and what it remembers of each file for the next one."""

from __future__ import annotations

from dataclasses import dataclass, field

from libravdb_memory.sources.reading import Stamp
from libravdb_memory.sources.scan import Problem

_AT_REST_NS = 2_000_000_000  # the coarsest clock of a file system: younger files may change without a new stamp


@dataclass(slots=True)
class Report:
    """What one pass did, by paths relative to the root; `moved` are pairs of old and new. `problems` are all that
    stand, not only new ones. `folders` are those to watch."""

    added: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    moved: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    removed: list[str] = field(default_factory=list[str])
    problems: tuple[Problem, ...] = ()
    documents: int = 0
    folders: tuple[str, ...] = ()
    missing: bool = False
    complete: bool = True

    @property
    def did_something(self) -> bool:
        return bool(self.added or self.changed or self.moved or self.removed)


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was when it was last read. `problem` says why its content is not in memory."""

    stamp: Stamp | None
    read_ns: int
    hash: str = ""
    problem: str = ""
    refused: bool = False

    def still_holds(self, stamp: Stamp) -> bool:
        return stamp == self.stamp and stamp.modified_ns < self.read_ns - _AT_REST_NS
