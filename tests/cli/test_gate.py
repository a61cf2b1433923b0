"""gate explain and calibrate through the command line, and what status says of the gate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.cli.gate_report import contributions
from libravdb_memory.gate.score import Neighbours, decide
from libravdb_memory.gate.settings import GateSettings

Run: TypeAlias = Callable[..., Any]

TEXT = "I prefer window seats; the fix is in src/app/main.py, commit 4be91c2"


def jsonl(labels: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(label) + "\n" for label in labels)


def test_explain_shows_signals_weights_patterns_and_margin(cli: Run, tmp_path: Path) -> None:
    result = cli("gate", "explain", TEXT)
    assert result.code == 0 and "there is no store" in result.err
    for word in ("durable: G", "above the threshold 0.35", "novelty", "0.35 × H 1.000", "'I prefer'", "0-8"):
        assert word in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    assert not list(tmp_path.glob("store*")), "explaining makes nothing"


def test_the_json_of_an_explanation_is_the_decision(cli: Run) -> None:
    form = json.loads(cli("gate", "explain", TEXT, "--json").out)
    made = decide(TEXT, Neighbours(), GateSettings())
    assert (form["durable"], form["g"], form["signals"]) == (made.durable, made.score, made.signals())
    assert form["margin"] == pytest.approx(form["g"] - form["threshold"])
    spans = [span for fired in form["fired"] for span in fired["spans"]]
    assert spans and all(TEXT[span["start"] : span["end"]] == span["text"] for span in spans)
    assert sum(form["weights"]["conversational"].values()) == pytest.approx(1)


def test_what_memory_said_itself_is_left_out_of_an_explanation(cli: Run) -> None:
    story = "The grey heron nests on the northern shore of the lake near the old wooden mill since spring."
    cli("add", story, "-u", "ada", "-s", "old", "--role", "assistant")
    cli("context", "-u", "ada", "-s", "new", "--prompt", "where does the heron nest?")
    text = f"{story} I prefer window seats on the morning train to Porto."
    form = json.loads(cli("gate", "explain", text, "-u", "ada", "--json").out)
    assert form["heard"] == "I prefer window seats on the morning train to Porto."
    spans = [span for fired in form["fired"] for span in fired["spans"]]
    assert spans and all(form["heard"][span["start"] : span["end"]] == span["text"] for span in spans)
    shown = cli("gate", "explain", text, "-u", "ada").out
    assert "0-8 'I prefer'" in shown and "the rest was said by memory itself" in shown


def test_explain_judges_against_the_memory_of_a_user(cli: Run) -> None:
    for _ in range(3):
        cli("add", "I prefer window seats on trains.", "-u", "ada")
    known = json.loads(cli("gate", "explain", "I prefer window seats on trains.", "-u", "ada", "--json").out)
    new = json.loads(cli("gate", "explain", "I prefer window seats on trains.", "-u", "bob", "--json").out)
    assert known["signals"]["h"] < 0.1 and new["signals"]["h"] == 1.0
    assert json.loads(cli("status", "--json").out)["gate"]["judged"] == 3, "explaining stores nothing"


def test_status_counts_what_the_gate_did(cli: Run) -> None:
    cli("add", "My name is Ada and I live in Porto.", "-u", "ada")
    cli("add", "sure", "-u", "ada", "--role", "assistant")
    assert "1 user turn judged, 1 durable, 0 regretted" in cli("status").out


@given(st.text(max_size=200), st.lists(st.floats(-1, 1), max_size=6), st.lists(st.floats(-1, 1), max_size=10))
def test_contributions_add_up_to_the_score_and_stand_in_order(
    text: str, durable: list[float], turns: list[float]
) -> None:
    made = decide(text, Neighbours(durable, turns), GateSettings())
    parts = contributions(made.signals(), GateSettings())
    assert sum(parts.values()) == pytest.approx(made.score)
    assert list(parts.values()) == sorted(parts.values(), reverse=True)


# ── calibration ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_calibrate_fits_scores_and_proposes_a_threshold(cli: Run, tmp_path: Path) -> None:
    scores = [(0.1, 0), (0.2, 0), (0.36, False), (0.4, True), (0.45, 0.0), (0.6, 1), (0.7, 1), (0.8, 1)]
    file = tmp_path / "labels.jsonl"
    file.write_text(jsonl({"g": g, "useful": useful, "note": "x"} for g, useful in scores))
    form = json.loads(cli("gate", "calibrate", file, "--json").out)
    assert (form["labels"], form["threshold"]) == (8, 0.4)
    assert form["reference"] == {"threshold": 0.35, "precision": pytest.approx(4 / 6), "recall": 1.0}
    assert form["fitted"] == {"threshold": 0.4, "precision": pytest.approx(4 / 5), "recall": 1.0}
    shown = cli("gate", "calibrate", file)
    assert "fitted     threshold 0.400  precision 0.80  recall 1.00" in shown.out
    assert "LIBRAVDB_GATING_THRESHOLD=0.4\n" in shown.err
    strict = json.loads(cli("gate", "calibrate", file, "--target", "0.9", "--json").out)
    assert strict["threshold"] == 0.6


def test_calibrate_judges_texts_now(cli: Run) -> None:
    texts = [("I prefer window seats on trains.", True), ("```\nx = 1\n```", False)]
    form = json.loads(
        cli("gate", "calibrate", "-", "--json", stdin=jsonl({"text": t, "useful": u} for t, u in texts)).out
    )
    assert form["threshold"] == decide(texts[0][0], Neighbours(), GateSettings()).score
    assert [step["useful"] for step in form["steps"]] == [0.0, 1.0]


def test_calibrate_says_when_nothing_was_useful(cli: Run) -> None:
    result = cli("gate", "calibrate", "-", stdin='{"g": 0.5, "useful": false}\n')
    assert result.code == 0 and "no threshold to propose" in result.err


def test_calibrate_learns_from_use(cli: Run) -> None:
    for text in ("My favourite database is PostgreSQL.", "My name is Ada and I live in Porto."):
        cli("add", text, "-u", "ada")
    cli("search", "database PostgreSQL", "-u", "ada", "-k", "1")
    form = json.loads(cli("gate", "calibrate", "--from-use", "-u", "ada", "--json").out)
    assert form["labels"] == 2
    assert sum(step["useful"] * step["weight"] for step in form["steps"]) == pytest.approx(1)
    assert cli("gate", "calibrate", "--from-use", "-u", "nobody").code == 2, "no labels, no fit"


@pytest.mark.parametrize(
    "line",
    [
        "words",
        "3",
        "{}",
        '{"g": 0.5}',
        '{"g": 2, "useful": true}',
        '{"g": 0.5, "useful": "yes"}',
        '{"g": 0.5, "text": "x", "useful": 1}',
        '{"text": 3, "useful": 1}',
        '{"g": 0.5, "useful": 7}',
    ],
)
def test_a_bad_label_is_refused_with_its_line(cli: Run, line: str) -> None:
    result = cli("gate", "calibrate", "-", stdin=f'{{"g": 0.5, "useful": true}}\n{line}\n')
    assert (result.code, result.out) == (2, "") and "line 2" in result.err


@pytest.mark.parametrize("arguments", [[], ["--from-use"], ["labels.jsonl", "--from-use", "-u", "ada"]])
def test_an_unclear_calibration_is_a_usage_error(
    cli: Run, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.jsonl").write_text("")
    assert cli("gate", "calibrate", *arguments).code == 2
