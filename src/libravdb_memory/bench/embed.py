"""How fast the bundled model is, and how near its vectors are to those of the full-precision one.

Batch sizes are measured in turns, several rounds each, so that a busy moment of the machine hits all alike; the best
round counts, since noise only ever slows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from libravdb_memory.bench import machine
from libravdb_memory.bench.texts import conversation
from libravdb_memory.engines.onnx import BUNDLED, OnnxEmbedder

if TYPE_CHECKING:
    from libravdb_memory.store.protocol import Progress

BATCH_SIZES = (1, 8, 32)
ROUNDS = 3
_CHOSEN = f"batch_{BATCH_SIZES[-1]}"
_REFERENCE = "reference"


def run(reference: Path | None, texts: int, progress: Progress) -> dict[str, Any]:
    """`reference` is a model folder as `tools/build_model.py --f32` writes it."""
    turns = conversation(texts)
    load_s = _load_seconds(OnnxEmbedder())
    engines = {f"batch_{size}": OnnxEmbedder(batch_size=size) for size in BATCH_SIZES}
    if reference:
        engines[_REFERENCE] = OnnxEmbedder(reference)
    rates = _best_rates(engines, turns, progress)
    results: dict[str, Any] = {
        "model": engines[_CHOSEN].space.label,
        "model_mb": round((BUNDLED / "model.onnx").stat().st_size / 1e6, 1),
        "texts": texts,
        "mean_characters": round(sum(map(len, turns)) / max(texts, 1)),
        "threads": 1,
        "load_s": round(load_s, 3),
        "turns_per_s": {name: round(rate, 1) for name, rate in rates.items()},
        "token_vectors": _token_vectors(engines[_CHOSEN], turns),
    }
    if reference:
        results["speed_over_reference"] = round(rates[_CHOSEN] / rates[_REFERENCE], 2)
        results["agreement_with_reference"] = _agreement(engines[_REFERENCE], engines[_CHOSEN], turns)
    return results | {"machine": machine.describe()}


def _best_rates(engines: Mapping[str, OnnxEmbedder], turns: list[str], progress: Progress) -> dict[str, float]:
    rates: dict[str, float] = dict.fromkeys(engines, 0.0)
    total, done = ROUNDS * len(engines), 0
    for engine in engines.values():
        engine.warm_up()
    for _ in range(ROUNDS):
        for name, engine in engines.items():
            progress(done, total)
            rates[name] = max(rates[name], _rate(engine, turns))
            done += 1
    progress(total, total)
    return rates


def _load_seconds(engine: OnnxEmbedder) -> float:
    started = time.perf_counter()
    engine.warm_up()
    return time.perf_counter() - started


def _rate(engine: OnnxEmbedder, turns: list[str]) -> float:
    started = time.perf_counter()
    engine.embed_documents(turns)
    return len(turns) / (time.perf_counter() - started)


def _token_vectors(engine: OnnxEmbedder, turns: list[str]) -> dict[str, Any]:
    """What they cost, in time of this process (which a busy machine changes least) and in bytes."""
    pooled_s = read_s = math.inf
    for _ in range(ROUNDS):
        started = time.process_time()
        engine.embed_documents(turns)
        between = time.process_time()
        engine.read_documents(turns)
        pooled_s, read_s = min(pooled_s, between - started), min(read_s, time.process_time() - between)
    sizes = [len(rows.to_bytes()) for rows in engine.read_documents(turns)[1]]
    return {
        "time_over_pooled_alone": round(read_s / pooled_s, 3) if pooled_s else None,
        "bytes_per_turn": round(sum(sizes) / max(len(sizes), 1)),
    }


def _agreement(reference: OnnxEmbedder, engine: OnnxEmbedder, turns: list[str]) -> dict[str, Any]:
    import numpy as np

    expected, found = reference.embed_documents(turns), engine.embed_documents(turns)
    cosines = (expected * found).sum(axis=1)
    neighbours = _shared_neighbours(expected, found)
    return {
        "reference": reference.space.label,
        "cosine_mean": round(float(cosines.mean()), 5),
        "cosine_p5": round(float(np.percentile(cosines, 5)), 5),
        "cosine_min": round(float(cosines.min()), 5),
        "shared_of_10_nearest": round(neighbours, 4),
    }


def _shared_neighbours(expected: Any, found: Any, nearest: int = 10) -> float:
    """The mean share of each text's nearest texts that both models agree on."""
    import numpy as np

    def lists(rows: Any) -> Any:
        similar = rows @ rows.T
        np.fill_diagonal(similar, -2.0)
        return np.argsort(-similar, axis=1, kind="stable")[:, :nearest]

    pairs = zip(lists(expected), lists(found), strict=True)
    return float(np.mean([len(set(a) & set(b)) / nearest for a, b in pairs]))
