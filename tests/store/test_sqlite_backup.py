"""Backups are made from a running store and put back into a stopped one, and nothing else is ever harmed."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

from libravdb_memory.errors import (
    ForeignFileError,
    InvalidInputError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreLockedError,
)
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Put, TextQuery
from libravdb_memory.store.sqlite.backup import restore
from libravdb_memory.store.sqlite.store import SqliteStore


def texts(path: Path) -> set[str]:
    with SqliteStore.open(path) as store:
        assert store.verify().ok
        return {record.text for record in store.page("a").records}


def write(store: SqliteStore, *words: str) -> None:
    for word in words:
        store.commit([Put(Draft("a", word, f"the word {word}"))])


def test_a_backup_holds_what_the_store_held_and_is_one_private_file(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        write(store, "one", "two")
        space = store.add_space("sha256:one", "one", 2)
        refs = [item.ref for item in store.unembedded(space, 10)]
        store.put_vectors(space, refs, np.eye(2, dtype=np.float32))
        told: list[tuple[int, int]] = []
        store.backup(tmp_path / "copies" / "b.libravdb", lambda done, total: told.append((done, total)))
        write(store, "three")
        uuid = store.uuid
    assert told[-1][0] == told[-1][1] > 0
    copy = tmp_path / "copies" / "b.libravdb"
    assert [file.name for file in copy.parent.iterdir()] == [copy.name]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with SqliteStore.open(copy) as store:
        assert store.uuid == uuid
        assert store.search_vectors("a", np.array([0, 1], np.float32), 1).hits[0].ref == refs[1]
        assert len(store.search_text("a", TextQuery((("word",),)), 9)) == 2


def test_a_backup_made_while_many_write_is_one_moment(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        stop = threading.Event()

        def pairs() -> None:
            for n in range(100_000):
                if stop.is_set():
                    return
                store.commit([Put(Draft("left", str(n), "x")), Put(Draft("right", str(n), "x"))])

        writer = threading.Thread(target=pairs)
        writer.start()
        while store.status().records < 20:
            pass
        for n in range(3):
            store.backup(tmp_path / f"{n}.libravdb")
        stop.set()
        writer.join()
    for n in range(3):
        with SqliteStore.open(tmp_path / f"{n}.libravdb") as copy:
            assert len({info.count for info in copy.collections()}) == 1
            assert copy.verify().ok


def test_a_later_backup_replaces_an_earlier_one(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        write(store, "one")
        store.backup(tmp_path / "b.libravdb")
        write(store, "two")
        store.backup(tmp_path / "b.libravdb")
    assert texts(tmp_path / "b.libravdb") == {"the word one", "the word two"}


def test_a_backup_never_replaces_a_store_a_folder_or_a_foreign_file(tmp_path: Path) -> None:
    foreign = tmp_path / "letter.txt"
    foreign.write_text("dear me")
    other = tmp_path / "other.libravdb"
    with SqliteStore.open(other) as running, SqliteStore.open(tmp_path / "store") as store:
        write(running, "mine")
        with pytest.raises(ForeignFileError):
            store.backup(foreign)
        with pytest.raises(StoreLockedError):
            store.backup(other)
        with pytest.raises(InvalidInputError):
            store.backup(tmp_path)
        with pytest.raises(InvalidInputError):
            store.backup(store.path)
    with SqliteStore.open(tmp_path / "store") as store, pytest.raises(InvalidInputError, match="store, not a backup"):
        store.backup(other)
    assert foreign.read_text() == "dear me"
    assert texts(other) == {"the word mine"}
    with pytest.raises(StoreClosedError):
        store.backup(tmp_path / "b.libravdb")


def test_restoring_brings_back_the_moment_and_keeps_what_was_there(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with SqliteStore.open(home) as store:
        write(store, "one")
        store.backup(tmp_path / "b.libravdb")
        write(store, "two")
    told: list[tuple[int, int]] = []
    kept = restore(tmp_path / "b.libravdb", home, lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] > 0
    assert kept == home / "data.libravdb.before-restore"
    assert texts(home) == {"the word one"}
    assert texts(kept) == {"the word one", "the word two"}
    again = restore(tmp_path / "b.libravdb", home)
    assert again == home / "data.libravdb.before-restore-2"
    assert texts(kept) == {"the word one", "the word two"}


def test_restoring_keeps_what_a_crash_left_in_the_log(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with SqliteStore.open(home) as store:
        write(store, "one")
        store.backup(tmp_path / "b.libravdb")
        write(store, "two")
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for suffix in ("", "-wal"):
            source = store.path.with_name(store.path.name + suffix)
            (crashed / source.name).write_bytes(source.read_bytes())
    kept = restore(tmp_path / "b.libravdb", crashed)
    assert kept is not None
    assert texts(kept) == {"the word one", "the word two"}
    assert texts(crashed) == {"the word one"}


def test_restoring_works_where_nothing_was_and_over_a_damaged_store(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store") as store:
        write(store, "one")
        store.backup(tmp_path / "b.libravdb")
        data = store.path
    assert restore(tmp_path / "b.libravdb", tmp_path / "fresh") is None
    assert texts(tmp_path / "fresh") == {"the word one"}
    content = bytearray(data.read_bytes())
    content[8192:] = os.urandom(len(content) - 8192)
    data.write_bytes(content)
    kept = restore(tmp_path / "b.libravdb", tmp_path / "store")
    assert kept is not None
    assert kept.read_bytes() == bytes(content)
    assert texts(tmp_path / "store") == {"the word one"}


def test_restoring_refuses_bad_backups_and_running_stores_and_changes_nothing(tmp_path: Path) -> None:
    home, good = tmp_path / "home", tmp_path / "good.libravdb"
    with SqliteStore.open(home) as store:
        write(store, "one", *[f"filler-{n}" for n in range(50)])
        store.backup(good)
        with pytest.raises(StoreLockedError):
            restore(good, home)
    before = texts(home)
    foreign, torn = tmp_path / "foreign", tmp_path / "torn.libravdb"
    foreign.write_text("no store")
    torn.write_bytes(good.read_bytes()[: good.stat().st_size // 2])
    for bad, error in ((foreign, ForeignFileError), (tmp_path / "absent", ForeignFileError), (torn, StoreCorruptError)):
        with pytest.raises(error):
            restore(bad, home)
    with pytest.raises(StoreError):
        restore(good, foreign)
    with pytest.raises(InvalidInputError):
        restore(home / "data.libravdb", home)
    assert foreign.read_text() == "no store"
    assert texts(home) == before
    assert not list(home.glob("*before-restore*"))


def test_a_failed_backup_leaves_an_earlier_one_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "b.libravdb"
    with SqliteStore.open(tmp_path / "store") as store:
        write(store, "one")
        store.backup(target)
        before = target.read_bytes()
        write(store, "two")

        def give_up(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.backup(target, give_up)
        assert target.read_bytes() == before
        assert not (tmp_path / "b.libravdb.partial").exists()
        assert store.get(Key("a", "two")) is not None
