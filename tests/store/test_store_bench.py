"""The benchmark of the store runs and says of every figure whether it is met; its data are what they claim to be."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from libravdb_memory.bench import peers, synthetic
from libravdb_memory.bench.store import Options, Sizes, run

TINY = Sizes(
    large=2000,
    small=200,
    queries=10,
    insert_rounds=2,
    inserts_a_round=5,
    producer_rounds=1,
    inserts_a_producer=2,
    cold_opens=1,
)


def figures(results: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for value in results.values():
        if isinstance(value, dict):
            if "met" in value:
                yield value
            yield from figures(value)


def test_a_tiny_run_gives_every_figure_with_its_target(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    report = run(
        Options(sizes=TINY, folder=tmp_path, peers_python=None), lambda done, total: steps.append((done, total))
    )
    assert json.loads(json.dumps(report)) == report
    assert set(report["results"]) == {
        "durable_insert_to_fdatasync",
        "producers_32_to_1",
        "exact_search_to_numpy",
        "small_collection_p50_ms",
        "approximate_search",
        "cold_open_s",
    }
    found = list(figures(report["results"]))
    assert len(found) == 8
    for figure in found:
        sign, bound = figure["target"].split()
        assert figure["met"] is (figure["value"] <= float(bound) if sign == "<=" else figure["value"] >= float(bound))
    assert report["results"]["small_collection_p50_ms"]["recall"]["value"] == 1.0
    assert report["results"]["approximate_search"]["used"] is True
    assert report["results"]["approximate_search"]["recall_at_10"]["value"] >= 0.95
    assert report["targets_meant_for_these_sizes"] is False
    assert steps[0] == (0, 7)
    assert steps[-1] == (7, 7)
    assert list(tmp_path.iterdir()) == []


def test_a_peer_that_is_not_installed_is_left_out(tmp_path: Path) -> None:
    modules = {"chroma": "chromadb", "lancedb": "lancedb", "sqlite_vec": "sqlite_vec"}
    installed = [name for name in peers.NAMES if find_spec(modules[name])]
    with peers.started(Path(sys.executable), tmp_path, 1) as running:
        assert [peer.name for peer in running] == installed


def test_synthetic_vectors_are_unit_repeatable_and_shaped_like_sentence_embeddings() -> None:
    rows = synthetic.vectors(2500, seed=3)
    assert np.array_equal(rows, synthetic.vectors(2500, seed=3))
    assert not np.array_equal(rows, synthetic.vectors(2500, seed=4))
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    cosines = np.sort(rows[:300] @ rows[300:].T, axis=1)
    assert 0.04 < cosines.mean() < 0.10
    assert 0.08 < cosines.std() < 0.13
    assert 0.50 < cosines[:, -1].mean() < 0.70
    assert 0.30 < cosines[:, -10].mean() < 0.50
