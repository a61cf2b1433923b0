"""bench through the command line; the measuring itself is tested beside its code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Run: TypeAlias = Callable[..., Any]


@pytest.mark.slow
def test_bench_prints_json_alone_when_asked_for_it_without_a_file(cli: Run) -> None:
    numbers = json.loads(cli("bench", "embed", "--quick", "--json").out)
    assert numbers["turns_per_s"]["batch_1"] > 0 and numbers["machine"]["cores"] >= 1


@pytest.mark.slow
def test_bench_store_shows_each_figure_with_its_target(cli: Run, tmp_path: Path) -> None:
    result = cli("bench", "store", "--quick", "--folder", tmp_path, "--json", tmp_path / "store.json")
    assert result.code == 0, result.err
    numbers = json.loads((tmp_path / "store.json").read_text("utf-8"))
    insert = numbers["results"]["durable_insert_to_fdatasync"]
    assert insert["target"] in result.out and f"{insert['value']:,.4g}" in result.out
    assert [file.name for file in tmp_path.glob("libravdb-bench-*")] == []


@pytest.mark.slow
def test_bench_context_shows_its_ratio_and_the_cost_of_the_pure_stage(cli: Run, tmp_path: Path) -> None:
    result = cli("bench", "context", "--quick", "--folder", tmp_path, "--json", tmp_path / "context.json")
    assert result.code == 0, result.err
    numbers = json.loads((tmp_path / "context.json").read_text("utf-8"))["results"]
    assert numbers["context_to_query_embedding"]["value"] > 1
    assert 0 < numbers["fill_p50_ms"]["value"] < 20  # ten times the target: machines that run tests are busy
    assert [file.name for file in tmp_path.glob("libravdb-bench-*")] == []


def test_bench_refuses_a_reference_that_is_not_there(cli: Run, tmp_path: Path) -> None:
    assert cli("bench", "embed", "--reference", tmp_path / "nowhere").code == 2
