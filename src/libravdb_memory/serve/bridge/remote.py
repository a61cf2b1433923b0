"""The library as a command sees it, whose calls are run by a daemon.

Law: a method here has the signature of the one it stands for, because it is made from it; what is not listed here
cannot be called from outside. Of its progress a call tells nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from types import TracebackType
from typing import IO, Any, Concatenate, ParamSpec, Self, TypeAlias, TypeVar, get_type_hints

from libravdb_memory.errors import StoreError
from libravdb_memory.identity import Json
from libravdb_memory.memory import Memory
from libravdb_memory.portability import ImportReport, export_to
from libravdb_memory.serve.bridge.codec import AS_THEY_ARE, WireError, from_wire, to_wire
from libravdb_memory.serve.bridge.importing import import_through
from libravdb_memory.serve.bridge.keeping import Keeping
from libravdb_memory.serve.bridge.line import Line
from libravdb_memory.serve.bridge.tending import Tending
from libravdb_memory.store.protocol import Progress

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
LIBRARY, LIBRARY_SLOW = "library", "library_slow"
"""The daemon's methods for calls; long work keeps nobody waiting."""
_PROGRESS = "progress"


@dataclass(frozen=True)
class LibraryCall:
    """A method of the library that may be called from outside; `of` is what it is a method of."""

    of: type[Any]
    function: Callable[..., Any]
    slow: bool

    @property
    def name(self) -> str:
        return f"{self.of.__name__}.{self.function.__name__}"

    @cached_property
    def hints(self) -> Mapping[str, Any]:
        names = dict(AS_THEY_ARE)
        if self.function is Memory.compact:  # imports much that nothing else needs
            from libravdb_memory.compacting import Compaction

            names["Compaction"] = Compaction
        if self.function is Memory.explain_gate:
            from libravdb_memory.gate.score import Decision

            names["Decision"] = Decision
        return get_type_hints(self.function, localns=names)

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def ask(self, line: Line, arguments: Mapping[str, object]) -> Any:
        told: dict[str, Json] = {name: to_wire(self.hints[name], value) for name, value in arguments.items()}
        answer = line.ask(LIBRARY_SLOW if self.slow else LIBRARY, {"call": self.name, "arguments": told})
        try:
            return from_wire(self.hints["return"], answer["value"])
        except (WireError, KeyError, TypeError) as error:
            raise StoreError(
                f"the daemon (process {line.peer.pid}) answers like another version: {error}",
                "restart it: 'libravdb daemon stop', then 'libravdb daemon start'",
            ) from error


class Remote:
    def __init__(self, line: Line) -> None:
        self.line = line


def _verb(
    of: type[S], function: Callable[Concatenate[S, P], T], *, slow: bool = False
) -> Callable[Concatenate[Remote, P], T]:
    call = LibraryCall(of, function, slow)

    def method(remote: Remote, /, *args: P.args, **named: P.kwargs) -> T:
        given = call.signature.bind(remote, *args, **named).arguments
        for own in ("self", _PROGRESS):
            given.pop(own, None)
        answer: T = call.ask(remote.line, given)
        return answer

    update_wrapper(method, function)
    CALLS[call.name] = call
    return method


CALLS: dict[str, LibraryCall] = {}
"""Every call that may be made from outside, by its name."""


class RemoteMemory(Remote):
    ingest = _verb(Memory, Memory.ingest)
    search = _verb(Memory, Memory.search)
    get = _verb(Memory, Memory.get)
    original = _verb(Memory, Memory.original)
    load_document = _verb(Memory, Memory.load_document)
    remove_document = _verb(Memory, Memory.remove_document)
    documents = _verb(Memory, Memory.documents)
    context = _verb(Memory, Memory.context)
    why = _verb(Memory, Memory.why)
    why_not = _verb(Memory, Memory.why_not)
    replay = _verb(Memory, Memory.replay)
    receipts = _verb(Memory, Memory.receipts)
    explain_gate = _verb(Memory, Memory.explain_gate)
    compact = _verb(Memory, Memory.compact, slow=True)
    expand = _verb(Memory, Memory.expand)
    history = _verb(Memory, Memory.history)
    guidance = _verb(Memory, Memory.guidance)
    erase = _verb(Memory, Memory.erase, slow=True)
    wait = _verb(Memory, Memory.wait)
    status = _verb(Memory, Memory.status)
    verify = _verb(Memory, Memory.verify, slow=True)
    reindex = _verb(Memory, Memory.reindex, slow=True)
    _import = _verb(Memory, Memory.import_, slow=True)

    def export(self, out: IO[str], progress: Progress | None = None) -> int:
        return export_to(out, RemoteKeeping(self.line), progress)

    def import_(self, lines: Iterable[str], progress: Progress | None = None) -> ImportReport:
        return import_through(self._import, lines, progress)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """What is open is the daemon's."""


class RemoteKeeping(Remote):
    sessions = _verb(Keeping, Keeping.sessions)
    session = _verb(Keeping, Keeping.session)
    expand = _verb(Keeping, Keeping.expand)
    record = _verb(Keeping, Keeping.record)
    census = _verb(Keeping, Keeping.census)
    census_of_turn = _verb(Keeping, Keeping.census_of_turn)
    outcomes = _verb(Keeping, Keeping.outcomes)
    judgements = _verb(Keeping, Keeping.judgements)
    journal = _verb(Keeping, Keeping.journal)
    status = _verb(Keeping, Keeping.status)
    verify = _verb(Keeping, Keeping.verify, slow=True)
    backup = _verb(Keeping, Keeping.backup, slow=True)
    rebuild_indexes = _verb(Keeping, Keeping.rebuild_indexes, slow=True)
    collections = _verb(Keeping, Keeping.collections)
    page = _verb(Keeping, Keeping.page)
    fetch = _verb(Keeping, Keeping.fetch)
    edges = _verb(Keeping, Keeping.edges)
    all_marks = _verb(Keeping, Keeping.all_marks)


class RemoteTending(Remote):
    promote = _verb(Tending, Tending.promote)
    sources = _verb(Tending, Tending.sources)
    scan = _verb(Tending, Tending.scan, slow=True)


AnyMemory: TypeAlias = Memory | RemoteMemory
AnyKeeping: TypeAlias = Keeping | RemoteKeeping
AnyTending: TypeAlias = Tending | RemoteTending
