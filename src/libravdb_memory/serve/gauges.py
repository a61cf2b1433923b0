"""Figures about the store, the models, the queues and the process, read when somebody asks."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from libravdb_memory import __version__
from libravdb_memory.serve.dispatch import Dispatcher
from libravdb_memory.serve.exposition import Family, Sample, by_label, gauge
from libravdb_memory.serve.service import Service

_STARTED_S = time.time()


def of_store(service: Service) -> Iterator[Family]:
    yield gauge("libravdb_ready", "0 while the store is being opened.", service.is_ready())
    if not service.is_ready():
        return
    now = service.memory.status()
    yield gauge("libravdb_store_bytes", "Bytes of the store on disk.", now.store.bytes_on_disk)
    yield gauge("libravdb_store_records", "Records in the store.", now.store.records)
    yield gauge("libravdb_store_namespaces", "Users with stored turns.", now.namespaces)
    yield gauge("libravdb_store_turns", "Turns that are stored.", now.turns)
    yield gauge("libravdb_store_summaries", "Summaries that are stored.", now.summaries)
    yield gauge("libravdb_store_vector_bytes", "Bytes of vectors held in memory.", now.store.resident_vector_bytes)
    yield by_label(
        "libravdb_gate_turns",
        "gauge",
        "Turns that the gate has judged, found durable, or came to regret.",
        "verdict",
        (("judged", now.gate.judged), ("durable", now.gate.durable), ("regretted", now.gate.regretted)),
    )
    yield gauge("libravdb_indexing_pending", "Texts that wait to be embedded.", now.indexing.pending)
    yield gauge("libravdb_indexing_unembeddable", "Texts that the model refused.", now.indexing.unembeddable)
    yield gauge("libravdb_indexing_failing", "1 while embedding stands still.", now.indexing.failure is not None)
    yield gauge("libravdb_model_ready", "1 once the embedding model is loaded.", now.model_ready)
    yield gauge("libravdb_searches_by_meaning", "0 while the store waits to be re-embedded.", now.searches_by_meaning)
    sources = service.sources()
    yield gauge("libravdb_sources", "Roots that are watched.", len(sources))
    yield gauge(
        "libravdb_sources_failing",
        "Watched roots that are not up to date.",
        sum(source.failure is not None for source in sources),
    )


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
