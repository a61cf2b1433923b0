"""The compaction benchmark from the command line to its JSON, on a small conversation and a real store."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.assemble.fill import Candidate, Offer, fill
from libravdb_memory.bench.compaction.asking import Compacted, Summarised, one_session_each
from libravdb_memory.bench.compaction.evidence import Covering, Seen, seen, tells
from libravdb_memory.bench.compaction.kept import facts_kept, reached
from libravdb_memory.bench.retrieval.asking import Speaking
from libravdb_memory.bench.retrieval.dataset import Conversation, DataSet, Question, Said
from libravdb_memory.cli import main
from libravdb_memory.model import Turn
from libravdb_memory.summaries import Node
from libravdb_memory.tokens import EstimatingCounter

Run: TypeAlias = Callable[..., tuple[int, str, str]]
WORDS = ("lamp", "ferry", "gateway", "orchard", "piano", "harbour", "ledger", "kiln", "beacon", "granary")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    turns = [
        {
            "id": f"t{place}",
            "session": f"s{place // 30}",
            "role": "user" if place % 2 == 0 else "assistant",
            "speaker": None,
            "ts": 10**12 + place * 60_000,
            "text": f"The {WORDS[place % 10]} in hall {place} holds {1000 + 7 * place} crates, "
            f"and Emeka wrote that into the {WORDS[place // 10]} list of the house.",
        }
        for place in range(90)
    ]
    questions = [
        {"id": f"q{place}", "category": "plain", "text": f"How many crates are in hall {place}?", "gold": [f"t{place}"]}
        for place in (3, 41, 88)
    ]
    questions.append({"id": "q-none", "category": "plain", "text": "Who sails?", "gold": []})
    file = tmp_path / "halls.json"
    talk = {"id": "c", "turns": turns, "questions": questions}
    file.write_text(json.dumps({"name": "halls", "conversations": [talk]}), encoding="utf-8")
    return file


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`libravdb bench compaction` with a model that costs nothing; its code, stdout and stderr."""
    for name in [name for name in os.environ if name.startswith("LIBRAVDB_")]:
        monkeypatch.delenv(name)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_BACKEND", "hashed")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["bench", "compaction", *map(str, arguments)])
        assert list(temporary.iterdir()) == [], "the stores are thrown away"
        return code, *capsys.readouterr()

    return run


def test_a_quick_run_reports_what_was_lost_kept_and_spent(bench: Run, data: Path, tmp_path: Path) -> None:
    code, out, err = bench("--data", data, "--quick", "--json", tmp_path / "out.json")
    assert code == 0, err
    written = (tmp_path / "out.json").read_text("utf-8")
    results: dict[str, Any] = json.loads(written)
    figures = results["results"]
    for measure in ("ctx@2000", "ctx_new@2000"):
        lost = figures["points_lost_in_contexts"][measure]
        assert lost["value"] == round(100 * (lost["before"] - lost["after"]), 2) and lost["target"] == "<= 5"
        assert lost["after_word_for_word"] <= lost["after"]
        assert lost["interval"][0] <= lost["value"] <= lost["interval"][1]
    assert figures["reached_by_expansion"]["value"] == figures["reached_by_expansion"]["of_all_turns"] == 1.0
    assert figures["compacted"]["summaries"] >= 2
    assert figures["compacted"]["tokens_of_summaries"] < figures["compacted"]["tokens_of_turns"]
    kept = figures["facts_kept"]["of_summaries"]
    assert kept["facts"] > figures["compacted"]["turns"] and 0.0 < kept["value"] <= 1.0
    cost = figures["cost"]["compaction_to_embedding_its_sentences"]
    assert cost["value"] > 0 and cost["turns"] > 0 and cost["embedding_s"] > 0
    for beside in ("compaction_during_a_talk_to_embedding", "compaction_under_load_to_embedding"):
        assert figures["cost"][beside]["value"] > 0 and figures["cost"][beside]["turns_arriving"] >= 1
    ingest = figures["cost"]["ingest_p99_during_compaction"]
    assert ingest["turns_quiet"] == 20 and ingest["turns_during_compaction"] >= 1
    assert len(results["questions"]) == 3 and results["targets_meant_for_these_sizes"] is False
    assert results["config"]["compaction.trigger_tokens"] == 0 and results["machine"]["cores"] >= 1
    assert str(tmp_path) not in written, "no path of the machine"
    assert "points lost in contexts" in out and "<= 1.3" in out and "compacting: 1 session" in err


def test_a_run_without_timing_measures_what_is_lost_alone(bench: Run, data: Path, tmp_path: Path) -> None:
    code, _, err = bench("--data", data, "--quick", "--no-timing", "--json", tmp_path / "out.json")
    assert code == 0 and "timing" not in err
    figures = json.loads((tmp_path / "out.json").read_text("utf-8"))["results"]
    assert "cost" not in figures and figures["points_lost_in_contexts"]


