"""Many small collections cost nothing until they are asked for; lookups go through their indexes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import AllOf, Equals, Key, Put, TextQuery
from libravdb_memory.store.sqlite.filters import condition_of
from libravdb_memory.store.sqlite.store import SqliteStore

COLLECTIONS, EACH = 10_000, 20


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crowded")
    with SqliteStore.open(folder) as store:
        for start in range(0, COLLECTIONS, 500):
            store.commit(
                [
                    Put(Draft(f"history:{owner}", str(n), f"turn {n} of {owner}", {}, n, "s"), append_only=True)
                    for owner in range(start, start + 500)
                    for n in range(EACH)
                ]
            )
    return folder


@pytest.mark.slow
def test_ten_thousand_collections_open_and_answer_within_a_second(crowded: Path) -> None:
    started = time.perf_counter()
    with SqliteStore.open(crowded) as store:
        assert store.get(Key("history:7777", "3", "s")) is not None
        store.commit([Put(Draft("history:5", "new", "one more", {}, 0, "s"), append_only=True)])
        assert len(store.search_text("history:1234", TextQuery((("turn",),)), 50)) == EACH
        assert time.perf_counter() - started < 1
        assert store.status().resident_vector_bytes == 0


@pytest.mark.slow
def test_lookups_by_address_and_by_group_use_an_index(crowded: Path) -> None:
    with SqliteStore.open(crowded) as store, store._reading() as db:
        condition = condition_of(AllOf((Equals("group", "s"), Equals("metadata.k", 1))), 5)
        queries = {
            "record_address": ("SELECT ref FROM record WHERE id = ?", ["3"]),
            "record_grp": (
                "SELECT ref FROM record r WHERE r.ref >= ? AND r.ref < ? AND " + condition.sql + " ORDER BY r.ref",
                [5 << 40, 6 << 40, *condition.values],
            ),
        }
        for index, (sql, values) in queries.items():
            plan = " ".join(str(row[3]) for row in db.execute("EXPLAIN QUERY PLAN " + sql, values))
            assert index in plan, plan
