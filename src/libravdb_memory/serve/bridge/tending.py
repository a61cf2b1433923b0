"""What commands ask of an open memory beside its own verbs: dreams and sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import time_ns

from libravdb_memory.config import Config
from libravdb_memory.identity import Json
from libravdb_memory.memory import Memory
from libravdb_memory.namespaces import resolve_namespace
from libravdb_memory.sources.diary import Entry
from libravdb_memory.sources.dreams import Promotion, promote
from libravdb_memory.sources.readers import read_sources
from libravdb_memory.sources.report import Report
from libravdb_memory.sources.scan import Problem, is_gone
from libravdb_memory.sources.settings import Kind, SourcesSettings
from libravdb_memory.sources.watch import WatchState


@dataclass(frozen=True, slots=True)
class Source:
    """A root of the settings. `mode` is how it is watched, empty when nobody watches it; `problems` and `failure` are
    what the watcher found. Of a diary `documents` counts nothing."""

    name: str
    kind: Kind
    path: Path
    missing: bool
    documents: int
    mode: str = ""
    problems: tuple[Problem, ...] = ()
    failure: str | None = None


def sources_of(
    settings: SourcesSettings, documents: Mapping[Json, int], watched: Sequence[WatchState] = ()
) -> tuple[Source, ...]:
    """Every root, with what is known of it; `documents` counts them by root."""
    states = {state.root: state for state in watched}
    found: list[Source] = []
    for root in settings.roots():
        place, state = root.path.absolute(), states.get(root.name)
        source = Source(root.name, root.kind, place, is_gone(place), documents.get(root.name, 0))
        if state is not None:
            source = replace(source, mode=state.mode, problems=state.problems, failure=state.failure)
        found.append(source)
    return tuple(found)


class Tending:
    """`watched` tells of the roots that are watched."""

    def __init__(
        self, memory: Memory, config: Config, watched: Callable[[], Sequence[WatchState]] = tuple[WatchState, ...]
    ) -> None:
        self._memory = memory
        self._config = config
        self._watched = watched

    def promote(self, user: str, diary: str, entries: tuple[Entry, ...]) -> Promotion:
        """Make dream memory of the entries that are worth it, in the place of what that diary promoted before."""
        namespace = resolve_namespace(user)
        memory, now_ms = self._memory, time_ns() // 1_000_000
        done = promote(memory.store, memory.masking, namespace, diary, entries, now_ms)
        memory.stored_beside()
        return done

    def sources(self) -> tuple[Source, ...]:
        counts = Counter(facts.get("source_root") for facts in self._memory.sourced_documents().values())
        return sources_of(self._config.sources, counts, self._watched())

    def scan(self) -> dict[str, Report]:
        """Bring every root up to date, once."""
        return read_sources(self._memory, self._config.sources)
