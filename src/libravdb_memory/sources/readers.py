"""One reader for each root of the settings, and a single look at all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from libravdb_memory.masking import Masking
from libravdb_memory.sources.diaries import DiaryLoader
from libravdb_memory.sources.loader import Documents, Loader, forget_other_roots
from libravdb_memory.sources.report import Report
from libravdb_memory.sources.settings import Root, SourcesSettings
from libravdb_memory.store.protocol import Store


class Reading(Documents, Protocol):
    """What sources need of memory."""

    @property
    def store(self) -> Store: ...

    @property
    def masking(self) -> Masking: ...

    def stored_beside(self) -> None: ...


class Reader(Protocol):
    """Brings what changed in a root into memory, one pass at a time."""

    root: Root

    def run(self, stopping: Callable[[], bool] = ...) -> Report: ...


def readers_of(memory: Reading, settings: SourcesSettings) -> tuple[Reader, ...]:
    return tuple(
        DiaryLoader(root, memory.store, memory.masking, promoted=memory.stored_beside)
        if root.kind == "dreams"
        else Loader(root, memory)
        for root in settings.roots()
    )


def read_sources(memory: Reading, settings: SourcesSettings) -> dict[str, Report]:
    """Bring every root up to date, once; what was read from roots of before is forgotten. Reports by root."""
    forget_other_roots(memory, settings.roots())
    return {reader.root.name: reader.run() for reader in readers_of(memory, settings)}
