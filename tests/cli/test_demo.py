"""The demonstration, with the real model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from libravdb_memory import demo

Run: TypeAlias = Callable[..., Any]


def test_the_demonstration_finds_every_answer(libravdb: Run, tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    result = libravdb("demo", "--keep", keep, LIBRAVDB_EMBEDDING_BACKEND="bundled")
    assert result.code == 0, result.out + result.err
    assert result.out.count("✓") == len(demo.QUESTIONS) and "✗" not in result.out
    assert "from libravdb_memory import Memory" in result.out and "libravdb search" in result.out
    status = libravdb("--db", keep, "status", "--json", LIBRAVDB_EMBEDDING_BACKEND="bundled")
    assert json.loads(status.out)["turns"] == sum(len(conversation.lines) for conversation in demo.STORY)


def test_the_demonstration_says_the_same_every_time_and_leaves_no_store(libravdb: Run, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    variables = {"LIBRAVDB_EMBEDDING_BACKEND": "bundled", "TMPDIR": str(tmp_path / "scratch")}
    first, second = (libravdb("demo", **variables) for _ in range(2))
    assert first.out == second.out and first.code == 0
    assert not list((tmp_path / "scratch").glob("libravdb*"))
    assert not (tmp_path / "home" / ".clawdb").exists()


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
