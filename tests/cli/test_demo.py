"""The demonstration, with the real model."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from libravdb_memory import demo
from libravdb_memory.ingest.partition import Tier
from libravdb_memory.store.sqlite.lock import owner_of

Run: TypeAlias = Callable[..., Any]
USER_TURNS = sum(line.role == "user" for conversation in demo.STORY for line in conversation.lines)


def test_the_demonstration_shows_rules_gate_prompt_and_receipt(libravdb: Run, tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    with tempfile.TemporaryDirectory(prefix="lv-") as home:  # a short one, so that a socket may lie there
        result = libravdb("demo", "--keep", keep, LIBRAVDB_EMBEDDING_BACKEND="bundled", HOME=home)
    assert result.code == 0, result.out + result.err
    assert result.out.count("✓") == len(demo.QUESTIONS) + 11 and "✗" not in result.out
    assert "Never point tests at the staging server." in result.out and "forbidden" in result.out
    verdicts = [line.split()[0] for line in result.out.splitlines() if line.startswith(("   kept  ", "   refused  "))]
    assert len(verdicts) == USER_TURNS and set(verdicts) == {"kept", "refused"}
    for shown in ("<recalled_memories>", "█", "in the prompt", "left out", "tokens over", "why not?", "the same bytes"):
        assert shown in result.out
    assert max(map(len, result.out.splitlines())) <= 80
    assert "from libravdb_memory import Memory" in result.out and "libravdb search" in result.out
    assert "through its socket" in result.err and "libravdb daemon start" in result.out
    assert "import Client" in result.out and "at unix:~/.clawdb/run/libravdb.sock\n" in result.out
    status = json.loads(libravdb("--db", keep, "status", "--json", LIBRAVDB_EMBEDDING_BACKEND="bundled").out)
    told = sum(len(conversation.lines) for conversation in demo.STORY)
    assert status["turns"] == 2 * told + 1, "the story, told again as one session, and what was said before the replay"
    assert status["summaries"] == 1 and "14 below 1 summary" in result.out and "word for word" in result.out
    assert status["gate"]["judged"] >= USER_TURNS


def test_the_demonstration_says_the_same_every_time_and_leaves_no_store(libravdb: Run, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    variables = {"LIBRAVDB_EMBEDDING_BACKEND": "bundled", "TMPDIR": str(tmp_path / "scratch")}
    first, second = (libravdb("demo", **variables) for _ in range(2))
    assert first.out == second.out and first.code == 0
    assert not list((tmp_path / "scratch").glob("libravdb*"))
    assert not (tmp_path / "home" / ".clawdb").exists()


@pytest.mark.parametrize("broken", ["_tell", "_reopened"])
def test_the_daemon_of_the_demonstration_ends_with_it_whatever_happens(
    cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, broken: str
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("the story ends here")

    started: list[int] = []
    start = demo.start

    def watched(*how: Any) -> Any:
        started.append((found := start(*how))[0].pid)
        return found

    monkeypatch.setattr(demo, "start", watched)
    monkeypatch.setattr(demo, broken, fails)
    assert cli("demo", "--keep", tmp_path / "kept.libravdb").code == 70
    assert started and owner_of(tmp_path / "kept.libravdb") is None


def test_embedding_leaves_no_trace_outside_the_store(libravdb: Run, tmp_path: Path) -> None:
    """onnxruntime keeps a device id and a queue of reports in the home unless it is told not to."""
    (tmp_path / "scratch").mkdir()
    libravdb("add", "hello", LIBRAVDB_EMBEDDING_BACKEND="bundled", TMPDIR=str(tmp_path / "scratch"))
    assert list((tmp_path / "scratch").iterdir()) == []
    assert not (tmp_path / "home").exists()


def test_a_wrong_answer_fails_the_demonstration(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "QUESTIONS", (demo.Question("which database did we choose?", "r6"),))
    result = cli("demo")
    assert result.code == 1 and "expected r6" in result.out and "FAILED" in result.out


@pytest.mark.parametrize(
    ("name", "value"), [("SMALL_TALK", "k5"), ("_EXPECTED_NODES", {Tier.HARD: 3}), ("BUDGET", 100)]
)
def test_a_claim_that_does_not_hold_fails_the_demonstration(
    cli: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_BACKEND", "bundled")
    monkeypatch.setattr(demo, name, value)
    result = cli("demo")
    assert result.code == 1 and "FAILED" in result.out


def test_the_demonstration_never_writes_into_an_existing_place(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert cli("demo", "--keep", tmp_path / "mine").code == 2
    assert list((tmp_path / "mine").iterdir()) == []


def test_the_story_is_consistent() -> None:
    ids = [line.id for conversation in demo.STORY for line in conversation.lines]
    assert len(set(ids)) == len(ids)
    assert all(question.answer in ids for question in demo.QUESTIONS)
    times = [conversation.began for conversation in demo.STORY]
    assert times == sorted(times)
