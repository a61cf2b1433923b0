"""Two runs compared question by question."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from libravdb_memory.bench.retrieval.compare import compare, read_results
from libravdb_memory.errors import InvalidInputError


def run_of(values: list[float], name: str = "R@10", **more: Any) -> dict[str, Any]:
    questions = {f"d/c/q{place}": {name: value} for place, value in enumerate(values)}
    return {"questions": questions, "overall": {name: 0.0}, "data": [{"sha256": "x"}], **more}


def keys(results: dict[str, Any]) -> list[str]:
    return list(results["questions"])


@hypothesis_settings(max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_run_does_not_differ_from_itself(values: list[float]) -> None:
    results = run_of(values)
    row = compare(results, results, keys(results))["metrics"]["R@10"]
    assert (row["difference"], row["low"], row["high"]) == (0.0, 0.0, 0.0)
    assert row["verdict"] == "no clear difference" and row["questions"] == len(values)


def test_an_equal_gain_on_every_question_is_certain() -> None:
    old, new = run_of([0.25, 0.5, 0.75]), run_of([0.5, 0.75, 1.0])
    better = compare(old, new, keys(new))["metrics"]["R@10"]
    assert (better["old"], better["new"], better["difference"]) == (0.5, 0.75, 0.25)
    assert (better["low"], better["high"], better["verdict"]) == (0.25, 0.25, "better")
    assert compare(new, old, keys(old))["metrics"]["R@10"]["verdict"] == "worse"


def test_gains_that_chance_explains_are_no_clear_difference() -> None:
    chance = Random(5)
    old = run_of([float(chance.random() < 0.5) for _ in range(200)])
    new = run_of([float(chance.random() < 0.5) for _ in range(200)])
    row = compare(old, new, keys(new))["metrics"]["R@10"]
    assert row["low"] < 0 < row["high"] and row["verdict"] == "no clear difference"


def test_the_interval_is_about_as_wide_as_theory_says_and_the_same_every_time() -> None:
    chance = Random(6)
    old = run_of([0.0] * 400)
    new = run_of([chance.gauss(0.1, 0.5) for _ in range(400)])
    row = compare(old, new, keys(new))["metrics"]["R@10"]
    half = 1.96 * 0.5 / 20
    assert (row["high"] - row["low"]) / 2 == pytest.approx(half, rel=0.2)
    assert row["low"] < row["difference"] < row["high"]
    assert compare(old, new, keys(new))["metrics"]["R@10"] == row


def test_only_common_questions_and_measures_are_paired() -> None:
    old, new = run_of([0.0, 1.0]), run_of([0.0, 1.0, 1.0])
    new["questions"]["d/c/q0"]["MRR"] = 1.0
    new["overall"] = {"questions": 3, "R@10": 0.5, "MRR": 1.0, "ctx_tokens@1000": 9.0}
    compared = compare(old, new, keys(new))
    assert (compared["paired_questions"], compared["only_in_this_run"]) == (2, 1)
    assert list(compared["metrics"]) == ["R@10"]


def test_other_data_and_changed_settings_are_told() -> None:
    old = run_of([1.0], config={"retrieval.profile": "calibrated", "same": 1}, machine={"commit": "abc"})
    new = run_of([1.0], config={"retrieval.profile": "reference", "same": 1}) | {"data": [{"sha256": "y"}]}
    compared = compare(old, new, keys(new))
    assert compared["changed_settings"] == {"retrieval.profile": ["calibrated", "reference"]}
    assert compared["same_data"] is False and compared["commit"] == "abc"


def test_runs_without_a_common_question_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="no question in common"):
        compare(run_of([1.0]), run_of([1.0]), ["d/c/other"])


@pytest.mark.parametrize(
    "value", [[], {}, {"questions": []}, {"questions": {"a": 1}}, {"questions": {"a": {"b": "c"}}}]
)
def test_a_file_that_is_no_run_is_refused(tmp_path: Path, value: object) -> None:
    file = tmp_path / "old.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"old\.json"):
        read_results(file)
