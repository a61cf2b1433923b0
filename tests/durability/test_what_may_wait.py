"""What can be made again waits for no disk, reaches it in order, and after a power loss is whole or not there."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from simulated_disk import SimulatedDisk
from turns_on_disk import assert_holds, commit_all

from libravdb_memory.config import load_config
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.memory import Memory
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Mark, Put
from libravdb_memory.store.sqlite.store import SqliteStore

DRAWS, TURNS = 20, 80


def syncs_of(disk: SimulatedDisk) -> Counter[str]:
    seen: Counter[str] = Counter()
    disk.before = lambda kind: seen.update([kind])
    return seen


def note(name: str, text: str) -> Put:
    return Put(Draft("waiting", name, text))


def test_vectors_and_marks_wait_for_no_disk_and_a_turn_does(tmp_path: Path, disk: SimulatedDisk) -> None:
    with SqliteStore.open(tmp_path, vfs=disk.name) as store:
        space = store.add_space("space", "space", 4)
        (first,) = store.commit([note("first", "one")]).records
        seen = syncs_of(disk)
        store.put_vectors(space, [first.ref], np.ones((1, 4), np.float32))
        store.commit([Mark(Key("waiting", "first"), "seen")], may_wait=True)
        assert seen["write"] > 0
        assert seen["sync"] == 0
        store.commit([note("second", "two")])
        assert seen["sync"] == 1


def test_the_next_turn_takes_what_waited_along_in_order(tmp_path: Path, disk: SimulatedDisk) -> None:
    """Of what waits, a power loss leaves the first so many; of what came before an acknowledged turn, all."""
    with SqliteStore.open(tmp_path / "store", vfs=disk.name) as store:
        for number in range(5):
            store.commit([note(f"w{number}", "waits")], may_wait=True)
        commit_all(store, range(1))
        for number in range(5, 10):
            store.commit([note(f"w{number}", "waits")], may_wait=True)
        wreck = disk.wreck()
        store.sync()
        settled = disk.wreck()
    counts = set[int]()
    for draw in range(DRAWS):
        folder = tmp_path / f"after{draw}"
        folder.mkdir()
        wreck.draw(folder, random.Random(draw))
        with SqliteStore.open(folder) as store:
            assert_holds(store, range(1))
            there = [number for number in range(10) if store.get(Key("waiting", f"w{number}")) is not None]
            assert there == list(range(len(there)))
            counts.add(len(there))
            assert store.verify().ok
    assert min(counts) >= 5
    assert len(counts) > 1  # the disk did lose some of what waited
    folder = tmp_path / "settled"
    folder.mkdir()
    settled.draw(folder, random.Random(1))
    with SqliteStore.open(folder) as store:
        assert all(store.get(Key("waiting", f"w{number}")) is not None for number in range(10))


def test_a_group_with_one_that_cannot_wait_is_on_disk(tmp_path: Path, disk: SimulatedDisk) -> None:
    """Two that come while another writes are committed together."""
    with SqliteStore.open(tmp_path, vfs=disk.name) as store, ThreadPoolExecutor(3) as pool:
        store.commit([note("first", "one")])
        begun, free = threading.Event(), threading.Event()

        def hold(_: object) -> None:
            begun.set()
            assert free.wait(30)

        holding = pool.submit(store._writer.call, hold)
        assert begun.wait(30)
        seen = syncs_of(disk)
        queued = [pool.submit(store.commit, [note(str(wait), "two")], may_wait=wait) for wait in (True, False)]
        while len(store._writer._queue) < len(queued):
            time.sleep(0.001)
        free.set()
        for each in (holding, *queued):
            each.result(30)
        assert seen["sync"] == 1


def test_a_compaction_that_was_answered_survives_a_power_loss(tmp_path: Path, disk: SimulatedDisk) -> None:
    config = load_config(environ={"LIBRAVDB_HOME": str(tmp_path), "LIBRAVDB_COMPACTION_TRIGGER_TOKENS": "0"})
    with (
        SqliteStore.open(tmp_path / "store", vfs=disk.name) as store,
        Memory(store, make_embedder(config.embedding), config) as memory,
    ):
        for number in range(TURNS):
            memory.ingest(
                f"Step {number}: " + f"the valve {number} opens at {number * 7} bar. " * 20, user="ada", session="s"
            )
        memory.wait()
        assert store.settle(30)
        seen = syncs_of(disk)
        done = memory.compact(user="ada", session="s")
        assert len(done.summaries) >= 2
        assert seen["sync"] == 1
        wreck = disk.wreck()
        memory.wait()
        assert store.settle(30)
        seen.clear()
        assert memory.compact(user="ada", session="s").summaries == ()
        assert not seen  # nothing to do, nothing written
    for draw in range(3):
        folder = tmp_path / f"after{draw}"
        folder.mkdir()
        wreck.draw(folder, random.Random(draw))
        with Memory.open(folder, config=config) as memory:
            kept = memory.history(user="ada", session="s")
            assert kept.turns == TURNS
            assert memory.verify().ok
            for summary in done.summaries:
                assert memory.expand(summary.id, user="ada", session="s").items
