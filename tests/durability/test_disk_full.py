"""A full disk: the write is refused whole and by name, nothing is lost, reads go on, writes too once there is room."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from small_disk import SmallDisk
from turns_on_disk import COLLECTIONS, assert_holds, batch, commit_all, commit_until_full

from libravdb_memory import Config, Memory
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.errors import EngineError, StoreFullError
from libravdb_memory.store.protocol import Selection
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SMALL = StoreSettings(wal_mb=1, cache_mb=1)


def open_in(folder: Path) -> SqliteStore:
    return SqliteStore.open(folder / "store.libravdb", settings=SMALL)


def fits(store: SqliteStore, number: int) -> bool:
    try:
        store.commit(batch(number))
    except StoreFullError as error:
        assert "no space left" in str(error)
        return False
    return True


@pytest.mark.parametrize("room", [0, 100, 9_000, 70_000, 400_000, 1_500_000])
def test_a_full_disk_refuses_the_write_whole_and_keeps_the_rest(
    tmp_path: Path, small_disk: SmallDisk, room: int
) -> None:
    with open_in(tmp_path) as store:
        commit_all(store, range(5))
        small_disk.quota = small_disk.used + room
        first_refused = commit_until_full(store, 5)
        kept = [number * 7 for number in range(first_refused, first_refused + 5) if fits(store, number * 7)]
        assert not kept or room > SMALL.wal_mb << 20, "a log that is being folded by then begins anew, and has room"
        assert_holds(store, [*range(first_refused), *kept])
        small_disk.quota = None
        commit_all(store, range(first_refused, first_refused + 20))
        assert_holds(store, [*range(first_refused + 20), *kept])
    with SqliteStore.open(tmp_path / "store.libravdb") as store:
        assert_holds(store, [*range(first_refused + 20), *kept])


def test_threads_that_meet_a_full_disk_are_each_told(tmp_path: Path, small_disk: SmallDisk) -> None:
    kept: list[int] = []

    def write(start: int) -> None:
        for number in range(start, start + 1000):
            try:
                store.commit(batch(number))
            except StoreFullError:
                return
            kept.append(number)

    with open_in(tmp_path) as store:
        small_disk.quota = small_disk.used + 700_000
        threads = [threading.Thread(target=write, args=(start,)) for start in range(0, 6000, 1000)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert kept
        assert_holds(store, kept)
    with SqliteStore.open(tmp_path / "store.libravdb") as store:
        assert_holds(store, kept)


def test_a_store_closed_on_a_full_disk_keeps_everything(tmp_path: Path, small_disk: SmallDisk) -> None:
    with open_in(tmp_path) as store:
        small_disk.quota = small_disk.used + 600_000
        first_refused = commit_until_full(store, 0)
    with open_in(tmp_path) as store:
        assert_holds(store, range(first_refused))


def test_a_new_store_on_a_full_disk_leaves_nothing_half_made(tmp_path: Path, small_disk: SmallDisk) -> None:
    quota = 0
    while True:
        small_disk.quota = quota
        try:
            with open_in(tmp_path) as store:
                commit_all(store, range(1))
                break
        except StoreFullError:
            quota += 4_000
            left = tmp_path / "store.libravdb"
            assert not left.exists() or left.stat().st_size > 0
    assert quota > 0
    with SqliteStore.open(tmp_path / "store.libravdb") as store:
        assert_holds(store, range(1))


def test_erasing_on_a_full_disk_erases_all_or_nothing(tmp_path: Path, small_disk: SmallDisk) -> None:
    everything = Selection(collections=COLLECTIONS)
    with open_in(tmp_path) as store:
        commit_all(store, range(50))
        small_disk.quota = small_disk.used
        with pytest.raises(StoreFullError):
            store.erase(everything)
        assert_holds(store, range(50))
        small_disk.quota = None
        assert store.erase(everything).records == 200
        assert_holds(store, [])
    assert b"lantern" not in (tmp_path / "store.libravdb").read_bytes()


def test_rebuilding_indexes_on_a_full_disk_keeps_the_old_ones(tmp_path: Path, small_disk: SmallDisk) -> None:
    with open_in(tmp_path) as store:
        commit_all(store, range(30))
    with open_in(tmp_path) as store:
        small_disk.quota = small_disk.used
        with pytest.raises(StoreFullError):
            store.rebuild_indexes()
        assert_holds(store, range(30))
        small_disk.quota = None
        store.rebuild_indexes()
        assert_holds(store, range(30))


class Waiting(HashedEmbedder):
    """An engine that can be held up."""

    def __init__(self) -> None:
        super().__init__()
        self.may_go_on = threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.may_go_on.wait()
        return super().embed_documents(texts)


def test_embedding_waits_for_room_and_says_so(tmp_path: Path, small_disk: SmallDisk, hashed: Config) -> None:
    engine = Waiting()
    with Memory(open_in(tmp_path), engine, hashed) as memory:
        small_disk.quota = small_disk.used + 300_000
        count = 0
        with pytest.raises(StoreFullError):
            for count in range(10_000):
                memory.ingest(f"heron {count} ".ljust(2000, "."), user="ada", session="s1")
        engine.may_go_on.set()
        assert not memory.wait(60)
        assert "no space left" in (memory.status().indexing.failure or "")
        assert len(memory.search("heron", user="ada", k=3)) == 3
        small_disk.quota = None
        while not memory.wait(60):  # the attempt under way may still have met the full disk
            assert small_disk.quota is None
        assert memory.status().indexing.failure is None
        assert memory.status().turns == count
        assert memory.search("heron", user="ada", k=5).degraded == ()
        assert memory.verify().ok


def test_re_embedding_stands_still_on_a_full_disk_and_goes_on_after(
    tmp_path: Path, small_disk: SmallDisk, hashed: Config
) -> None:
    with Memory(open_in(tmp_path), HashedEmbedder(), hashed) as memory:
        for number in range(100):
            memory.ingest(f"heron {number}", user="ada", session="s1")
        assert memory.wait(60)
    store = open_in(tmp_path)
    other = HashedEmbedder(dimensions=2048)
    store.add_space(other.space.fingerprint, other.space.label, other.space.dimensions)
    small_disk.quota = small_disk.used + 100_000
    with Memory(store, other, hashed) as memory:
        with pytest.raises(EngineError, match="no space left"):
            memory.reindex()
        hits = memory.search("heron 7", user="ada", k=3)
        assert len(hits) == 3
        assert hits.degraded
        small_disk.quota = None
        while not memory.wait(60):
            assert small_disk.quota is None
        assert memory.search("heron 7", user="ada", k=3).degraded == ()
        assert [space.fingerprint for space in store.spaces()] == [other.space.fingerprint]
        assert memory.verify().ok


# ── the operating system's own limit on the size of a file, in a process of its own ──────────────────────────────

LIMITED = """
import json, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from turns_on_disk import assert_holds, batch, commit_all, commit_until_full
from libravdb_memory.errors import StoreFullError
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite.store import SqliteStore

