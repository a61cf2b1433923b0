"""What is erased is not left between the cells of a page, where SQLite keeps copies of cells that it moved."""

from __future__ import annotations

import random
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Put, Selection
from libravdb_memory.store.sqlite.database import Database, open_database
from libravdb_memory.store.sqlite.gaps import _gap, wipe_gaps
from libravdb_memory.store.sqlite.store import SqliteStore

PAGE = 4096


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows"


@pytest.fixture
def rows(file: Path) -> Iterator[Database]:
    """A table and an index in a file as the store has it."""
    db = open_database(file, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    db.pragma("page_size", PAGE)
    db.pragma("journal_mode", "WAL")
    db.pragma("secure_delete", 1)
    db.execute("CREATE TABLE said (key INTEGER PRIMARY KEY, text TEXT); CREATE INDEX by_text ON said (text)")
    db.execute("CREATE TABLE named (text TEXT PRIMARY KEY) WITHOUT ROWID")
    yield db
    db.close()


def live(db: Database, file: Path, seed: int, wipe: bool) -> int:
    """Write and delete; how many of the deleted texts are still in the file, counted after each deletion and before
    the next, so that nothing that was wiped comes back."""
    chance, alive, gone, left = random.Random(seed), dict[int, str](), list[str](), 0
    for number in range(400):
        key = chance.randrange(10**6)
        code = f"code{number}x{chance.randrange(10**9)}"
        text = code + " la" * chance.randrange(1, 150)
        db.execute("INSERT OR IGNORE INTO said VALUES (?, ?)", (key, text))
        db.execute("INSERT INTO named VALUES (?)", (text,))
        alive[key] = code
        if number % 5 == 4:
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            left += sum(each.encode() in file.read_bytes() for each in gone)
            key = chance.choice(list(alive))
            gone.append(alive.pop(key))
            db.execute("DELETE FROM named WHERE text = (SELECT text FROM said WHERE key = ?)", (key,))
            db.execute("DELETE FROM said WHERE key = ?", (key,))
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            if wipe:
                wipe_gaps(db, file, None)
            left += sum(each.encode() in file.read_bytes() for each in gone)
    return left


def contents(db: Database) -> list[tuple[object, ...]]:
    return db.execute(
        "SELECT 1, key, text FROM said UNION ALL SELECT 2, 0, text FROM named "
        "UNION ALL SELECT 3, rootpage, sql FROM sqlite_schema ORDER BY 1, 2, 3"
    ).fetchall()


def test_what_was_deleted_is_nowhere_in_the_file_once_its_gaps_are_wiped(rows: Database, file: Path) -> None:
    assert live(rows, file, 1, wipe=True) == 0
    assert rows.execute("PRAGMA integrity_check").get == "ok"


def test_without_that_sqlite_leaves_copies(rows: Database, file: Path) -> None:
    assert live(rows, file, 1, wipe=False) > 0


def test_wiping_changes_nothing_that_anybody_can_read_and_finds_nothing_twice(rows: Database, file: Path) -> None:
    live(rows, file, 2, wipe=False)
    rows.execute("INSERT INTO said VALUES (-1, ?)", ("overflowing " * 5_000,))
    rows.execute("DELETE FROM said WHERE key % 7 = 0")  # leaves free pages
    rows.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    before = contents(rows)
    assert wipe_gaps(rows, file, None) > 0
    assert wipe_gaps(rows, file, None) == 0
    assert contents(rows) == before
    assert rows.execute("PRAGMA integrity_check").get == "ok"


def test_nobody_can_fold_a_log_meanwhile(rows: Database, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is replaced between reading and wiping would be damaged."""
    live(rows, file, 3, wipe=False)
    other = open_database(file, apsw.SQLITE_OPEN_READWRITE)
    folded = list[tuple[int, int]]()

    class Watched(apsw.VFSFile):
        def xWrite(self, data: bytes, offset: int) -> None:
            if not folded:
                other.execute("INSERT INTO said VALUES (-2, 'meanwhile')")
                folded.append(other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE))
            super().xWrite(data, offset)

    monkeypatch.setattr(apsw, "VFSFile", Watched)
    assert wipe_gaps(rows, file, None) > 0
    [(pages, moved)] = folded
    assert pages > 0 and moved == 0
    other.close()
    assert rows.execute("PRAGMA integrity_check").get == "ok"
    assert rows.execute("SELECT text FROM said WHERE key = -2").get == "meanwhile"


@given(st.binary(min_size=11, max_size=11), st.sampled_from([2, 5, 10, 13, 0, 77]), st.sampled_from([0, 100]))
def test_what_a_page_says_of_itself_leads_nowhere_outside_of_it(noise: bytes, kind: int, head: int) -> None:
    page = (bytes(head) + bytes([kind]) + noise).ljust(PAGE, b"\1")
    gap = _gap(page, head)
    assert 0 <= gap.start <= gap.stop <= PAGE
    assert gap.start == gap.stop or (kind in (2, 5, 10, 13) and gap.start >= head + 8)


# ── in the store ─────────────────────────────────────────────────────────────────────────────────────────────────


def put(store: SqliteStore, name: str, text: str) -> None:
    store.commit([Put(Draft("history:ada", name, text, {}, 0, "s"), append_only=True)])


def erase(store: SqliteStore, name: str) -> None:
    store.erase(Selection(keys=(Key("history:ada", name, "s"),)))


def bytes_of(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


@pytest.mark.parametrize("seed", range(3))
def test_what_was_erased_is_in_no_file_of_the_store_right_after_each_erasure(tmp_path: Path, seed: int) -> None:
    chance, alive, gone = random.Random(seed), dict[str, str](), list[str]()
    with SqliteStore.open(tmp_path / "store") as store:
        for number in range(300):
            code = f"qx{number}k{chance.randrange(10**9)}"
            before = chance.choice(["A plan, ", "From now on ", "Look at "])
            put(store, f"t{number}", before + code + " or not. " * number)
            alive[f"t{number}"] = code
            if number % 4 == 3:
                name = chance.choice(list(alive))
                gone.append(alive.pop(name))
                erase(store, name)
                raw = bytes_of(tmp_path)
                assert not [code for code in gone if code.encode() in raw]
        assert store.verify().ok


def test_an_erasure_that_a_crash_cut_short_is_finished_when_the_store_is_opened(tmp_path: Path) -> None:
    refuses = list[bool]()

    class Refusing(apsw.VFSFile):
        def __init__(self, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
            super().__init__("", name, flags)
            self._is_data = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)

        def xWrite(self, data: bytes, offset: int) -> None:
            if self._is_data and refuses:
                raise apsw.IOError("no more")
            super().xWrite(data, offset)

    class Disk(apsw.VFS):
        def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
            return Refusing(name, flags)

    disk = Disk(name := f"refusing-{uuid.uuid4()}", "")
    with SqliteStore.open(tmp_path / "store", vfs=name) as store:
        for number in range(200):
            put(store, f"t{number}", f"The code is code{number}x. " * 9)
        refuses.append(True)
        for number in range(0, 200, 3):
            erase(store, f"t{number}")
        shutil.copytree(tmp_path / "store", tmp_path / "crashed", ignore=shutil.ignore_patterns("*-shm", "*lock*"))
        refuses.clear()
    assert b"code3x" in bytes_of(tmp_path / "crashed")
    with SqliteStore.open(tmp_path / "crashed") as store:
        raw = bytes_of(tmp_path / "crashed")
        assert not [number for number in range(0, 200, 3) if f"code{number}x".encode() in raw]
        assert store.verify().ok
    disk.unregister()
