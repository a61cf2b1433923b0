"""Compactors for a memory that works with something of the test's own."""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compacting import Compactor, newest_rules
from libravdb_memory.compacting.making import Maker
from libravdb_memory.engines.summarising.protocol import Summariser
from libravdb_memory.memory import Memory

C = TypeVar("C", bound=Compactor)


def compactor_of(
    memory: Memory, model: Summariser | None, kind: type[C], settings: CompactionSettings | None = None
) -> C:
    """One in this process, with this model or with extracts alone."""
    settings, embedder = settings or memory._config.compaction, memory._embedder
    maker = Maker(embedder, memory._counter, settings, model, partial(newest_rules, memory._store))
    space, assembly = embedder.space.fingerprint, memory._config.assembly
    return kind(memory._store, memory._counter, settings, assembly, memory._excluding, maker, space)


def maker_of(memory: Memory) -> Maker:
    maker = memory._compactor()._parts.maker
    assert isinstance(maker, Maker)
    return maker
