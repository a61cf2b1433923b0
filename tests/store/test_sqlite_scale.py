"""Many small collections cost nothing until they are asked for; lookups go through their indexes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import AllOf, Equals, Key, Put, TextQuery
from libravdb_memory.store.sqlite.filters import condition_of
from libravdb_memory.store.sqlite.fulltext import common_from
from libravdb_memory.store.sqlite.store import SqliteStore

EACH = 20


FILL = """
CREATE TEMP TABLE number AS
WITH RECURSIVE number (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < 10000) SELECT n FROM number;
INSERT INTO collection (name, append_only) SELECT 'h:' || n, 1 FROM number;
INSERT INTO grp (key, collection, name) SELECT key, key, 's' FROM collection;
INSERT INTO record SELECT (key << 40) + n, key, n, n, 1, '', '{}', 'turn ' || n FROM grp, number WHERE n <= 20;
INSERT INTO change (ref, kind) SELECT ref, 1 FROM record ORDER BY ref;
INSERT INTO fts (fts) VALUES ('rebuild');
"""


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Filled by SQL, because 200,000 puts take their time; everything but the hashes is as the store would write it."""
    folder = tmp_path_factory.mktemp("crowded")
    with SqliteStore.open(folder) as store, store._writer._db as db:
        db.execute(FILL)
    return folder


@pytest.mark.slow
def test_ten_thousand_collections_open_and_answer_within_a_second(crowded: Path) -> None:
    started = time.perf_counter()
    with SqliteStore.open(crowded) as store:
        assert store.get(Key("h:7777", "3", "s")) is not None
        store.commit([Put(Draft("h:5", "new", "one more", {}, 0, "s"), append_only=True)])
        assert len(store.search_text("h:1234", TextQuery((("turn",),)), 50)) == EACH
        assert time.perf_counter() - started < 1
        assert store.status().resident_vector_bytes == 0


def test_lookups_by_address_and_by_group_use_an_index(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store, store._reading() as db:
        condition = condition_of(AllOf((Equals("group", "s"), Equals("metadata.k", 1))), 5)
        in_group = f"SELECT ref FROM record r WHERE ref >= ? AND ref < ? AND {condition.sql} ORDER BY ref"  # noqa: S608
        for index, sql, values in (
            ("record_address", "SELECT ref FROM record WHERE id = ?", ["3"]),
            ("record_grp", in_group, [5 << 40, 6 << 40, *condition.values]),
        ):
            plan = " ".join(str(row[3]) for row in db.execute("EXPLAIN QUERY PLAN " + sql, values))
            assert index in plan, plan


@pytest.mark.parametrize(
    ("documents", "common"), [(0, 100), (500, 100), (2_000, 200), (10_000, 500), (100_000, 2_000), (1_000_000, 20_000)]
)
def test_the_larger_the_store_the_smaller_the_share_from_which_a_word_is_common(documents: int, common: int) -> None:
    assert common_from(documents) == common
