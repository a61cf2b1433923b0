"""The write-ahead log damaged, gone, or of another store: a whole earlier state or a refusal, nothing by halves."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from turns_on_disk import assert_holds, commit_all

from libravdb_memory.cli import main
from libravdb_memory.errors import StoreCorruptError
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite.backup import restore
from libravdb_memory.store.sqlite.store import SqliteStore


def crashed(tmp_path: Path, name: str, numbers: range) -> Path:
    """The files of a store whose process died with everything still in the log."""
    live, dead = tmp_path / f"live-{name}", tmp_path / name
    dead.mkdir()
    with SqliteStore.open(live / "store.libravdb", settings=StoreSettings(wal_mb=64)) as store:
        commit_all(store, numbers)
        for suffix in ("", "-wal"):
            shutil.copy(live / f"store.libravdb{suffix}", dead / f"store.libravdb{suffix}")
    return dead / "store.libravdb"


def test_a_damaged_log_gives_whole_batches_in_order(tmp_path: Path) -> None:
    """SQLite reads a log up to the first frame that does not hold together: nothing after it, nothing by halves."""
    path = crashed(tmp_path, "dead", range(20))
    log = path.with_name("store.libravdb-wal")
    data, frames = path.read_bytes(), log.read_bytes()
    chance = random.Random(5)
    for _ in range(10):
        at = chance.randrange(32, len(frames))
        path.write_bytes(data)
        log.write_bytes(frames[:at] + bytes([frames[at] ^ 1]) + frames[at + 1 :])
        with SqliteStore.open(path) as store:
            count = len(store.page("notes", limit=1000).records) // 2
            assert_holds(store, range(count))


def test_a_missing_log_leaves_an_earlier_whole_state(tmp_path: Path) -> None:
    path = crashed(tmp_path, "dead", range(20))
    path.with_name("store.libravdb-wal").unlink()
    with SqliteStore.open(path) as store:
        count = len(store.page("notes", limit=1000).records) // 2
        assert_holds(store, range(count))


def test_garbage_in_place_of_the_log_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "store.libravdb"
    with SqliteStore.open(path) as store:
        commit_all(store, range(5))
    path.with_name("store.libravdb-wal").write_bytes(random.Random(1).randbytes(100_000))
    with SqliteStore.open(path) as store:
        assert_holds(store, range(5))


@pytest.mark.parametrize(("ours", "theirs"), [(20, 3), (3, 20), (20, 20), (1, 40), (40, 1)])
def test_the_log_of_another_store_is_refused_and_nothing_is_lost(tmp_path: Path, ours: int, theirs: int) -> None:
    path = crashed(tmp_path, "ours", range(ours))
    foreign = crashed(tmp_path, "theirs", range(100, 100 + theirs))
    with SqliteStore.open(path):
        pass  # folds its own log
    log = path.with_name("store.libravdb-wal")
    shutil.copy(foreign.with_name("store.libravdb-wal"), log)
    before = path.read_bytes(), log.read_bytes()
    with pytest.raises(StoreCorruptError, match="log of another file"):
        SqliteStore.open(path)
    assert main(["--db", str(path), "verify"]) == 5
    assert main(["--db", str(path), "doctor"]) == 1
    assert (path.read_bytes(), log.read_bytes()) == before
    log.unlink()
    with SqliteStore.open(path) as store:
        assert_holds(store, range(ours))


def test_a_backup_copied_over_a_crashed_store_does_not_take_its_log(tmp_path: Path) -> None:
    path = crashed(tmp_path, "dead", range(20))
    with SqliteStore.open(tmp_path / "other.libravdb") as store:
        commit_all(store, range(5))
        store.backup(tmp_path / "backup.libravdb")
    shutil.copy(tmp_path / "backup.libravdb", path)
    with pytest.raises(StoreCorruptError, match="log of another file"):
        SqliteStore.open(path)
    kept = restore(tmp_path / "backup.libravdb", path)
    assert kept is not None
    assert kept.with_name(kept.name + "-wal").exists()
    with SqliteStore.open(path) as store:
        assert_holds(store, range(5))


def test_a_store_knows_its_own_log_whatever_it_went_through(tmp_path: Path) -> None:
    """Spaces come and go, which changes the schema; crashes in between; copies; the log is always taken as its own."""
    path = tmp_path / "0" / "store.libravdb"
    for number in range(8):
        with SqliteStore.open(path, settings=StoreSettings(wal_mb=1 + 63 * (number % 2))) as store:
            for step in range(10):
                commit_all(store, range(number * 10 + step, number * 10 + step + 1))
                space = store.add_space(f"{number}.{step}", "label", 4)
                store.activate_space(space)
                for other in store.spaces():
                    if other.key != space.key:
                        store.drop_space(other)
            dead = tmp_path / f"{number + 1}"
            shutil.copytree(path.parent, dead)
        path = dead / "store.libravdb"
        with SqliteStore.open(path) as store:
            assert_holds(store, range(number * 10 + 10))


def test_a_log_without_its_data_file_is_not_replayed_into_a_new_store(tmp_path: Path) -> None:
    path = crashed(tmp_path, "dead", range(20))
    log = path.with_name("store.libravdb-wal")
    held = log.read_bytes()
    path.unlink()
    with pytest.raises(StoreCorruptError, match="without its data file"):
        SqliteStore.open(path)
    assert log.read_bytes() == held
    assert not path.exists()
    assert main(["--db", str(path), "doctor"]) == 1
