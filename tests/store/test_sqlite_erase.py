"""Raw history in SQLite: the schema itself refuses edits, and erasing leaves not a byte."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Mark, Put, Selection
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite.store import SqliteStore

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


def test_a_reader_that_still_needs_the_log_only_delays_its_emptying(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        fill(store)
        store._writer._db.set_busy_timeout(10)  # type: ignore[attr-defined]
        reading, release = threading.Event(), threading.Event()

        def read_slowly() -> None:
            with store._reading() as db:
                db.execute("BEGIN; SELECT count(*) FROM record").fetchall()
                reading.set()
                release.wait()
                db.execute("COMMIT")

        reader = threading.Thread(target=read_slowly)
        reader.start()
        reading.wait()
        erase_secrets(store)
        assert leftovers(tmp_path)
        release.set()
        reader.join()
        store.commit([Put(Draft("a", "1", "anything"))])
        assert leftovers(tmp_path) == []


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
