"""Token rows, places and speakers in SQLite: erased to the byte, whole after a crash, carried along, and cheap."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import numpy as np
import pytest

from libravdb_memory.errors import StoreCorruptError
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Place, Put, Remove, Selection, Space
from libravdb_memory.store.sqlite import places, tokenrows
from libravdb_memory.store.sqlite.backup import restore
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.migrations import STEPS
from libravdb_memory.store.sqlite.store import SqliteStore

FIRST = (1 << 40) + 1
SECRET = b"\xfe\xedXYLOPHONE\xfa\xce"
ONE = np.array([[1, 0]], np.float32)


def put(record_id: str, text: str = "some words", *, replace: bool = False, speaker: str = "Ada") -> Put:
    return Put(Draft("a", record_id, text, {"speaker": speaker}, group="g"), replace=replace)


def fill(store: SqliteStore, number: int, token: bytes = b"row", rule: str = "rule") -> Space:
    space = store.keep_tokens(store.add_space("sha256:one", "one", 2), rule)
    store.commit([put(str(n)) for n in range(number)])
    embed(store, space, token)
    return space


def embed(store: SqliteStore, space: Space, token: bytes = b"row", limit: int = 100_000) -> list[int]:
    todo = store.unembedded(space, limit)
    refs, versions = [item.ref for item in todo], [item.version for item in todo]
    tokens = [b"%d %s" % (ref - FIRST, token) for ref in refs] if space.tokens else None
    store.put_vectors(space, refs, np.tile(ONE, (len(refs), 1)), versions=versions, tokens=tokens)
    return refs


def holding(folder: Path, secret: bytes = SECRET) -> list[str]:
    return [file.name for file in folder.rglob("*") if file.is_file() and secret in file.read_bytes()]


# ── erased ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_erased_token_rows_are_in_no_file_right_after_erase(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        space = fill(store, 30)
        store.commit([put(f"secret{n}") for n in range(3)])
        embed(store, space, SECRET * 300)  # long enough for overflow pages
        store.commit([put(f"later{n}") for n in range(30)])
        embed(store, space)
        assert holding(tmp_path)
        store.erase(Selection(keys=tuple(Key("a", f"secret{n}", "g") for n in range(3))))
        assert holding(tmp_path) == []
        assert store.verify().ok


@pytest.mark.parametrize("how", ["replaced", "removed", "another row", "another rule", "no rule", "space dropped"])
def test_token_rows_that_were_left_behind_are_gone_when_the_store_is_closed(tmp_path: Path, how: str) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        space = fill(store, 20, SECRET)
        leave: dict[str, Callable[[], object]] = {
            "replaced": lambda: store.commit([put(str(n), "changed", replace=True) for n in range(20)]),
            "removed": lambda: store.commit([Remove(Key("a", str(n), "g")) for n in range(20)]),
            "another row": lambda: store.put_vectors(
                space, range(FIRST, FIRST + 20), np.tile(ONE, (20, 1)), tokens=[b"harmless"] * 20
            ),
            "another rule": lambda: store.keep_tokens(space, "other"),
            "no rule": lambda: store.keep_tokens(space, ""),
            "space dropped": lambda: store.drop_space(space),
        }
        leave[how]()
        assert store.verify().ok
    assert holding(tmp_path) == []


# ── verified ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("sql", "detail"),
    [
        ("INSERT INTO token_1 VALUES (12345, x'00')", "its record is gone"),
        ("DELETE FROM token_1 WHERE ref = FIRST", "is lost"),
        ("DELETE FROM token_1", "is lost"),
        (
            "ALTER TABLE token_1 RENAME TO old; CREATE TABLE token_1 (ref INTEGER PRIMARY KEY, data); "
            "INSERT INTO token_1 SELECT ref, CASE ref WHEN FIRST THEN 'words' ELSE data END FROM old; DROP TABLE old",
            "is no blob",
        ),
    ],
)
def test_a_damaged_token_row_is_found_and_its_remedy_named(tmp_path: Path, sql: str, detail: str) -> None:
    with SqliteStore.open(tmp_path / "s.libravdb") as store:
        fill(store, 5)
        assert store.verify().checked["token rows"] == 5
    db = apsw.Connection(str(tmp_path / "s.libravdb"))
    db.create_scalar_function("libravdb_searchable", lambda text: text, 1, flags=apsw.SQLITE_INNOCUOUS)
    db.create_scalar_function("libravdb_erasing", lambda: False, 0, flags=apsw.SQLITE_INNOCUOUS)
    db.execute(sql.replace("FIRST", str(FIRST)))
    db.close()
    with SqliteStore.open(tmp_path / "s.libravdb") as store:
        problems = [problem for problem in store.verify().problems if problem.kind == "token row"]
        assert {(problem.detail, problem.remedy) for problem in problems} == {(detail, "libravdb reindex --indexes")}
        if detail == "is no blob":
            with pytest.raises(StoreCorruptError):
                store.get_tokens(store.spaces()[0], [FIRST])
        store.rebuild_indexes()
        (space,) = store.spaces()
        assert store.verify().ok
        assert len(embed(store, space)) == {"its record is gone": 0, "is no blob": 1}.get(detail, len(problems))
        assert store.get_tokens(space, range(FIRST, FIRST + 5)).keys() == set(range(FIRST, FIRST + 5))
        assert store.count_unembedded(space) == 0


def test_rows_that_are_still_to_be_made_are_no_problem(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        space = store.keep_tokens(fill(store, 10), "other")
        embed(store, space, limit=4)
        store.commit([put("new")])
        assert store.verify().ok


def test_damaged_metadata_is_named_and_silences_nobody_else(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        store.commit([put("1"), put("2")])
        store._writer._db.execute("UPDATE record SET metadata = '{' WHERE ref = ?", (FIRST,))
        with pytest.raises(StoreCorruptError):
            store.places([FIRST, FIRST + 1])
        assert store.places([FIRST + 1])[FIRST + 1].before == FIRST
        assert store.speakers("a") == ("Ada",)


# ── carried along ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_backup_and_restore_carry_the_token_rows(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        space = fill(store, 10)
        rows = store.get_tokens(space, range(FIRST, FIRST + 10))
        store.backup(tmp_path / "b.libravdb")
        store.erase(Selection(collections=("a",)))
    restore(tmp_path / "b.libravdb", tmp_path / "store")
    with SqliteStore.open(tmp_path / "store") as store:
        assert store.spaces() == (space,)
        assert len(rows) == 10
        assert store.get_tokens(space, range(FIRST, FIRST + 10)) == rows
        assert store.verify().ok


def test_a_store_of_the_version_before_token_rows_keeps_its_vectors_and_can_begin_to_keep_rows(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "s.libravdb") as store:
        fill(store, 5, rule="")
    db = apsw.Connection(str(tmp_path / "s.libravdb"))
    for name in ("inserted", "updated", "deleted"):
        db.execute(f"DROP TRIGGER vector_1_{name}")
    db.execute("DROP TABLE edits")
    for column in ("tokens", "token_watermark"):
        db.execute(f"ALTER TABLE space DROP COLUMN {column}")
    db.pragma("user_version", 1)
    db.close()
    with SqliteStore.open(tmp_path / "s.libravdb") as store:
        (space,) = store.spaces()
        assert (space.tokens, store.count_unembedded(space)) == ("", 0)
        assert len(store.search_vectors("a", ONE[0], 10).hits) == 5
        assert store.verify().ok
        space = store.keep_tokens(space, "rule")
        assert len(embed(store, space)) == 5
        assert store.verify().ok
        store.put_vectors(space, [FIRST], -ONE, tokens=[b"x"])
        with store._reading() as reader:
            assert reader.pragma("user_version") == len(STEPS)
            assert reader.execute("SELECT space, collection, number FROM edits").fetchall() == [(1, 1, 1)]


# ── killed ───────────────────────────────────────────────────────────────────────────────────────────────────────────

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.store.test_sqlite_tokens import SqliteStore, embed, put
store = SqliteStore.open(Path(sys.argv[1]))
space = store.add_space("sha256:one", "one", 2)
for n in range(100_000):
    if n % 7 == 0:
        space = store.keep_tokens(space, f"rule {n}")
    store.commit([put(f"{n}.{m}") for m in range(3)] + [put(f"{n // 2}.0", f"again {n}", replace=True)])
    embed(store, space, limit=40)
    print(n, space.tokens, flush=True)
"""


