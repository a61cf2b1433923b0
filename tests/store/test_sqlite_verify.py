"""Verification finds what is wrong and names the command that mends it."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from libravdb_memory.errors import StoreCorruptError
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Link, Mark, Problem, Put, TextQuery
from libravdb_memory.store.sqlite.store import SqliteStore

FIRST = (1 << 40) + 1


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with SqliteStore.open(tmp_path / "s.libravdb") as store:
        store.commit([Put(Draft("a", str(n), f"record number {n} with words", {"n": n})) for n in range(50)])
        store.commit([Link(Key("a", "0"), Key("a", "1")), Link(Key("a", "1"), Key("a", "2"))])
        store.commit([Mark(Key("a", str(n)), "seen", {"n": n}) for n in range(5)])
        space = store.add_space("sha256:one", "one", 2)
        refs = [item.ref for item in store.unembedded(space, 100)]
        store.put_vectors(space, refs, np.ones((50, 2), np.float32))
        assert store.verify().ok
        return store.path


def damage(data: Path, sql: str) -> None:
    """As a bug or a foreign tool would: with the schema's own guards switched off."""
    db = apsw.Connection(str(data))
    db.create_scalar_function("libravdb_searchable", lambda text: text, 1, flags=apsw.SQLITE_INNOCUOUS)
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    db.execute(sql.replace("FIRST", str(FIRST)).replace("THIRD", str(FIRST + 2)))
    db.close()


def problems_of(data: Path) -> list[Problem]:
    with SqliteStore.open(data) as store:
        return list(store.verify().problems)


@pytest.mark.parametrize(
    ("sql", "kind", "remedy"),
    [
        ("UPDATE record SET hash = 'sha256:0' WHERE ref = FIRST", "hash", "restore"),
        ("UPDATE record SET metadata = '{}' WHERE ref = FIRST", "hash", "restore"),
        ("UPDATE record SET ts = 5 WHERE ref = FIRST", "hash", "restore"),
        ("UPDATE record SET grp = 77 WHERE ref = FIRST", "group", "restore"),
        ("INSERT INTO grp (collection, name) VALUES (99, 'lost')", "group", "restore"),
        ("INSERT INTO edge VALUES (FIRST, 12345)", "edge", "restore"),
        ("INSERT INTO edge VALUES (THIRD, FIRST)", "edge", "restore"),
        ("INSERT INTO mark VALUES (1, 12345, '{}')", "mark", "restore"),
        ("INSERT INTO mark VALUES (77, FIRST, '{}')", "mark", "restore"),
        ("UPDATE mark SET data = '{' WHERE ref = FIRST", "mark", "restore"),
        ("INSERT INTO vector_1 VALUES (12345, x'0000803f0000803f')", "vector", "reindex"),
        ("UPDATE vector_1 SET data = x'00' WHERE ref = FIRST", "vector", "reindex"),
        ("UPDATE vector_1 SET data = x'0000c07f0000803f' WHERE ref = FIRST", "vector", "reindex"),
        ("DELETE FROM fts_docsize WHERE id > 0", "text index", "reindex --indexes"),
        ("INSERT INTO fts (fts) VALUES ('delete-all')", "text index", "reindex --indexes"),
        (
            "INSERT INTO fts (fts, rowid, body) VALUES ('delete', FIRST, 'record number 0 with words')",
            "text index",
            "reindex --indexes",
        ),
    ],
)
def test_each_kind_of_damage_is_found_and_named(data: Path, sql: str, kind: str, remedy: str) -> None:
    damage(data, sql)
    found = problems_of(data)
    assert kind in {problem.kind for problem in found}
    assert all(problem.remedy.startswith("libravdb ") for problem in found)
    assert any(remedy in problem.remedy for problem in found if problem.kind == kind)


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO vector_1 VALUES (12345, x'0000803f0000803f')",
        "UPDATE vector_1 SET data = x'00' WHERE ref = FIRST",
        "UPDATE vector_1 SET data = x'0000c07f0000803f' WHERE ref = FIRST",
        "DELETE FROM vector_1 WHERE ref = FIRST",
    ],
)
def test_damaged_vectors_are_dropped_with_the_indexes_and_embedded_again(data: Path, sql: str) -> None:
    damage(data, sql)
    with SqliteStore.open(data) as store:
        with suppress(StoreCorruptError):
            store.search_vectors("a", np.ones(2, np.float32), 100)
        store.rebuild_indexes()
        assert store.verify().ok
        (space,) = store.spaces()
        refs = [item.ref for item in store.unembedded(space, 100)]
        assert refs == ([] if sql.startswith("INSERT") else [FIRST])
        assert store.search_vectors("a", np.ones(2, np.float32), 100).missing == len(refs)
        store.put_vectors(space, refs, np.ones((len(refs), 2), np.float32))
        found = store.search_vectors("a", np.ones(2, np.float32), 100)
        assert (len(found.hits), found.complete) == (50, True)


