"""What lies at the data path and is not ours: refused by name, at once, and not a byte of it changed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from turns_on_disk import assert_holds, commit_all

from libravdb_memory.cli import main
from libravdb_memory.errors import ForeignFileError, StoreCorruptError, StoreError
from libravdb_memory.store.sqlite.backup import restore
from libravdb_memory.store.sqlite.store import SqliteStore


def text_file(path: Path) -> None:
    path.write_text("Dear diary, this is not a database.\n")


def other_database(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE ours (value); INSERT INTO ours VALUES (1)")
    db.close()


def other_database_with_log(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "WAL")
    db.execute("CREATE TABLE ours (value); INSERT INTO ours VALUES (1)")
    held = path.read_bytes(), path.with_name(path.name + "-wal").read_bytes()
    db.close()
    path.write_bytes(held[0])
    path.with_name(path.name + "-wal").write_bytes(held[1])


def a_few_bytes(path: Path) -> None:
    path.write_bytes(b"SQLite")


def folder(path: Path) -> None:
    (path / "data.libravdb").mkdir(parents=True)
    (path / "data.libravdb" / "letter.txt").write_text("keep me")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listening_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # names of sockets must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def empty_device(path: Path) -> None:
    path.symlink_to("/dev/null")


def link_to_text(path: Path) -> None:
    text_file(path.with_name("diary.txt"))
    path.symlink_to("diary.txt")


def link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


FOREIGN = [
    text_file,
    other_database,
    other_database_with_log,
    a_few_bytes,
    folder,
    fifo,
    listening_socket,
    endless_device,
    empty_device,
    link_to_text,
    link_to_itself,
]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="makes fifos, sockets and links")


def picture(top: Path) -> dict[str, object]:
    """Everything in a folder, byte for byte, without opening what would block."""
    return {
        str(path.relative_to(top)): path.readlink()
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else path.lstat().st_mode
        for path in sorted(top.rglob("*"))
    }


@pytest.mark.parametrize("make", FOREIGN)
def test_a_foreign_thing_is_refused_and_left_untouched(tmp_path: Path, make: Callable[[Path], None]) -> None:
    place = tmp_path / "place"
    place.mkdir()
    path = place / "store.libravdb"
    make(path)
    before = picture(place)
    with pytest.raises(StoreError) as refusal:
        SqliteStore.open(path)
    assert os.path.realpath(path) in str(refusal.value)
    assert picture(place) == before
    if make is not link_to_itself:
        assert isinstance(refusal.value, ForeignFileError)
    with pytest.raises(StoreError):
        restore(path, tmp_path / "elsewhere.libravdb")
    assert picture(place) == before
    assert not (tmp_path / "elsewhere.libravdb").exists()


@pytest.mark.parametrize("make", FOREIGN)
def test_restoring_and_backing_up_do_not_overwrite_a_foreign_thing(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    make(place / "store.libravdb")
    before = picture(place)
    with SqliteStore.open(tmp_path / "good.libravdb") as store:
        commit_all(store, range(2))
        store.backup(tmp_path / "backup.libravdb")
        with pytest.raises((StoreError, ValueError)):
            store.backup(place / "store.libravdb")
    with pytest.raises(StoreError):
        restore(tmp_path / "backup.libravdb", place / "store.libravdb")
    assert picture(place) == before


@pytest.mark.parametrize("make", FOREIGN)
@pytest.mark.parametrize("command", ["verify", "doctor", "status"])
def test_the_program_says_that_a_thing_is_foreign(
    tmp_path: Path,
    make: Callable[[Path], None],
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LIBRAVDB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_BACKEND", "hashed")
    place = tmp_path / "place"
    place.mkdir()
    make(place / "store.libravdb")
    before = picture(place)
    code = main(["--db", str(place / "store.libravdb"), command])
    said = "".join(capsys.readouterr())
    assert code in (1, 5)
    assert Path(os.path.realpath(place / "store.libravdb")).name in said.replace("\n", "")
    assert "Traceback" not in said
    assert "unexpected" not in said
    assert picture(place) == before


def test_a_fifo_never_makes_the_program_wait(tmp_path: Path) -> None:
    fifo(tmp_path / "store.libravdb")
    command = [sys.executable, "-m", "libravdb_memory", "--db", str(tmp_path / "store.libravdb"), "verify"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 5
    assert "not a LibraVDB Memory store" in done.stderr


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.libravdb"
    path.touch()
    with SqliteStore.open(path) as store:
        commit_all(store, range(1))
    with SqliteStore.open(path) as store:
        assert_holds(store, range(1))


def test_a_store_cut_to_nothing_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "store.libravdb"
    with SqliteStore.open(path) as store:
        commit_all(store, range(1))
    path.write_bytes(b"")
    with pytest.raises(StoreCorruptError, match="empty"):
        SqliteStore.open(path)
    assert path.read_bytes() == b""
    assert main(["--db", str(path), "verify"]) == 5
    assert main(["--db", str(path), "doctor"]) == 1


def test_a_link_to_a_store_is_that_store_with_that_owner(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "store.libravdb", tmp_path / "link.libravdb"
    with SqliteStore.open(real) as store:
        commit_all(store, range(2))
        link.symlink_to(real)
        with pytest.raises(StoreError, match=f"process {os.getpid()}"):
            SqliteStore.open(link)
    with SqliteStore.open(link) as store:
        assert_holds(store, range(2))
        with pytest.raises(StoreError, match=f"process {os.getpid()}"):
            SqliteStore.open(real)
    assert link.is_symlink()


def test_a_link_to_nothing_makes_the_store_where_it_points(tmp_path: Path) -> None:
    link = tmp_path / "link.libravdb"
    link.symlink_to(tmp_path / "real.libravdb")
    with SqliteStore.open(link) as store:
        commit_all(store, range(1))
    assert link.is_symlink()
    with SqliteStore.open(tmp_path / "real.libravdb") as store:
        assert_holds(store, range(1))
