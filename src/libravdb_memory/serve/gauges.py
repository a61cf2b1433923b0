"""Figures about the store, the models, the queues and the process, read when somebody asks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from libravdb_memory import __version__
from libravdb_memory.serve.dispatch import Dispatcher
from libravdb_memory.serve.exposition import Family, Sample, by_label, gauge
from libravdb_memory.serve.service import Service
from libravdb_memory.spent import Spent

if TYPE_CHECKING:
    from libravdb_memory.memory import Status

_STARTED_S = time.time()


_OF_STORE: tuple[tuple[str, str, Callable[[Status], float]], ...] = (
    ("store_bytes", "Bytes of the store on disk.", lambda now: now.store.bytes_on_disk),
    ("store_records", "Records in the store.", lambda now: now.store.records),
    ("store_namespaces", "Users with stored turns.", lambda now: now.namespaces),
    ("store_turns", "Turns that are stored.", lambda now: now.turns),
    ("store_summaries", "Summaries that are stored.", lambda now: now.summaries),
    ("store_vector_bytes", "Bytes of vectors held in memory.", lambda now: now.store.resident_vector_bytes),
    ("gate_judged", "User turns that the gate has judged.", lambda now: now.gate.judged),
    ("gate_durable", "User turns that became durable.", lambda now: now.gate.durable),
    ("gate_regretted", "Refused turns that a later question wanted.", lambda now: now.gate.regretted),
    ("indexing_pending", "Texts that wait to be embedded.", lambda now: now.indexing.pending),
    ("indexing_unembeddable", "Texts that the model refused.", lambda now: now.indexing.unembeddable),
    ("indexing_failing", "1 while embedding stands still.", lambda now: int(now.indexing.failure is not None)),
    ("compaction_waiting", "Sessions that wait to be compacted.", lambda now: now.compaction.waiting),
    ("compaction_failing", "1 when the last compaction failed.", lambda now: int(now.compaction.failure is not None)),
    ("model_ready", "1 once the embedding model is loaded.", lambda now: int(now.model_ready)),
    ("searches_by_meaning", "0 while the store waits to be re-embedded.", lambda now: int(now.searches_by_meaning)),
)


_OF_MODEL: tuple[tuple[str, str, Callable[[Spent], int]], ...] = (
    ("calls", "Calls of the model that summarises, by compactions by themselves.", lambda spent: spent.calls),
    ("tokens_read", "Tokens that it read in these calls.", lambda spent: spent.tokens_in),
    ("tokens_written", "Tokens that it wrote in these calls.", lambda spent: spent.tokens_out),
)


def of_store(service: Service) -> Iterator[Family]:
    """Without samples while the store is being opened, so that nobody waits for it here."""
    ready = service.is_ready()
    now = service.memory.status() if ready else None
    sources = service.sources() if ready else ()
    failing = sum(source.failure is not None for source in sources)
    yield gauge("libravdb_ready", "0 while the store is being opened.", int(ready))
    yield gauge("libravdb_sources", "Roots that are watched.", len(sources))
    yield gauge("libravdb_sources_failing", "Watched roots that are not up to date.", failing)
    for name, help_text, read in _OF_STORE:
        yield Family(f"libravdb_{name}", "gauge", help_text, () if now is None else (Sample(read(now)),))
    for name, help_text, spent in _OF_MODEL:
        samples = () if now is None else (Sample(spent(now.compaction.spent)),)
        yield Family(f"libravdb_compaction_model_{name}_total", "counter", help_text, samples)


def of_queues(dispatcher: Dispatcher) -> Iterator[Family]:
    yield gauge("libravdb_calls_under_way", "Calls that were begun and not answered.", dispatcher.under_way)
    yield by_label(
        "libravdb_queue_length", "gauge", "Calls that wait for a thread.", "threads", dispatcher.waiting().items()
    )
    yield gauge("libravdb_queue_in_order", "Calls that wait for an earlier one of their session.", dispatcher.in_order)


def of_process() -> Iterator[Family]:
    """By the names that every Prometheus client uses."""
    yield Family(
        "libravdb_build_info", "gauge", "Always 1; the version is the label.", (Sample(1, (("version", __version__),)),)
    )
    yield gauge("process_start_time_seconds", "Start of the process, in seconds since 1970.", _STARTED_S)
    yield Family("process_cpu_seconds_total", "counter", "CPU time that was used.", (Sample(time.process_time()),))
    if (resident := resident_bytes(os.getpid())) is not None:
        yield gauge("process_resident_memory_bytes", "Resident memory.", resident)


def resident_bytes(pid: int) -> int | None:
    """None where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float | None:
    """None where the system does not tell."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(after_name[11]) + int(after_name[12])
    except (OSError, ValueError, IndexError):
        return None
    return ticks / os.sysconf("SC_CLK_TCK")
