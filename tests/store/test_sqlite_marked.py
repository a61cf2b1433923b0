"""What is remembered of marked records: current, bounded, and read through one range of one table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from libravdb_memory.store.protocol import AllOf, Equals, Filter, Marked
from libravdb_memory.store.sqlite import marked as module
from libravdb_memory.store.sqlite.marked import MarkedRefs
from libravdb_memory.store.sqlite.shelving import eligible_refs
from libravdb_memory.store.sqlite.store import SqliteStore

FIRST = 1 << 40
PLACE = (1, "x")
Refs = NDArray[np.int64]


class Table:
    """Stands where the table is; counts how often it is read, and lets something happen during a read."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = set(numbers)
        self.reads = 0
        self.meanwhile: Callable[[], None] = lambda: None

    def read(self) -> Refs:
        self.reads += 1
        found = np.array(sorted(FIRST + number for number in self.numbers), np.int64)
        self.meanwhile()
        return found


def numbers(refs: Refs) -> list[int]:
    return [int(ref) - FIRST for ref in refs]


@given(st.sets(st.integers(1, 50)), st.lists(st.integers(1, 200), max_size=200))
def test_marks_are_added_in_any_order_and_arrays_given_out_never_change(first: set[int], later: list[int]) -> None:
    table, held = Table(*first), MarkedRefs()
    given_out = [(held.refs(PLACE, table.read), sorted(first))]
    for number in later:
        table.numbers.add(number)
        held.marked([(FIRST + number, "x"), (FIRST + number + 1, "other"), (2 * FIRST + 7, "x")])
        given_out.append((held.refs(PLACE, table.read), sorted(table.numbers)))
    assert table.reads == 1
    for refs, expected in given_out:
        assert numbers(refs) == expected


@pytest.mark.parametrize("change", ["marked", "unmarked", "removed"])
def test_a_scan_that_a_commit_overtook_is_not_kept(change: str) -> None:
    table, held = Table(1, 2, 3), MarkedRefs()

    def overtake() -> None:
        if change == "marked":
            table.numbers.add(9)
            held.marked([(FIRST + 9, "x")])
        else:
            table.numbers.remove(2)
            held.unmarked([(FIRST + 2, "x")]) if change == "unmarked" else held.removed([FIRST + 2])
        table.meanwhile = lambda: None

    table.meanwhile = overtake
    assert numbers(held.refs(PLACE, table.read)) == [1, 2, 3]
    assert numbers(held.refs(PLACE, table.read)) == sorted(table.numbers)
    assert table.reads == 2


def test_only_what_lost_a_mark_is_read_again() -> None:
    tables = {place: Table(1, 2) for place in ((1, "x"), (1, "y"), (2, "x"))}
    held = MarkedRefs()

    def reads() -> list[int]:
        for place, table in tables.items():
            held.refs(place, table.read)
        return [table.reads for table in tables.values()]

    assert reads() == [1, 1, 1]
    held.unmarked([(FIRST + 1, "x")])
    assert reads() == [2, 1, 1]
    held.removed([FIRST + 1])
    assert reads() == [3, 2, 1]
    assert reads() == [3, 2, 1]


def test_the_least_recently_asked_leaves_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_SETS", 3)
    monkeypatch.setattr(module, "_MOST_REFS", 10)
    tables = {label: Table(1, 2) for label in "abcd"} | {"big": Table(*range(8))}
    held = MarkedRefs()
    for label in ("a", "b", "c", "a", "d", "a", "c", "d", "b"):
        held.refs((1, label), tables[label].read)
    assert [tables[label].reads for label in "abcd"] == [1, 2, 1, 1]
    held.refs((1, "big"), tables["big"].read)
    held.refs((1, "b"), tables["b"].read)
    held.refs((1, "d"), tables["d"].read)
    assert [tables[label].reads for label in ("b", "d", "big")] == [2, 2, 1]


@pytest.mark.parametrize("where", [Marked("x"), AllOf((Equals("metadata.k", 1), Marked("x")))])
def test_reading_by_a_mark_starts_from_the_marks(tmp_path: Path, where: Filter) -> None:
    with SqliteStore.open(tmp_path) as store, store._reading() as db:
        asked: list[str] = []
        db.exec_trace = lambda _, sql, __: asked.append(sql) or True  # type: ignore[attr-defined, func-returns-value]
        eligible_refs(db, 5, where, MarkedRefs())
        db.exec_trace = None  # type: ignore[attr-defined]
        bindings = ["x", 5, 6, *(["$.k"] * 2 + [1] if isinstance(where, AllOf) else [])]
        plan = [str(row[3]) for row in db.execute("EXPLAIN QUERY PLAN " + asked[0], bindings)]
    assert "SEARCH m USING PRIMARY KEY (label=? AND ref>? AND ref<?)" in plan[0]
    assert not any("SCAN" in step or "TEMP B-TREE" in step for step in plan), plan