def test_a_run_without_data_of_its_own_is_refused_before_anything_is_measured(bench: Run) -> None:
    code, out, err = bench("--quick")
    assert code == 2 and "--data" in err and "storing" not in err and out == ""


def test_data_that_asks_nothing_is_refused(bench: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text('{"name": "empty", "conversations": []}', encoding="utf-8")
    code, _, err = bench("--data", tmp_path / "empty.json")
    assert code == 2 and "no question with gold turns" in err


# ── what counts as told ──────────────────────────────────────────────────────────────────────────────────────────


def speaking(**texts: str) -> Speaking:
    turns = tuple(Said(name, "s", "user", None, 1, text) for name, text in texts.items())
    asked = (Question("q", "plain", "what?", frozenset(texts)),)
    (user,) = one_session_each([DataSet("d", "f", "", (Conversation("c", turns, asked),))])
    return user


def test_a_turn_is_told_by_a_summary_only_if_that_covers_it_and_holds_all_its_facts() -> None:
    user = speaking(port="Set the port to 8443 in gateway.toml.", other="The port was 8080 before 3 May 2021.")
    covering = Covering({"sum1-a": {"port", "other"}, "sum1-b": {"other"}}, user.user, "session")

    def prompt(item: str, text: str) -> dict[str, Seen]:
        offer = Offer(1_000, recalled=(Candidate(item, text, 0.5, "summary", "summary"),))
        assembly = fill(offer, EstimatingCounter(), AssemblySettings())
        return {name: seen(offer, assembly, user, name, covering) for name in user.turns}

    none, told, shown = Seen(False, False), Seen(False, True), Seen(True, True)
    assert prompt("sum1-a", "gateway.toml has 8443 now") == {"port": told, "other": none}
    assert prompt("sum1-b", "gateway.toml has 8443 now") == {"port": none, "other": none}
    assert prompt("sum1-a", "ports are in gateway.toml") == {"port": none, "other": none}
    assert prompt("port", user.turns["port"].text) == {"port": shown, "other": none}
    assert prompt(covering.rule_of("port"), user.turns["port"].text) == {"port": shown, "other": none}
    assert prompt("somewhere", user.turns["port"].text) == {"port": none, "other": none}


def test_what_did_not_fit_into_a_prompt_tells_nothing() -> None:
    user = speaking(port="Set the port to 8443.")
    offer = Offer(5, recalled=(Candidate("sum1-a", "The port is 8443.", 0.5, "summary", "summary"),))
    assembly = fill(offer, EstimatingCounter(), AssemblySettings())
    covering = Covering({"sum1-a": {"port"}}, user.user, "session")
    assert seen(offer, assembly, user, "port", covering) == Seen(False, False)


def test_a_turn_without_facts_is_told_by_three_in_five_of_its_words() -> None:
    text = "we roast lentils beside warm bread"
    assert tells("roast lentils with bread", text)
    assert not tells("roast potatoes with bread", text)
    assert not tells("anything at all", "ok")


# ── what is kept ─────────────────────────────────────────────────────────────────────────────────────────────────


def session_of(texts: dict[str, str], said: str, *bare: Turn) -> Compacted:
    turns = tuple(Turn(name, text, "user-1", "session", "user", 1) for name, text in texts.items())
    node = Node("n", "user-1", "session", said, 1, tuple(texts), len(texts), "a", "b", 1, 1, 1, 9, "", "", 1, 1, 1, 1)
    summary = Summarised(node, turns)
    return Compacted((summary,), (summary,), bare)


def test_the_share_of_facts_counts_those_that_the_summary_holds() -> None:
    session = session_of(
        {"a": "It was 8443 in v1.2.3, never Oslo.", "b": "See src/app.py on 3 May 2021."}, "8443, v1.2.3"
    )
    kept = facts_kept([session], {})
    assert kept["of_summaries"]["facts"] == 4 and kept["of_summaries"]["value"] == 0.5
    assert kept["of_summaries"]["met"] is False
    assert sorted(kept["of_summaries"]["lost_for_example"]) == ["3 May 2021", "src/app.py"]
    assert kept["names_of_summaries"] == kept["negations_of_summaries"] == 0.0
    ruled = facts_kept([session], {"user-1": {"b": "See src/app.py on 3 May 2021."}})
    assert ruled["of_summaries"]["value"] == 0.5 and ruled["of_summaries"]["with_rules_kept_word_by_word"] == 1.0


def test_a_turn_counts_as_reached_only_with_its_exact_words() -> None:
    said = {"a": "one", "b": "two", "c": "the password is [masked: password]", "d": "four"}
    stored = [Turn(id, text, "user-1", "session", "user", 1) for id, text in said.items()]
    before, after = Compacted((), (), tuple(stored)), session_of({"a": "one", "b": "TWO"}, "all", stored[2])
    user = speaking(a="one", b="two", c="the password is hunter2", d="four")
    found = reached([user], {"user-1": before}, {"user-1": after})
    assert found["value"] == found["of_all_turns"] == 0.5 and found["met"] is False
