"""The retrieval benchmark from the command line to its JSON, on a small conversation and a real store."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.assemble.fill import Candidate, Offer, fill
from libravdb_memory.bench.retrieval.asking import shows, users_of
from libravdb_memory.bench.retrieval.dataset import Conversation, DataSet, Said
from libravdb_memory.bench.retrieval.timing import TimedEmbedder, spread_ms
from libravdb_memory.cli import main
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.engines.onnx import OnnxEmbedder
from libravdb_memory.tokens import EstimatingCounter

SAID = [
    ("s1", "Ada", "The lighthouse keeper repairs the brass lamp every autumn."),
    ("s1", "Bruno", "I prefer the ferry to Bergen over any train."),
    ("s1", "Ada", 'Set <timeout unit="s"> to 30 & restart the gateway.'),
    ("s2", "Bruno", "The release window is Tuesday at nine."),
    ("s2", "Ada", "My sister keeps bees behind the greenhouse."),
    ("s3", "Bruno", "Correction: the release window is Thursday at nine."),
    ("s3", "Ada", "Thanks, noted."),
]
QUESTIONS: list[dict[str, Any]] = [
    {"category": "plain", "text": "Who repairs the brass lamp?", "gold": ["t0"]},
    {"category": "plain", "text": "What was said about the timeout of the gateway?", "gold": ["t2"]},
    {"category": "updates", "text": "When is the release window?", "gold": ["t5"], "superseded": ["t3"]},
    {"category": "Adversarial", "text": "Where does the astronaut keep penguins?", "gold": ["t6"]},
    {"category": "plain", "text": "What is the airspeed of a swallow?", "gold": []},
]
OVERALL = {"R@5", "R@10", "R@20", "all@10", "NDCG@10", "MRR", "tok@1000", "ctx@1000", "ctx@2000", "ctx@4000"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    turns = [
        {
            "id": f"t{place}",
            "session": session,
            "role": "user",
            "speaker": who,
            "ts": 10**12 + place * 60_000,
            "text": text,
        }
        for place, (session, who, text) in enumerate(SAID)
    ]
    questions = [{"id": f"q{place}", **question} for place, question in enumerate(QUESTIONS)]
    conversations = [{"id": name, "turns": turns, "questions": questions} for name in ("first", "second")]
    file = tmp_path / "harbour.json"
    file.write_text(json.dumps({"name": "harbour", "conversations": conversations}), encoding="utf-8")
    return file


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """`libravdb bench retrieval` with a model that costs nothing; its code, stdout and stderr."""
    for name in [name for name in os.environ if name.startswith("LIBRAVDB_")]:
        monkeypatch.delenv(name)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_BACKEND", "hashed")
    monkeypatch.setenv("COLUMNS", "110")

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["bench", "retrieval", *map(str, arguments)])
        assert list(temporary.iterdir()) == [], "the store is thrown away"
        return code, *capsys.readouterr()

    return run


def loaded(file: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return value


def test_a_run_reports_every_measure_overall_and_by_category(
    bench: Callable[..., tuple[int, str, str]], data: Path, tmp_path: Path
) -> None:
    code, out, err = bench("--data", data, "--json", tmp_path / "out.json")
    assert code == 0, err
    results = loaded(tmp_path / "out.json")
    assert results["data"][0] | {"sha256": ""} == {
        "name": "harbour",
        "file": "harbour.json",
        "sha256": "",
        "conversations": 2,
        "turns": 14,
        "questions": 10,
    }
    assert results["overall"].keys() >= OVERALL
    assert results["overall"]["questions"] == 6 and results["skipped_without_gold"] == 2
    assert {name: row["questions"] for name, row in results["categories"].items()} == {
        "Adversarial": 2,
        "plain": 4,
        "updates": 2,
    }
    assert results["categories"]["plain"]["R@5"] == results["categories"]["plain"]["ctx@4000"] == 1.0
    assert results["categories"]["updates"]["both_found"] == 1.0 and "newer_first" in results["overall"]
    assert results["degraded"] == {}
    assert results["latency_ms"].keys() == {"search", "context", "embedding", "search_beside_embedding"}
    assert all(0 <= row["p50"] <= row["p99"] for row in results["latency_ms"].values())
    assert len(results["questions"]) == 8 and "harbour/second/q2" in results["questions"]
    assert results["per_data"]["harbour"]["overall"] == results["overall"]
    assert results["machine"]["cores"] >= 1 and results["config"]["embedding.backend"] == "hashed"
    assert str(tmp_path) not in (tmp_path / "out.json").read_text("utf-8"), "no path of the machine"
    assert "overall" in out and "Adversarial" in out and "newer" in out
    assert "storing: 14 turns" in err and "asking: 8 questions" in err


def test_a_run_compared_with_itself_differs_nowhere(
    bench: Callable[..., tuple[int, str, str]], data: Path, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    assert bench("--data", data, "--json", old)[0] == 0
    code, out, err = bench("--data", data, "--json", new, "--against", old)
    assert code == 0, err
    against = loaded(new)["against"]
    assert against["paired_questions"] == 6 and against["same_data"] is True and against["changed_settings"] == {}
    assert against["metrics"].keys() >= OVERALL
    for row in against["metrics"].values():
        assert (row["difference"], row["low"], row["high"]) == (0.0, 0.0, 0.0)
    assert "no clear difference" in out


def test_options_choose_depths_questions_profile_and_filler(
    bench: Callable[..., tuple[int, str, str]], data: Path, tmp_path: Path
) -> None:
    code, _, err = bench(
        *("--data", data, "--k", "3,1", "--no-context", "--limit", 4, "--filler", 30, "--profile", "reference"),
        *("--json", tmp_path / "out.json"),
    )
    assert code == 0, err
    results = loaded(tmp_path / "out.json")
    assert {name for name in results["overall"] if name.startswith("R@")} == {"R@1", "R@3"}
    assert not [name for name in results["overall"] if name.startswith("ctx")]
    assert len(results["questions"]) + results["skipped_without_gold"] == 4
    assert results["config"]["retrieval.profile"] == "reference" and results["config"]["bench.filler"] == 30
    assert "storing: 74 turns" in err and "30 filler turns for every user" in err


def test_several_files_share_one_store_and_are_told_apart(
    bench: Callable[..., tuple[int, str, str]], data: Path, tmp_path: Path
) -> None:
    other = tmp_path / "inland.json"
    other.write_text(data.read_text("utf-8").replace('"harbour"', '"inland"'), encoding="utf-8")
    code, out, err = bench("--data", data, "--data", other, "--no-context", "--json", tmp_path / "out.json")
    assert code == 0, err
    results = loaded(tmp_path / "out.json")
    assert results["overall"]["questions"] == 12 and results["categories"]["plain"]["questions"] == 8
    assert {name: part["overall"]["questions"] for name, part in results["per_data"].items()} == {
        "harbour": 6,
        "inland": 6,
    }
    assert "inland" in out and "storing: 28 turns" in err


def test_json_without_a_file_goes_to_stdout_alone(bench: Callable[..., tuple[int, str, str]], data: Path) -> None:
    code, out, err = bench("--data", data, "--limit", 2, "--json")
    assert code == 0, err
    assert json.loads(out)["overall"]["questions"] >= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "0"], "whole numbers"),
        (["--k", "ten"], "whole numbers"),
        (["--profile", "best"], "retrieval.profile"),
        (["--json", "nowhere/out.json"], "is not there"),
        (["--against", "nowhere.json"], "does not exist"),
        (["--limit", "0"], "limit"),
    ],
)
def test_a_bad_option_is_refused_before_anything_is_measured(
    bench: Callable[..., tuple[int, str, str]], data: Path, arguments: list[str], message: str
) -> None:
    code, out, err = bench("--data", data, *arguments)
    assert code == 2 and message in err and "storing" not in err and out == ""


def test_data_that_asks_nothing_is_refused(bench: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text('{"name": "empty", "conversations": []}', encoding="utf-8")
    code, _, err = bench("--data", tmp_path / "empty.json")
    assert code == 2 and "no question with gold turns" in err


# ── what counts as shown ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_turn_is_shown_only_when_it_stands_there_itself_word_for_word() -> None:
    texts = {"short": "Yes", "long": "Yes, I said <yes> & meant it", "twin": "Yes", "other": "I sail"}
    turns = tuple(Said(name, "s", "user", None, 1, text) for name, text in texts.items())
    (user,) = users_of([DataSet("d", "f", "", (Conversation("c", turns, ()),))])

    def prompt(*ids: str, budget: int = 1_000) -> dict[str, bool]:
        recalled = tuple(Candidate(name, texts[name], 0.5, "user", "history") for name in ids)
        assembly = fill(Offer(budget, recalled=recalled), EstimatingCounter(), AssemblySettings())
        return {name: shows(assembly, user, name) for name in texts}

    assert prompt("long") == {"short": False, "long": True, "twin": False, "other": False}
    assert prompt("twin") == {"short": True, "long": False, "twin": True, "other": False}
    assert not any(prompt("long", "other", budget=10).values())


def test_names_given_to_the_store_say_nothing_about_the_data() -> None:
    turns = tuple(Said(str(place), f"secret-{place % 2}", "user", None, place, "x") for place in range(4))
    users = users_of([DataSet("secret", "secret.json", "", (Conversation("secret-c", turns, ()),))])
    assert [user.user for user in users] == ["user-1"]
    assert dict(users[0].sessions) == {"secret-0": "session-1", "secret-1": "session-2"}


# ── times ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_timed_engine_is_the_engine_and_counts_only_questions() -> None:
    engine = OnnxEmbedder()
    timed = TimedEmbedder(engine)
    assert timed.space == engine.space and timed.token_rule == engine.token_rule != ""
    assert (timed.embed_documents(["hello there"]) == engine.embed_documents(["hello there"])).all()
    vectors, tokens = timed.read_documents(["hello there"])
    assert (vectors == engine.embed_documents(["hello there"])).all() and len(tokens) == 1
    assert timed.query_s == 0.0 and timed.ready
    assert (timed.embed_query("hello there") == engine.embed_query("hello there")).all()
    once = timed.query_s
    assert once > 0.0
    assert (timed.read_query("hello there")[0] == engine.embed_query("hello there")).all()
    assert timed.query_s > once


def test_an_engine_without_tokens_stays_one_when_it_is_timed() -> None:
    assert TimedEmbedder(HashedEmbedder(64)).token_rule == ""


def test_a_spread_tells_the_median_and_the_tail_that_were_measured() -> None:
    assert spread_ms([number / 1_000 for number in range(1, 101)]) == {"p50": 50.0, "p99": 99.0}
    assert spread_ms([0.002]) == {"p50": 2.0, "p99": 2.0}
    assert spread_ms([]) == {}
