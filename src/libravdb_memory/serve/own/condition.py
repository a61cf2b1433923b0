"""health, status, metrics: how the daemon and its store are doing."""

from __future__ import annotations

import os
from typing import Any

from libravdb_memory import __version__
from libravdb_memory.serve.exposition import CONTENT_TYPE
from libravdb_memory.serve.forms import form
from libravdb_memory.serve.methods import NOTHING, Method, Nothing, Result
from libravdb_memory.serve.results import health as results
from libravdb_memory.serve.service import Service


def health(service: Service, _: Nothing) -> Result:
    return {"ok": True, "message": _state(service), "version": __version__, "pid": os.getpid()}


def _state(service: Service) -> str:
    if service.stopping.is_set():
        return "draining"
    return "ok" if service.is_ready() else "starting"


def status(service: Service, _: Nothing) -> Result:
    """The keys of the reference, and ours. A host of the reference stores its user turns a second time, under names of
    its own, and decides itself what is durable: the greater figure is the true one."""
    now, config = service.memory.status(), service.config
    return {
        "ok": True,
        "message": now.indexing.failure or "ok",
        "turnCount": max(now.turns, _records(service, "turns:")),
        "memoryCount": max(now.gate.durable, _records(service, "user:")),
        "lifecycleHintCount": service.journal.count(),
        "gatingThreshold": config.gating.threshold,
        "abstractiveReady": config.summary.backend != "extractive" and now.compaction.model_failure is None,
        "embeddingProfile": now.model,
        "version": __version__,
        "pid": os.getpid(),
        "path": now.path,
        "namespaces": now.namespaces,
        "turns": now.turns,
        "summaries": now.summaries,
        "summariser": now.summariser,
        "modelReady": now.model_ready,
        "searchesByMeaning": now.searches_by_meaning,
        "indexing": form(now.indexing),
        "compaction": form(now.compaction),
        "gate": form(now.gate),
        "store": form(now.store),
        "sources": form(service.sources()),
        "http": service.http or None,
    }


def _records(service: Service, prefix: str) -> int:
    return sum(info.count for info in service.store.collections(prefix))


def metrics(service: Service, _: Nothing) -> Result:
    return {"text": service.metrics.text(), "contentType": CONTENT_TYPE}


METHODS: tuple[Method[Any], ...] = (
    Method(
        "health",
        Nothing,
        health,
        "Say that the daemon answers.",
        reach=lambda _, __: NOTHING,
        pace="instant",
        result=results.Alive,
    ),
    Method("status", Nothing, status, "Say what is stored and how it is doing.", result=results.State),
    Method(
        "metrics", Nothing, metrics, "Counters and latencies in the text format of Prometheus.", result=results.Figures
    ),
)