path = Path(sys.argv[1]) / "store.libravdb"

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def refused(act):
    try:
        act()
    except StoreFullError:
        return True
    return False

"""


def run_limited(folder: Path, program: str) -> dict[str, object]:
    command = [sys.executable, "-c", LIMITED + program, str(folder), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


posix = pytest.mark.skipif(os.name != "posix", reason="limits on file sizes are a thing of POSIX")


@posix
def test_a_file_that_may_not_grow_is_a_full_disk(tmp_path: Path) -> None:
    program = """
with SqliteStore.open(path) as store:
    commit_all(store, range(5))
    limit(400_000)
    number = commit_until_full(store, 5)
    assert_holds(store, range(number))
    limit(resource.RLIM_INFINITY)
    commit_all(store, range(number, number + 5))
    assert_holds(store, range(number + 5))
print(json.dumps({"kept": number + 5}))
"""
    kept = int(str(run_limited(tmp_path, program)["kept"]))
    with SqliteStore.open(tmp_path / "store.libravdb") as store:
        assert_holds(store, range(kept))


@posix
def test_a_new_store_without_room_is_refused_and_made_later(tmp_path: Path) -> None:
    program = """
refusals = []
for size in (0, 1, 4096, 8192, 40_000, 90_000):
    limit(size)
    try:
        with SqliteStore.open(path) as store:
            commit_all(store, range(8))
        break
    except StoreFullError:
        refusals.append(size)
limit(resource.RLIM_INFINITY)
with SqliteStore.open(path) as store:
    assert store.verify().ok
    commit_all(store, range(8))
    assert_holds(store, range(8))
print(json.dumps({"refusals": refusals}))
"""
    assert run_limited(tmp_path, program)["refusals"] == [0, 1, 4096, 8192, 40_000, 90_000]


@posix
def test_a_backup_without_room_leaves_the_earlier_backup(tmp_path: Path) -> None:
    program = """
target = path.with_name("backup.libravdb")
with SqliteStore.open(path) as store:
    commit_all(store, range(5))
    store.backup(target)
    before = target.read_bytes()
    commit_all(store, range(5, 60))
    limit(len(before) + 20_000)
    full = refused(lambda: store.backup(target))
    same = target.read_bytes() == before
    left = sorted(file.name for file in path.parent.glob("*.partial*"))
    limit(resource.RLIM_INFINITY)
    store.backup(target)
    assert_holds(store, range(60))
print(json.dumps({"full": full, "same": same, "left": left}))
"""
    assert run_limited(tmp_path, program) == {"full": True, "same": True, "left": []}
    with SqliteStore.open(tmp_path / "backup.libravdb") as copy:
        assert_holds(copy, range(60))


@posix
def test_an_index_file_without_room_is_kept_in_memory(tmp_path: Path) -> None:
    program = """
import numpy as np
rng = np.random.default_rng(7)
with SqliteStore.open(path, settings=StoreSettings(exact_limit=200)) as store:
    commit_all(store, range(300))
    space = store.add_space("f", "f", 16)
    refs = [item.ref for item in store.unembedded(space, 10_000)]
    rows = rng.standard_normal((len(refs), 16)).astype(np.float32)
    store.put_vectors(space, refs, rows)
    limit(1000)
    first = store.search_vectors("notes", rows[0], 5)
    assert store.settle(60)
    second = store.search_vectors("notes", rows[0], 5)
    (said,) = store.status().indexes.values()
    limit(resource.RLIM_INFINITY)
    assert_holds(store, range(300))
    left = sorted(file.name for file in path.with_name(path.name + "-ann").glob("*"))
print(json.dumps({"same": first.hits[0] == second.hits[0], "said": said, "left": left}))
"""
    answer = run_limited(tmp_path, program)
    assert answer["same"]
    assert "kept in memory" in str(answer["said"])
    assert answer["left"] == []
