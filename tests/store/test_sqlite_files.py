"""Where the SQLite store lives: paths, ownership, foreign and read-only files, versions."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import apsw
import pytest

from libravdb_memory.errors import (
    ForeignFileError,
    StoreCorruptError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreTooNewError,
)
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Put, TextQuery
from libravdb_memory.store.sqlite import migrations
from libravdb_memory.store.sqlite.connections import connect
from libravdb_memory.store.sqlite.files import APPLICATION_ID, locate
from libravdb_memory.store.sqlite.store import SqliteStore

ONE = [Put(Draft("a", "1", "some words"))]


def listing(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_path_means_a_folder_unless_it_has_a_suffix_or_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "dotted.d").mkdir()
    (tmp_path / "plain").write_bytes(b"")
    assert locate(tmp_path) == tmp_path / "data.libravdb"
    assert locate(tmp_path / "new") == tmp_path / "new" / "data.libravdb"
    assert locate(f"{tmp_path}/new.d/") == tmp_path / "new.d" / "data.libravdb"
    assert locate(tmp_path / "dotted.d") == tmp_path / "dotted.d" / "data.libravdb"
    assert locate(tmp_path / "my.libravdb") == tmp_path / "my.libravdb"
    assert locate(tmp_path / "plain") == tmp_path / "plain"


def test_new_folders_and_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "deep" / "home") as store:
        store.commit(ONE)
        assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
        for file in store.path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_closing_leaves_the_data_file_and_no_log(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "s.libravdb") as store:
        store.commit(ONE)
    assert {file.name for file in tmp_path.iterdir()} == {"s.libravdb", "s.libravdb-lock"}


@pytest.mark.parametrize("content", [b"x", b"hello world" * 50, b"SQLite format 3\0" + bytes(200), b"\0" * 4096])
def test_a_file_that_is_not_ours_is_refused_and_left_untouched(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "precious.db"
    file.write_bytes(content)
    before = listing(tmp_path)
    with pytest.raises(ForeignFileError):
        SqliteStore.open(file)
    assert listing(tmp_path) == before


def test_a_database_of_another_program_is_refused_and_left_untouched(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE record (id)")
    other.commit()
    other.close()
    before = listing(tmp_path)
    with pytest.raises(ForeignFileError):
        SqliteStore.open(file)
    assert listing(tmp_path) == before


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    file = tmp_path / "s.libravdb"
    file.touch()
    with SqliteStore.open(file) as store:
        store.commit(ONE)
    with SqliteStore.open(file) as store:
        assert store.get(Key("a", "1")) is not None


def test_what_a_crash_during_creation_leaves_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "s.libravdb-new").write_bytes(b"half a file")
    (tmp_path / "s.libravdb-new-journal").write_bytes(b"half a journal")
    with SqliteStore.open(tmp_path / "s.libravdb") as store:
        store.commit(ONE)
        assert store.verify().ok


def test_a_log_without_its_data_file_is_not_replayed_into_a_new_store(tmp_path: Path) -> None:
    log = tmp_path / "s.libravdb-wal"
    log.write_bytes(b"pages of a store that is gone")
    with pytest.raises(StoreCorruptError, match="wal"):
        SqliteStore.open(tmp_path / "s.libravdb")
    assert log.read_bytes() == b"pages of a store that is gone"


def test_a_second_opener_in_this_process_is_told_the_owner(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        store.commit(ONE)
        with pytest.raises(StoreLockedError) as caught:
            SqliteStore.open(tmp_path)
        assert caught.value.pid == os.getpid()
        assert store.get(Key("a", "1")) is not None
    SqliteStore.open(tmp_path).close()


OWN_AND_WAIT = """
import sys
from pathlib import Path
from libravdb_memory.store.sqlite.store import SqliteStore
store = SqliteStore.open(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def test_another_process_owns_the_store_until_it_dies(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWN_AND_WAIT, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"open\n"
        with pytest.raises(StoreLockedError, match=str(owner.pid)) as caught:
            SqliteStore.open(tmp_path)
        assert caught.value.pid == owner.pid
        owner.kill()
    with SqliteStore.open(tmp_path) as store:
        store.commit(ONE)


def test_a_store_of_a_newer_version_is_refused_and_left_untouched(tmp_path: Path) -> None:
    file = tmp_path / "s.libravdb"
    SqliteStore.open(file).close()
    raw = sqlite3.connect(file)
    raw.execute("PRAGMA user_version = 999")
    raw.close()
    before = file.read_bytes()
    with pytest.raises(StoreTooNewError) as caught:
        SqliteStore.open(file)
    assert (caught.value.found, caught.value.known) == (999, len(migrations.STEPS))
    assert file.read_bytes() == before
    with pytest.raises(StoreTooNewError):
        SqliteStore.open(file)


@pytest.mark.parametrize("earlier", range(len(migrations.STEPS)))
def test_a_store_of_every_earlier_version_is_brought_up_to_date(tmp_path: Path, earlier: int) -> None:
    file = tmp_path / "s.libravdb"
    db = connect(file, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    db.pragma("application_id", APPLICATION_ID)
    migrations.migrate(db, file, migrations.STEPS[:earlier])
    db.execute("CREATE TABLE IF NOT EXISTS something (so_the_file_is_not_empty)")
    assert migrations.version_of(db) == earlier
    db.close()
    with SqliteStore.open(file) as store:
        store.commit(ONE)
        assert store.verify().ok


def test_a_migration_that_fails_leaves_the_version_before(tmp_path: Path) -> None:
    file = tmp_path / "s.libravdb"
    SqliteStore.open(file).close()
    db = connect(file, apsw.SQLITE_OPEN_READWRITE)

    def bad(db: object) -> None:
        db.execute("CREATE TABLE half (done)")  # type: ignore[attr-defined]
        raise RuntimeError("power went")

    with pytest.raises(RuntimeError):
        migrations.migrate(db, file, (*migrations.STEPS, bad))
    assert migrations.version_of(db) == len(migrations.STEPS)
    assert db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").get == 0
    db.close()


OPEN_AS_NOBODY = """
import os, sys
from pathlib import Path
from libravdb_memory.errors import LibraVDBError
from libravdb_memory.store.sqlite.store import SqliteStore
os.setgid(65534)
os.setuid(65534)
try:
    SqliteStore.open(Path(sys.argv[1]))
    print("opened")
except LibraVDBError as error:
    print(type(error).__name__)
"""


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("what", ["file", "folder", "nothing there yet", "everything is writable"])
def test_what_cannot_be_written_is_refused_when_it_is_opened(what: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = folder / "s.libravdb"
        if what != "nothing there yet":
            SqliteStore.open(data).close()
            data.chmod(0o444 if what == "file" else 0o666)
            (folder / "s.libravdb-lock").chmod(0o666)
        folder.chmod(0o777 if what in ("file", "everything is writable") else 0o755)
        before = listing(folder)
        child = subprocess.run(
            [sys.executable, "-c", OPEN_AS_NOBODY, str(data)], capture_output=True, check=True, text=True
        )
        expected = "opened" if what == "everything is writable" else StoreReadOnlyError.__name__
        assert child.stdout.strip() == expected
        if expected != "opened":
            assert {name: content for name, content in listing(folder).items() if not name.endswith("-lock")} == {
                name: content for name, content in before.items() if not name.endswith("-lock")
            }


def test_a_full_disk_refuses_the_write_and_nothing_else(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        store.commit(ONE)
        limit = store._writer._db  # the quota is set where a disk would set it
        pages = limit.pragma("page_count")
        limit.pragma("max_page_count", pages)
        with pytest.raises(StoreFullError):
            store.commit([Put(Draft("b", "big", "word " * 100_000))])
        assert store.get(Key("a", "1")) is not None
        assert store.get(Key("b", "big")) is None
        assert store.search_text("b", TextQuery((("word",),)), 1) == ()
        limit.pragma("max_page_count", 2**30)
        store.commit([Put(Draft("b", "big", "word " * 100_000))])
        assert store.verify().ok


def test_importing_the_store_loads_no_heavy_library() -> None:
    code = (
        "import sys, libravdb_memory.store.sqlite.store\n"
        "print([name for name in ('numpy', 'usearch', 'onnxruntime', 'tokenizers') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.strip() == b"[]"
