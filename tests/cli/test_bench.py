"""bench through the command line; the measuring itself is tested beside its code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Run: TypeAlias = Callable[..., Any]


@pytest.mark.slow
def test_bench_embed_writes_its_numbers_to_a_file_and_shows_them(cli: Run, tmp_path: Path) -> None:
    result = cli("bench", "embed", "--quick", "--quiet", "--json", tmp_path / "embed.json")
    assert result.code == 0, result.err
    numbers = json.loads((tmp_path / "embed.json").read_text("utf-8"))
    assert numbers["turns_per_s"]["batch_1"] > 0 and numbers["machine"]["cores"] >= 1
    assert "turns per s batch 1" in result.out


@pytest.mark.slow
def test_bench_prints_json_alone_when_asked_for_it_without_a_file(cli: Run) -> None:
    assert json.loads(cli("bench", "embed", "--quick", "--json").out)["texts"] > 0


def test_bench_refuses_a_reference_that_is_not_there(cli: Run, tmp_path: Path) -> None:
    assert cli("bench", "embed", "--reference", tmp_path / "nowhere").code == 2