@pytest.mark.parametrize("steps", [3, 11, 24])
def test_after_a_kill_every_vector_has_its_row_or_waits_for_it(tmp_path: Path, steps: int) -> None:
    folder = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "store"), str(folder)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(steps)]
        writer.kill()
    assert told[-1].startswith(f"{steps - 1} ")
    with SqliteStore.open(tmp_path / "store") as store:
        assert store.verify().ok
        (space,) = store.spaces()
        refs = [record.ref for record in store.page("a", limit=10_000).records]
        waiting = {item.ref for item in store.unembedded(space, 10_000)}
        vectors, rows = store.get_vectors(space, refs).keys(), store.get_tokens(space, refs)
        assert rows.keys() <= vectors
        assert set(refs) - rows.keys() == waiting
        assert all(data.startswith(b"%d " % (ref - FIRST)) for ref, data in rows.items())
        while embed(store, space, limit=64):
            pass
        assert store.get_tokens(space, refs).keys() == set(refs)


# ── cheap ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def counting(db: Database) -> Iterator[list[int]]:
    """Steps of SQLite's machine, in hundreds: what work costs, whatever else the processor does."""
    steps = [0]

    def tick() -> bool:
        steps[0] += 1
        return False

    db.set_progress_handler(tick, 100)  # type: ignore[attr-defined]
    try:
        yield steps
    finally:
        db.set_progress_handler(None)  # type: ignore[attr-defined]


