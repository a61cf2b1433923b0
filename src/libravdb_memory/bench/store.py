"""What the store promises, measured in one run: every figure with its target, and what it was made on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from libravdb_memory.bench import cold, inserts, machine, searches, synthetic
from libravdb_memory.store.protocol import Progress
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite.store import SqliteStore

_PEERS_PYTHON = Path(__file__).resolve().parents[3] / ".venv-peers" / "bin" / "python"
_FINGERPRINT = "sha256:synthetic"
_INDEX_TIMEOUT_S = 600
_STEPS = 7


@dataclass(frozen=True, slots=True)
class Sizes:
    large: int = 100_000
    small: int = 1_000
    queries: int = 300
    insert_rounds: int = 15
    inserts_a_round: int = 60
    producer_rounds: int = 5
    inserts_a_producer: int = 60
    cold_opens: int = 7


QUICK = Sizes(
    large=5_000,
    queries=50,
    insert_rounds=5,
    inserts_a_round=20,
    producer_rounds=2,
    inserts_a_producer=20,
    cold_opens=3,
)


@dataclass(frozen=True, slots=True)
class Options:
    """`folder` is where to write (it decides the disk that is measured); `peers_python` has the other stores; `sizes`
    overrides those of a quick or full run."""

    quick: bool = False
    sizes: Sizes | None = None
    folder: Path | None = None
    peers_python: Path | None = _PEERS_PYTHON if _PEERS_PYTHON.exists() else None


def run(options: Options, progress: Progress) -> dict[str, Any]:
    busy = _load()
    sizes = options.sizes or (QUICK if options.quick else Sizes())
    # Quick runs shrink the collection, and with it the size from which the index is used.
    settings = StoreSettings(exact_limit=min(StoreSettings().exact_limit, sizes.large // 4))
    with tempfile.TemporaryDirectory(prefix="libravdb-bench-", dir=options.folder) as name:
        folder = Path(name)
        results = _inserts(folder, sizes, options.peers_python, progress)
        results |= _searches(folder, sizes, settings, progress)
    progress(_STEPS, _STEPS)
    return {
        "results": results,
        "missed": [name for name, met in _verdicts("", results) if not met],
        "targets_meant_for_these_sizes": sizes == Sizes(),
        "sizes": asdict(sizes),
        "settings": asdict(settings),
        "dimensions": synthetic.DIMENSIONS,
        "machine": machine.describe(),
        "load_average_before_and_after": [busy, _load()],
    }


def _inserts(folder: Path, sizes: Sizes, peers_python: Path | None, progress: Progress) -> dict[str, Any]:
    with SqliteStore.open(folder / "inserts.libravdb") as store:
        space = store.add_space(_FINGERPRINT, "synthetic", synthetic.DIMENSIONS)
        progress(0, _STEPS)
        single = inserts.against_the_disk(
            store, space, folder, sizes.insert_rounds, sizes.inserts_a_round, peers_python
        )
        progress(1, _STEPS)
        many = inserts.many_producers(store, sizes.producer_rounds, sizes.inserts_a_producer)
        return {"durable_insert_to_fdatasync": single, "producers_32_to_1": many}


def _searches(folder: Path, sizes: Sizes, settings: StoreSettings, progress: Progress) -> dict[str, Any]:
    drawn = synthetic.vectors(sizes.large + sizes.small + sizes.queries, seed=1)
    large, small, queries = drawn[: sizes.large], drawn[sizes.large : -sizes.queries], drawn[-sizes.queries :]
    path = folder / "searches.libravdb"
    results: dict[str, Any] = {}
    with SqliteStore.open(path, settings=settings) as store:
        space = store.add_space(_FINGERPRINT, "synthetic", synthetic.DIMENSIONS)
        store.activate_space(space)
        progress(2, _STEPS)
        large_refs = searches.fill(store, space, searches.LARGE, large)
        small_refs = searches.fill(store, space, searches.SMALL, small)
        progress(3, _STEPS)
        # The first search starts the building of the index; nothing is measured beside that.
        store.search_vectors(searches.LARGE, queries[0], 10)
        store.settle(_INDEX_TIMEOUT_S)
        progress(4, _STEPS)
        results["exact_search_to_numpy"] = searches.exact(store, large, queries)
        results["small_collection_p50_ms"] = searches.small_collection(store, small, small_refs, queries)
        progress(5, _STEPS)
        results["approximate_search"] = searches.approximate(store, large, large_refs, queries)
    progress(6, _STEPS)
    results["cold_open_s"] = cold.measure(path, searches.LARGE, synthetic.DIMENSIONS, sizes.cold_opens)
    return results


def _load() -> float | None:
    """Of the last minute: other work on the machine distorts, above all where processors are waited for."""
    measured = getattr(os, "getloadavg", None)
    return round(measured()[0], 2) if measured else None


def _verdicts(prefix: str, results: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    for name, value in results.items():
        if isinstance(value, dict):
            inner = cast("dict[str, Any]", value)
            if "met" in inner:
                yield f"{prefix}{name}", bool(inner["met"])
            yield from _verdicts(f"{prefix}{name}.", inner)
