"""A clock that steps backwards disturbs neither order nor identity."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from libravdb_memory import Config, Memory
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.protocol import Page
from libravdb_memory.store.sqlite.store import SqliteStore


def history(path: Path) -> Page:
    with SqliteStore.open(path) as store:
        assert store.verify().ok
        assert [change.sequence for change in store.changes_since(0)] == sorted(
            change.sequence for change in store.changes_since(0)
        )
        return store.page(history_of("ada"), limit=1000)


def test_turns_keep_their_order_when_the_clock_steps_backwards(
    tmp_path: Path, hashed: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.libravdb"
    chance = random.Random(11)
    real = time.time_ns()
    shift_ns = 0
    monkeypatch.setattr(time, "time_ns", lambda: real + shift_ns)
    said: list[str] = []
    for _ in range(3):
        with Memory.open(path, config=hashed) as memory:
            for _ in range(15):
                shift_ns = chance.choice((0, -1, -86_400 * 10**9, 3_600 * 10**9, -real, -real + 1))
                said.append(f"heron {len(said)}")
                turn = memory.ingest(said[-1], user="ada", session="s1")
                assert memory.get(turn.id, user="ada").text == said[-1]
            assert memory.wait(60)
            assert memory.search("heron 7", user="ada", k=1).degraded == ()
    records = history(path).records
    assert [record.text for record in records] == said
    assert [record.ref for record in records] == sorted(record.ref for record in records)
    assert len({record.id for record in records}) == len(said)


def test_the_same_turn_again_under_another_clock_is_still_the_same_turn(
    tmp_path: Path, hashed: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time_ns()
    with Memory.open(tmp_path / "store.libravdb", config=hashed) as memory:
        first = memory.ingest("a heron", user="ada", session="s1", id="t1")
        monkeypatch.setattr(time, "time_ns", lambda: real - 10**15)
        assert memory.ingest("a heron", user="ada", session="s1", id="t1") == first
        assert memory.status().turns == 1


def test_waiting_is_not_measured_by_the_clock_that_steps(
    tmp_path: Path, hashed: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 0.0)
    with Memory.open(tmp_path / "store.libravdb", config=hashed) as memory:
        memory.ingest("a heron", user="ada", session="s1")
        assert memory.wait(60)
