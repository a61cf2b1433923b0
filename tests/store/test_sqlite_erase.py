"""Raw history in SQLite: the schema itself refuses edits, and erasing leaves not a byte."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Mark, Put, Selection, TextQuery
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite import erasure, fulltext
from libravdb_memory.store.sqlite.background import Background
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.gaps import wipe_gaps
from libravdb_memory.store.sqlite.store import SqliteStore
from libravdb_memory.store.sqlite.upkeep import Upkeep
from libravdb_memory.store.sqlite.writer import GroupWriter

SECRETS = ("xylophonequux", "zanzibarwombat", "quetzalfjord")


def fill(store: SqliteStore) -> None:
    """Secrets between many ordinary records, so that they share pages and index segments with them."""
    for n in range(40):
        store.commit(
            [Put(Draft("history:ada", f"plain-{n}", f"ordinary turn {n} about dinner", {"n": n}), append_only=True)]
        )
        if n % 10 == 5:
            secret = SECRETS[n // 10 % 3]
            store.commit(
                [
                    Put(
                        Draft(
                            "history:ada",
                            f"id-{secret}-{n}",
                            f"the word is {secret}",
                            {secret: secret},
                            0,
                            f"session-{secret}",
                        ),
                        append_only=True,
                    ),
                    Put(Draft(f"user:{secret}", "1", secret, {})),
                    Mark(Key("history:ada", f"id-{secret}-{n}", f"session-{secret}"), secret, {secret: secret}),
                    Mark(Key("history:ada", f"plain-{n}"), "seen", {"n": n}),
                ]
            )


def erase_secrets(store: SqliteStore) -> None:
    doomed = [record for name in ("history:ada",) for record in store.page(name).records if "word is" in record.text]
    store.erase(
        Selection(
            keys=tuple(Key(record.collection, record.id, record.group) for record in doomed),
            collections=tuple(f"user:{secret}" for secret in SECRETS),
        )
    )


def leftovers(folder: Path) -> list[tuple[str, str]]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    stems = [secret[:9].encode() for secret in SECRETS]
    return [(file.name, stem.decode()) for file in files for stem in stems if stem in file.read_bytes()]


def test_erased_text_is_in_no_file_right_after_erase(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        fill(store)
        space = store.add_space("sha256:one", "one", 2)
        todo = store.unembedded(space, 1000)
        store.put_vectors(space, [item.ref for item in todo], np.ones((len(todo), 2), np.float32))
        assert leftovers(tmp_path)
        erase_secrets(store)
        assert leftovers(tmp_path) == []
        assert store.verify().ok
        assert store.status().records == 40


def say_codes(store: SqliteStore, number: int) -> dict[str, list[str]]:
    """Words that only one record has each, and what all have."""
    chance, said = random.Random(number), dict[str, list[str]]()
    for n in range(number):
        said[f"t{n}"] = [f"qx{n}k{chance.randrange(10**9)}", f"{chance.choice('aeiou')}z{n}y"]
        text = " ".join([*said[f"t{n}"], *chance.choices(["dinner", "harbour", "lamps", "vault"], k=20)])
        store.commit([Put(Draft("history:ada", f"t{n}", text, group="s"), append_only=True)])
        if n % 7 == 0:
            store._writer.call(fulltext.merge_some)
    return said


@pytest.mark.parametrize("factor", [0, 200, 10**9])
@pytest.mark.parametrize("share", [0.02, 0.5, 1])
def test_both_ways_of_taking_many_out_of_the_text_index_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: int, share: float
) -> None:
    monkeypatch.setattr(fulltext, "_WORDS_WRITTEN_ANEW", factor)
    with SqliteStore.open(tmp_path) as store:
        said = say_codes(store, 300)
        gone = random.Random(5).sample(sorted(said), round(share * 300))
        store.erase(Selection(keys=tuple(Key("history:ada", name, "s") for name in gone)))
        raw = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        assert not [word for name in gone for word in said[name] if word.encode() in raw]
        assert store.verify().ok
        left = sorted(said.keys() - set(gone))
        for name in left:
            [found] = store.search_text("history:ada", TextQuery(((said[name][0],),)), 5)
            assert store.fetch([found.ref])[found.ref].id == name
        assert secure_delete_of(store) == 1, "what is taken out next is overwritten as before"


def secure_delete_of(store: SqliteStore) -> int:
    with store._reading() as db:
        return int(db.execute("SELECT v FROM fts_config WHERE k = 'secure-delete'").get)


def test_the_text_index_is_written_anew_only_for_a_large_part_of_it(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        say_codes(store, 300)
        store.commit([Put(Draft("history:ada", "long", "many words " * 900, group="s"), append_only=True)])
        store.commit([Put(Draft("unsearchable", "1", "many words " * 900), searchable=False)])
        refs = {record.id: record.ref for record in store.page("history:ada").records}
        hidden = [record.ref for record in store.page("unsearchable").records]

        def ways(*chosen: int) -> bool:
            return store._writer.call(lambda db: fulltext._is_written_anew_sooner(db, chosen))

        assert sum(len(record.text.split()) for record in store.page("history:ada").records) == 300 * 22 + 1800
        assert not ways(refs["t1"]), "22 words of 8,400"
        assert ways(refs["t1"], refs["t2"]), "44 words"
        assert ways(refs["long"]), "words count, not records"
        assert not ways(*hidden) and not ways()


def test_what_is_erased_after_a_large_erasure_that_failed_is_gone_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had told the text index to overwrite nothing."""
    with SqliteStore.open(tmp_path) as store:
        said = say_codes(store, 300)
        with monkeypatch.context() as failing:
            failing.setattr(erasure, "forget_words", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                store.erase(Selection(collections=("history:ada",)))
        for name in ("t7", "t90"):
            store.erase(Selection(keys=(Key("history:ada", name, "s"),)))
            raw = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
            assert not [word for word in said[name] if word.encode() in raw]
        assert secure_delete_of(store) == 1 and store.verify().ok


@pytest.mark.parametrize("reopened", [False, True])
def test_vectors_of_what_is_erased_are_in_no_file_either(tmp_path: Path, reopened: bool) -> None:
    settings = StoreSettings(exact_limit=500)
    store = SqliteStore.open(tmp_path / "store", settings=settings)
    try:
        store.commit([Put(Draft("history:ada", str(n), f"turn {n}"), append_only=True) for n in range(1200)])
        space = store.add_space("sha256:one", "one", 48)
        refs = [item.ref for item in store.unembedded(space, 2000)]
        rows = np.random.default_rng(5).standard_normal((1200, 48), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        store.put_vectors(space, refs, rows)
        store.activate_space(space)
        store.search_vectors("history:ada", rows[0], 5)
        assert store.settle(60)
        [index] = list(tmp_path.rglob("*.ann"))
        assert _nearest_code(index, rows[700]) > 0.999 and _nearest_code(index, rows[3]) > 0.999
        if reopened:
            store.close()
            store = SqliteStore.open(tmp_path / "store", settings=settings)
        store.erase(Selection(keys=(Key("history:ada", "700"),)))
        store.search_vectors("history:ada", rows[0], 5)
        assert store.settle(60)
        if index.exists():
            assert _nearest_code(index, rows[700]) < 0.99 and _nearest_code(index, rows[3]) > 0.999
        store.erase(Selection(collections=("history:ada",)))
        assert store.settle(60) and not list(tmp_path.rglob("*.ann*"))
    finally:
        store.close()
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and rows[700].tobytes() in file.read_bytes()]


def _nearest_code(file: Path, vector: NDArray[np.float32]) -> float:
    """The greatest cosine of the vector to any run of bytes of the file, read as int8."""
    codes = np.lib.stride_tricks.sliding_window_view(np.frombuffer(file.read_bytes(), np.int8), len(vector))
    sums = codes @ vector
    lengths = np.sqrt((codes.astype(np.float32) ** 2).sum(axis=1))
    return float((sums / np.maximum(lengths, 1.0)).max())


def test_replaced_and_removed_text_is_gone_when_the_store_is_closed(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        for n in range(30):
            store.commit([Put(Draft("notes", str(n), f"note {n} {SECRETS[n % 3]}"))])
        for n in range(30):
            store.commit([Put(Draft("notes", str(n), f"note {n} harmless"), replace=True)])
    assert leftovers(tmp_path) == []


@contextmanager
def reading(store: SqliteStore) -> Generator[None]:
    """Somebody else needs the log as it is, as a backup does to a slow disk."""
    foreign = apsw.Connection(str(store.path), flags=apsw.SQLITE_OPEN_READONLY)
    foreign.execute("BEGIN; SELECT count(*) FROM record").fetchall()
    try:
        yield
    finally:
        foreign.close()


def is_marked_unfinished(file: Path) -> bool:
    db = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return bool(db.execute("SELECT count(*) FROM meta WHERE name = 'erasing'").get)
    finally:
        db.close()


def test_a_reader_that_still_needs_the_log_only_delays_its_emptying(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        fill(store)
        with reading(store):
            erase_secrets(store)
            assert leftovers(tmp_path)
            assert not store._upkeep.await_emptied(0.01)
        assert store._upkeep.await_emptied(60), "nobody writes any more, and it is emptied all the same"
        assert leftovers(tmp_path) == []
        with reading(store):
            erase_secrets(store)
        assert store._upkeep.await_emptied(60), "also the next time"


def test_nobody_waits_for_a_reader_that_needs_the_log_of_an_erasure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither does any commit try to empty it, nor does the writer wait for more than a share of the pauses between."""
    tries, pauses = list[int](), list[float]()
    fold, later = GroupWriter._fold, Background.submit_later

    def folded(writer: GroupWriter, mode: int, *then: Callable[[Database], None]) -> bool:
        if mode == apsw.SQLITE_CHECKPOINT_TRUNCATE:
            tries.append(writer._db.pragma("busy_timeout"))
        return fold(writer, mode, *then)

    def asked(thread: Background, job: Callable[[], None], pause_s: float) -> bool:
        pauses.append(pause_s)
        return later(thread, job, pause_s / 50)

    monkeypatch.setattr(GroupWriter, "_fold", folded)
    monkeypatch.setattr(Background, "submit_later", asked)
    with SqliteStore.open(tmp_path / "store") as store:
        fill(store)
        usual = store._writer._db.pragma("busy_timeout")
        with reading(store):
            erase_secrets(store)
            number = 0
            while len(tries) < 14:
                store.commit([Put(Draft("a", str(number := number + 1), "anything"))])
            assert store._writer.call(lambda db: db.pragma("busy_timeout")) == usual
            assert len(tries) - 1 <= len(pauses), "each but the first after a pause of its own"
        assert store._upkeep.await_emptied(60)
        with reading(store):
            store.erase(Selection())
        assert store._upkeep.await_emptied(60) and pauses.count(0.002) == 2, "they begin anew"
    assert tries[0] == 0
    assert pauses[:10] == [min(0.002 * 2**n, 1) for n in range(10)]
    assert all(waited <= 0.05 * 1000 * pause + 0.5 for waited, pause in zip(tries[1:], pauses, strict=False))
    assert max(tries) == 50


def test_erasing_waits_a_moment_for_readers_that_are_about_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Upkeep._empty
    monkeypatch.setattr("libravdb_memory.store.sqlite.store._READERS_AWAITED_S", 60)
    with SqliteStore.open(tmp_path / "store") as store, ExitStack() as about_to_end:
        fill(store)
        about_to_end.enter_context(reading(store))

        def ended_first(upkeep: Upkeep) -> None:
            about_to_end.close()
            empty(upkeep)

        monkeypatch.setattr(Upkeep, "_empty", ended_first)
        erase_secrets(store)
        assert leftovers(tmp_path) == []


def test_who_begins_to_read_while_an_erasure_ends_does_not_have_it_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiped = list[int]()
    with SqliteStore.open(tmp_path / "store") as store, ExitStack() as begun:
        fill(store)

        def wipe_while_somebody_begins(db: Database, path: Path, vfs: str | None) -> int:
            wiped.append(wipe_gaps(db, path, vfs))
            begun.enter_context(reading(store))
            return wiped[-1]

        monkeypatch.setattr(erasure, "wipe_gaps", wipe_while_somebody_begins)
        erase_secrets(store)
        assert len(wiped) == 1 and store._upkeep.await_emptied(0)
        assert leftovers(tmp_path) == []
    assert not is_marked_unfinished(store.path)


def test_closing_finishes_an_erasure_that_a_reader_was_in_the_way_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Background, "submit_later", lambda *_: False)
    with SqliteStore.open(tmp_path / "store") as store:
        fill(store)
        with reading(store):
            erase_secrets(store)
        assert is_marked_unfinished(store.path)
    assert not is_marked_unfinished(store.path)
    assert leftovers(tmp_path) == []


def test_a_reader_in_the_way_when_a_store_is_opened_after_a_crash_only_delays_the_erasure(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        fill(store)
        with reading(store):
            erase_secrets(store)
            shutil.copytree(tmp_path / "store", tmp_path / "crashed", ignore=shutil.ignore_patterns("*-shm", "*lock*"))
    assert leftovers(tmp_path / "crashed")
    foreign = apsw.Connection(str(tmp_path / "crashed" / store.path.name))
    foreign.execute("BEGIN; SELECT count(*) FROM record").fetchall()
    with SqliteStore.open(tmp_path / "crashed") as store:
        assert leftovers(tmp_path / "crashed")
        foreign.close()
        assert store._upkeep.await_emptied(60)
        assert leftovers(tmp_path / "crashed") == []
        assert not is_marked_unfinished(store.path)


@pytest.fixture
def raw_file(tmp_path: Path) -> Path:
    with SqliteStore.open(tmp_path / "s.libravdb") as store:
        store.commit([Put(Draft("raw", "1", "said"), append_only=True), Put(Draft("free", "1", "noted"))])
        return store.path


EDITS = (
    "UPDATE record SET text = 'edited' WHERE {which}",
    "DELETE FROM record WHERE {which}",
    "UPDATE record SET ts = 99 WHERE {which}",
)


@pytest.mark.parametrize("edit", EDITS)
def test_no_connection_edits_raw_history(raw_file: Path, edit: str) -> None:
    raw = edit.format(which="ref >> 40 = 1")
    with SqliteStore.open(raw_file) as store, pytest.raises(apsw.ConstraintError):
        store._writer._db.execute(raw)
    with sqlite3.connect(raw_file) as foreign, pytest.raises(sqlite3.Error):
        foreign.execute(raw)
    foreign.close()


def test_records_keep_their_address_and_collections_their_policy(raw_file: Path) -> None:
    with SqliteStore.open(raw_file) as store:
        db = store._writer._db
        for edit in (
            "UPDATE record SET id = 'other' WHERE ref >> 40 = 2",
            "UPDATE record SET grp = 1 WHERE ref >> 40 = 2",
            "UPDATE record SET ref = ref + 1 WHERE ref >> 40 = 2",
            "UPDATE collection SET append_only = 0",
            "DELETE FROM collection",
            "REPLACE INTO record SELECT ref, grp, id, ts, version, hash, metadata, 'x' FROM record WHERE ref >> 40 = 1",
        ):
            with pytest.raises(apsw.ConstraintError):
                db.execute(edit)
        db.execute("UPDATE record SET ts = 99 WHERE ref >> 40 = 2")
