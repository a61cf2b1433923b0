"""What the handlers of calls may use. No sockets, no coroutines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from libravdb_memory.serve.jobs import Jobs
from libravdb_memory.serve.metrics import Metrics
from libravdb_memory.serve.signing import SignIns

if TYPE_CHECKING:  # a client needs the table of methods, and nothing of what they are carried out with
    from libravdb_memory.config import Config
    from libravdb_memory.journal import Journal
    from libravdb_memory.memory import Memory
    from libravdb_memory.sources.watch import WatchState
    from libravdb_memory.store.protocol import Store


@dataclass(frozen=True, slots=True)
class Opened:
    """An open store, and what lies upon it; `sources` tells of each watched one, `close` ends it all."""

    memory: Memory
    journal: Journal
    sources: Callable[[], Sequence[WatchState]]
    close: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Service:
    """`opened` waits until the store is open, and so do those read from it; `is_ready` tells. `now_ms` is the clock;
    `stopping` is set when the daemon drains; `http` is the address of its HTTP server, where there is one. `within` are
    the namespaces that the caller reaches, None for all of them."""

    opened: Callable[[], Opened]
    config: Config
    now_ms: Callable[[], int]
    is_ready: Callable[[], bool] = lambda: True
    stopping: threading.Event = field(default_factory=threading.Event)
    metrics: Metrics = field(default_factory=Metrics)
    http: str = ""
    jobs: Jobs = field(default_factory=Jobs)
    sign_ins: SignIns = field(default_factory=SignIns)
    within: frozenset[str] | None = None

    @classmethod
    def of(cls, memory: Memory, config: Config, now_ms: Callable[[], int]) -> Service:
        """Over a memory that is open."""
        from libravdb_memory.journal import Journal

        opened = Opened(memory, Journal(memory.store, config.serve.journal_entries), tuple, memory.close)
        return cls(lambda: opened, config, now_ms)

    def seen_by(self, within: frozenset[str] | None) -> Service:
        """The same, as a caller has it that reaches these namespaces."""
        return self if within is None else replace(self, within=within)

    @property
    def memory(self) -> Memory:
        return self.opened().memory

    @property
    def store(self) -> Store:
        return self.opened().memory.store

    @property
    def journal(self) -> Journal:
        return self.opened().journal

    def sources(self) -> Sequence[WatchState]:
        return self.opened().sources()
