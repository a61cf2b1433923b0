"""The lifecycle journal: the newest hints, in order, in no recall."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libravdb_memory import Memory
from libravdb_memory.config import Config
from libravdb_memory.journal import Journal
from libravdb_memory.store.protocol import Store
from libravdb_memory.store.sqlite.store import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = SqliteStore.open(tmp_path / "data.libravdb")
    yield opened
    opened.close()


def test_hints_are_listed_in_the_order_in_which_they_came_whatever_the_clock_said(store: Store) -> None:
    journal = Journal(store)
    for number, now in enumerate([5000, 1000, 1000, 9000]):
        journal.append("s1", f"hook{number}", {"reason": "r", "messageCount": number}, now)
    found = journal.entries()
    assert [entry.hook for entry in found] == ["hook0", "hook1", "hook2", "hook3"]
    assert found[3].facts == {"reason": "r", "messageCount": 3} and found[3].ts == 9000
    assert len({entry.id for entry in found}) == 4


def test_a_limit_takes_the_newest_and_a_session_its_own(store: Store) -> None:
    journal = Journal(store)
    for number in range(6):
        journal.append(f"s{number % 2}", str(number), {}, number)
    assert [entry.hook for entry in journal.entries(limit=2)] == ["4", "5"]
    assert [entry.hook for entry in journal.entries("s0", limit=2)] == ["2", "4"]


@settings(max_examples=20)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=6))
def test_no_more_than_the_bound_is_kept_also_when_it_is_lowered(bounds: list[int]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore.open(Path(folder) / "data.libravdb")
        expected: list[str] = []
        for at, keep in enumerate(bounds):
            journal = Journal(store, keep)
            for number in range(4):
                journal.append("s", f"{at}.{number}", {}, number)
                expected = [*expected, f"{at}.{number}"][-keep:] if keep else []
            assert [entry.hook for entry in journal.entries()] == expected and journal.count() == len(expected)
        store.close()


def test_a_hint_is_part_of_no_recall(hashed: Config) -> None:
    with Memory.open(config=hashed) as memory:
        memory.ingest("the lighthouse is painted white", user="ada", session="s1")
        memory.wait()
        Journal(memory.store).append("s1", "lighthouse", {"reason": "the lighthouse is painted white"}, 1)
        memory.wait()
        found = memory.search("lighthouse painted white", user="ada")
        assert [hit.text for hit in found] == ["the lighthouse is painted white"]
        assert memory.verify().ok
