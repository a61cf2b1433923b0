"""Names are durable too: a file is synced before it takes its name, and its folder after."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from turns_on_disk import assert_holds, commit_all

from libravdb_memory.store.sqlite.backup import restore
from libravdb_memory.store.sqlite.store import SqliteStore

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks up open files in /proc")


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path]]:
    """What Python itself synced and renamed, in order; SQLite's own syncs are watched by the simulated disk."""
    seen: list[tuple[str, Path]] = []
    sync: Callable[[int], None] = os.fsync
    replace: Callable[[Path, Path], None] = os.replace

    def watched_sync(descriptor: int) -> None:
        sync(descriptor)
        seen.append(("sync", Path(f"/proc/self/fd/{descriptor}").readlink()))

    def watched_replace(source: Path, target: Path) -> None:
        replace(source, target)
        seen.append(("replace", Path(target)))

    monkeypatch.setattr(os, "fsync", watched_sync)
    monkeypatch.setattr(os, "replace", watched_replace)
    return seen


def test_a_new_store_and_its_new_folders_are_durable_before_the_first_record(
    tmp_path: Path, events: list[tuple[str, Path]]
) -> None:
    data = tmp_path / "one" / "two" / "store.libravdb"
    with SqliteStore.open(data):
        pass
    assert ("sync", tmp_path) in events
    assert ("sync", tmp_path / "one") in events
    assert events.index(("replace", data)) < events.index(("sync", data.parent))


def test_a_backup_and_what_is_restored_are_synced_before_they_take_their_names(
    tmp_path: Path, events: list[tuple[str, Path]]
) -> None:
    data, backup = tmp_path / "store.libravdb", tmp_path / "new" / "backup.libravdb"
    with SqliteStore.open(data) as store:
        commit_all(store, range(3))
        events.clear()
        store.backup(backup)
    assert [kind for kind, _ in events] == ["sync", "sync", "replace", "sync"]
    assert events[1][1].name == "backup.libravdb.partial"
    assert events[-1] == ("sync", backup.parent)
    events.clear()
    restore(backup, tmp_path / "elsewhere.libravdb")
    names = [(kind, path.name) for kind, path in events]
    assert names.index(("sync", "elsewhere.libravdb.restoring")) < names.index(("replace", "elsewhere.libravdb"))
    assert events[-1] == ("sync", tmp_path)
    with SqliteStore.open(tmp_path / "elsewhere.libravdb") as store:
        assert_holds(store, range(3))