def test_a_backfill_costs_the_same_for_each_batch_however_much_is_done_or_left(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        space = store.keep_tokens(fill(store, 6000), "other")
        costs: list[int] = []
        while True:
            with store._reading() as db, counting(db) as reading, counting(store._writer._db) as writing:
                if not embed(store, space, limit=64):
                    break
            costs.append(reading[0] + writing[0])
        assert len(costs) == 94
        assert max(costs) < 2 * min(costs[:-1])


def test_a_search_during_a_backfill_counts_only_what_is_new(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        space = store.keep_tokens(fill(store, 3000), "other")
        store.commit([put("new")])
        store.search_vectors("a", ONE[0], 1)
        with store._reading() as db, counting(db) as steps:
            assert store.search_vectors("a", ONE[0], 1).missing == 1
        assert steps[0] < 10
        assert store.count_unembedded(space) == 3001


def test_vectors_put_again_as_they_were_leave_the_matrix_alone(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        space = fill(store, 50)
        store.search_vectors("a", ONE[0], 1)
        (collection,) = store._place.shelf()._collections.values()
        before = collection._exact.resident()
        space = store.keep_tokens(space, "other")
        assert len(embed(store, space)) == 50
        assert collection._exact.resident() is before
        store.put_vectors(space, [FIRST], -ONE, tokens=[b"x"])
        assert collection._exact.resident() is not before
        assert store.similarities("a", ONE[0], [FIRST]) == {FIRST: -1.0}


def test_places_are_looked_up_and_never_scanned_for(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store, store._reading() as db:
        plan = [str(row[3]) for row in db.execute("EXPLAIN QUERY PLAN " + places._PLACES, ("[]",))]
        scans = [step for step in plan if step.startswith("SCAN")]
        assert len(scans) == 1
        assert "VIRTUAL TABLE" in scans[0]
        assert sum("COVERING INDEX record_grp" in step for step in plan) == 2


def test_places_asked_for_again_are_not_read_again_and_their_number_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_MOST_KEPT", 500)
    with SqliteStore.open(tmp_path) as store, store._reading() as db:
        store.commit([put(str(n)) for n in range(1000)])
        store.commit([Put(Draft("b", str(n), "said", group="g")) for n in range(100)])
        others = [record.ref for record in store.page("b").records]
        for refs in (others[:-1], list(range(FIRST, FIRST + 400))):
            first = store.places(refs)
            with counting(db) as steps:
                assert store.places(refs) == first
            assert steps == [0]
        for start in range(0, 1000, 50):
            refs = list(range(FIRST + start, FIRST + start + 50))
            assert store.places(refs).keys() == set(refs)
            assert sum(map(len, store._places._kept.values())) == store._places._number <= 500


def held(store: SqliteStore) -> int:
    kept = store._token_rows
    assert kept._bytes == sum(map(len, kept._kept.values()))
    return kept._bytes


@pytest.mark.parametrize("at_once", [1, 7, 200])
def test_token_rows_in_memory_stay_within_their_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(tokenrows, "_MOST_BYTES", 5_000)
    with SqliteStore.open(tmp_path) as store:
        space = fill(store, 200, b"x" * 100)
        most = 0
        for start in [*range(0, 200, at_once), 0]:
            refs = range(FIRST + start, min(FIRST + start + at_once, FIRST + 200))
            assert store.get_tokens(space, refs).keys() == set(refs)
            most = max(most, held(store))
        assert most <= 5_000
        assert at_once == 200 or most > 3_000


def test_token_rows_are_forgotten_with_whatever_changes_them(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        space = fill(store, 9)
        refs = range(FIRST, FIRST + 9)
        store.get_tokens(space, refs)
        assert held(store) > 0
        store.put_vectors(space, [FIRST], ONE, tokens=[b"other"])
        assert store.get_tokens(space, refs)[FIRST] == b"other"
        store.commit([Remove(Key("a", "1", "g"))])
        store.erase(Selection(keys=(Key("a", "2", "g"),)))
        assert store.get_tokens(space, refs).keys() == set(refs) - {FIRST + 1, FIRST + 2}
        space = store.keep_tokens(space, "another rule")
        assert held(store) == 0
        assert store.get_tokens(space, refs) == {}


def test_a_place_read_before_an_edit_is_not_remembered_after_it() -> None:
    """As when a thread read, was held up, and another edited meanwhile."""
    known = places.Places()
    place = Place(FIRST, 1, 0, None, FIRST + 1, "", "", 4, asks=False)
    known._keep([place], known._changes)
    assert known._kept
    before = known._changes
    known.forget([FIRST + 7])
    known._keep([place], before)
    assert not any(known._kept.values())
    assert known._number == 0


def test_asking_for_speakers_again_reads_only_what_is_new(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        store.commit([put(str(n), speaker=f"s{n % 5}") for n in range(3000)])
        with store._reading() as db:
            with counting(db) as first:
                assert len(store.speakers("a")) == 5
            with counting(db) as again:
                assert len(store.speakers("a")) == 5
            store.commit([put("new", speaker="new")])
            with counting(db) as later:
                assert "new" in store.speakers("a")
        assert again[0] <= 1
        assert later[0] < 5
        assert first[0] > 100
