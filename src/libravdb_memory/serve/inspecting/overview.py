"""overview, ready: how everything is doing, at a glance."""

from __future__ import annotations

import os
import time
from typing import Any

from libravdb_memory import __version__
from libravdb_memory.identity import Json
from libravdb_memory.serve.forms import form
from libravdb_memory.serve.methods import NOTHING, Method, Nothing, Result
from libravdb_memory.serve.metrics import BOUNDS_S, Latency
from libravdb_memory.serve.results import health as results
from libravdb_memory.serve.service import Service

_BEGAN_S = time.monotonic()
_NEWEST_HINTS = 20


def overview(service: Service, _: Nothing) -> Result:
    from libravdb_memory.serve.gauges import resident_bytes

    now, config = service.memory.status(), service.config
    counts: dict[str, Json] = {
        "namespaces": now.namespaces,
        "turns": now.turns,
        "summaries": now.summaries,
        "documents": _records(service, "document"),
        "records": now.store.records,
        "edges": now.store.edges,
        "receipts": sum(info.count for info in service.store.collections("receipt:")),
    }
    return {
        "version": __version__,
        "pid": os.getpid(),
        "path": now.path,
        "http": service.http or None,
        "uptimeS": time.monotonic() - _BEGAN_S,
        "counts": counts,
        "gate": {**form(now.gate), "threshold": config.gating.threshold},
        "sizes": {
            "diskBytes": now.store.bytes_on_disk,
            "vectorBytes": now.store.resident_vector_bytes,
            "residentBytes": resident_bytes(os.getpid()),
        },
        "indexing": form(now.indexing),
        "indexes": form(now.store.indexes),
        "model": {"label": now.model, "ready": now.model_ready, "searchesByMeaning": now.searches_by_meaning},
        "compaction": form(now.compaction),
        "latency": {"boundsS": list(BOUNDS_S), "methods": [_latency_form(each) for each in _busiest(service)]},
        "failures": dict[str, Json](service.metrics.failures()),
        "journal": [
            {"id": entry.id, "sessionId": entry.session, "ts": entry.ts, "hook": entry.hook}
            for entry in reversed(service.journal.entries(limit=_NEWEST_HINTS))
        ],
        "sources": form(service.sources()),
        "jobs": [form(job) for job in service.jobs.all()],
        "defaults": {"budget": config.assembly.startup_budget, "tailTurns": config.assembly.tail_turns},
    }


def _records(service: Service, name: str) -> int:
    return sum(info.count for info in service.store.collections(name) if info.name == name)


def _busiest(service: Service) -> list[Latency]:
    return sorted(service.metrics.latencies(), key=lambda each: -sum(each.buckets))


def _latency_form(latency: Latency) -> dict[str, Json]:
    count = sum(latency.buckets)
    return {
        "method": latency.method,
        "count": count,
        "failed": latency.failed,
        "meanS": latency.seconds / count if count else None,
        "p50S": quantile(latency.buckets, 0.5),
        "p95S": quantile(latency.buckets, 0.95),
        "buckets": list(latency.buckets),
    }


def quantile(buckets: tuple[int, ...], share: float) -> float | None:
    """The bound of the bucket in which it lies; None beyond the last bound, and of nothing."""
    wanted, seen = share * sum(buckets), 0
    for bound, inside in zip(BOUNDS_S, buckets, strict=False):
        seen += inside
        if inside and seen >= wanted:
            return bound
    return None


def ready(service: Service, _: Nothing) -> Result:
    """Reads the store and asks the model: whatever is wrong with either is the answer."""
    sequence = service.store.status().sequence
    service.memory.embedder.embed_query("ready")
    return {"ok": True, "message": "ok", "sequence": sequence}


METHODS: tuple[Method[Any], ...] = (
    Method("overview", Nothing, overview, "Say how store, model, calls and jobs are doing.", result=results.Overview),
    Method(
        "ready",
        Nothing,
        ready,
        "Say that store and model answer, by asking both.",
        reach=lambda _, __: NOTHING,
        pace="thinking",
        result=results.Ready,
    ),
)
