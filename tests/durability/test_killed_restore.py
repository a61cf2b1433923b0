"""A restore killed at any moment leaves one whole store: the one before or the one restored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Forks while it has one thread and no store open. The delay of each kill is drawn between nothing and the time that a
# whole restore took.
PROGRAM = """
import json, os, random, select, signal, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from turns_on_disk import assert_holds, commit_all
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite.backup import restore
from libravdb_memory.store.sqlite.store import SqliteStore

folder = Path(sys.argv[1])
target = folder / "store.libravdb"

def in_child(act, delay_s=None):
    ended, ending = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            act()
            os._exit(0)
        finally:
            os._exit(1)
    os.close(ending)
    if delay_s is not None:
        select.select([ended], [], [], delay_s)
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(ended)
    return status

def make(path, numbers):
    with SqliteStore.open(path) as store:
        commit_all(store, numbers)
        store.backup(folder / f"{path.stem}-backup.libravdb")

def crash_with_log():
    # the store to be replaced was itself left by a crash
    store = SqliteStore.open(target)
    commit_all(store, range(30, 40))
    os._exit(0)

def look():
    with SqliteStore.open(target) as store:
        first = store.page("notes", limit=1).records[0]
        assert_holds(store, range(100, 130) if first.id == "100.0" else range(40))
        os._exit(10 if first.id == "100.0" else 11)

assert in_child(lambda: make(folder / "old.libravdb", range(40))) == 0
assert in_child(lambda: make(folder / "new.libravdb", range(100, 130))) == 0
old, new = folder / "old-backup.libravdb", folder / "new-backup.libravdb"
began = time.monotonic()
assert in_child(lambda: restore(old, target)) == 0
whole_s = time.monotonic() - began
chance = random.Random(sys.argv[3])
seen = []
for number in range(12):
    assert in_child(lambda: restore(old, target)) == 0
    if number % 2:
        assert in_child(crash_with_log) == 0
    killed = in_child(lambda: restore(new, target), chance.uniform(0, 1.2) * whole_s)
    assert killed in (0, -9), killed
    found = in_child(look)
    assert found in (10, 11), f"kill {number}: neither store is whole ({found})"
    assert found == 10 or killed == -9, f"kill {number}: restored, and not there"
    seen.append(found)
    for left in folder.glob("store.libravdb.before-restore*"):
        left.unlink()
print(json.dumps({"new": seen.count(10), "old": seen.count(11)}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_restore_leaves_one_whole_store(tmp_path: Path) -> None:
    seed = "meridian"
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(Path(__file__).parent), seed]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"seed {seed}: {done.stderr}"
    seen = json.loads(done.stdout)
    assert seen["new"] + seen["old"] == 12
