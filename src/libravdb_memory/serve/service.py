"""What the handlers of calls may use. No sockets, no coroutines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from libravdb_memory.config import Config
from libravdb_memory.journal import Journal
from libravdb_memory.memory import Memory
from libravdb_memory.serve.metrics import Metrics
from libravdb_memory.sources.watch import WatchState
from libravdb_memory.store.protocol import Store


@dataclass(frozen=True, slots=True)
class Service:
    """`now_ms` is the clock; `stopping` is set when the daemon drains; `sources` tells of each watched one."""

    memory: Memory
    store: Store
    journal: Journal
    config: Config
    now_ms: Callable[[], int]
    stopping: threading.Event = field(default_factory=threading.Event)
    metrics: Metrics = field(default_factory=Metrics)
    sources: Callable[[], Sequence[WatchState]] = tuple