def test_a_changed_text_is_found_by_its_hash_and_by_the_text_index(data: Path) -> None:
    damage(data, "UPDATE record SET text = 'something else entirely' WHERE ref = FIRST")
    assert {problem.kind for problem in problems_of(data)} >= {"hash", "text index"}


@pytest.mark.parametrize("sql", ["INSERT INTO fts (fts) VALUES ('delete-all')", "DELETE FROM fts_data WHERE id > 10"])
def test_a_lost_text_index_is_rebuilt_from_the_records(data: Path, sql: str) -> None:
    damage(data, sql)
    assert problems_of(data)
    with SqliteStore.open(data) as store:
        store.rebuild_indexes()
        assert store.verify().ok
        assert len(store.search_text("a", TextQuery((("number",),)), 100)) == 50


def test_damaged_pages_are_reported_not_hidden(data: Path) -> None:
    content = bytearray(data.read_bytes())
    pages = len(content) // 8192
    for page in range(2, pages):
        content[page * 8192 + 2000 : page * 8192 + 6000] = b"\xa5" * 4000
    data.write_bytes(content)
    try:
        found = problems_of(data)
    except StoreCorruptError as error:
        assert "restore" in str(error)
    else:
        assert found
        assert any("restore" in problem.remedy for problem in found)


def test_a_file_cut_short_is_reported(data: Path) -> None:
    content = data.read_bytes()
    data.write_bytes(content[: len(content) // 2 // 8192 * 8192])
    try:
        found = problems_of(data)
    except StoreCorruptError as error:
        assert error.path == data
    else:
        assert found


def test_a_lost_table_of_vectors_is_called_damage(data: Path) -> None:
    damage(data, "DROP TABLE vector_1")
    with SqliteStore.open(data) as store:
        (space,) = store.spaces()
        with pytest.raises(StoreCorruptError, match="no such table"):
            store.count_unembedded(space)


# ── the text index ───────────────────────────────────────────────────────────────────────────────────────────────

OTHERWISE = (
    "INSERT INTO fts (fts, rowid, body) VALUES ('delete', FIRST, 'record number 0 with words'); "
    "INSERT INTO fts (rowid, body) VALUES (FIRST, {})"
)


@pytest.mark.parametrize(
    "sql",
    [
        OTHERWISE.format("'record number 1 with words'"),
        OTHERWISE.format("'number record 0 with words'"),
        OTHERWISE.format("'record number 0 with words again'"),
        "INSERT INTO fts (rowid, body) VALUES (77, 'record number 0 with words')",
        "DELETE FROM fts_docsize WHERE id = FIRST",
        "UPDATE fts_docsize SET sz = x'04' WHERE id = FIRST",
        "INSERT INTO fts_docsize VALUES (77, x'05')",
        "UPDATE fts_data SET block = x'32817B' WHERE id = 1",
        "UPDATE fts_data SET block = x'33817A' WHERE id = 1",
    ],
)
def test_a_text_index_that_says_something_else_than_the_records_is_found(data: Path, sql: str) -> None:
    damage(data, sql)
    assert [problem.remedy for problem in problems_of(data) if problem.kind == "text index"] == [
        "libravdb reindex --indexes"
    ]
    with SqliteStore.open(data) as store:
        store.rebuild_indexes()
        assert store.verify().ok


any_sign = st.sampled_from("ab 不要한ｗ！กำ\u0e31か\u3099\n.\0é\U00020000\u0301\u200d\u202e") | st.characters(
    exclude_categories=["Cs"]
)


@given(st.lists(st.text(any_sign, max_size=40), max_size=5))
@example(["the accent stands alone: \u0301", "\u0301"])
def test_a_sound_text_index_says_the_same_as_the_records(
    tmp_path_factory: pytest.TempPathFactory, said: list[str]
) -> None:
    with SqliteStore.open(tmp_path_factory.mktemp("sound")) as store:
        assert store.verify().problems == ()
        store.commit([Put(Draft("a", str(n), text)) for n, text in enumerate(said)])
        store.commit([Put(Draft("hidden", "1", "not indexed"), searchable=False)])
        store.commit([Put(Draft("a", "0", "in its place"), replace=True)])
        assert store.verify().problems == ()


def test_words_that_the_text_index_cuts_short_are_the_same_to_it(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        texts = ["x" * 40_000, "é" * 40_000 + " and", "a" + "ж" * 80_000, "不要" * 40_000]
        store.commit([Put(Draft("a", str(n), text)) for n, text in enumerate(texts)])
        assert store.verify().problems == ()


def test_nobody_who_writes_waits_for_verification(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        store.commit([Put(Draft("a", str(n), f"record number {n}")) for n in range(50)])
        writing, verified, in_time = threading.Event(), threading.Event(), list[bool]()

        def write_slowly(_: object) -> None:
            writing.set()
            in_time.append(verified.wait(30))

        writer = threading.Thread(target=store._writer.call, args=(write_slowly,))
        writer.start()
        writing.wait()
        assert store.verify().ok
        verified.set()
        writer.join()
        assert in_time == [True]
