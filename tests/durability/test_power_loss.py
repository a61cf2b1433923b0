"""The power goes at random moments: what was acknowledged is on the platter, whatever became of the rest."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from simulated_disk import SimulatedDisk, Wreck

from crash_ledger import Ledger, judge
from crash_workload import Workload
from libravdb_memory.errors import StoreCorruptError

CUTS = 8


class PowerCuts:
    """Lets a workload run on a simulated disk and takes the wrecks and what was acknowledged at those moments."""

    def __init__(
        self, folder: Path, seed: str, cuts: int, disk: SimulatedDisk, life: int = 0, ledger: Ledger | None = None
    ) -> None:
        self.taken: list[tuple[Wreck, Ledger]] = []
        self._chance = random.Random(f"{seed}/{life}")
        self._ledger = ledger or Ledger()
        self._disk = disk
        self._cuts = cuts
        self._due = self._chance.randrange(400)
        disk.before = self._maybe_cut
        self.workload = Workload(folder, life, seed, self._hear, disk.name)

    def run(self) -> None:
        with self.workload.memory:
            self.workload.run()
        assert self._ledger.errors == []
        assert len(self.taken) == self._cuts

    def _hear(self, line: Mapping[str, Any]) -> None:
        with self._disk.guard:
            self._ledger.hear(line)

    def _maybe_cut(self, _: str) -> None:
        self._due -= 1
        if self._due > 0 or len(self.taken) == self._cuts:
            return
        self._due = self._chance.randrange(250)
        ledger = deepcopy(self._ledger)
        ledger.backups.clear()
        self.taken.append((self._disk.wreck(), ledger))
        if len(self.taken) == self._cuts:
            self.workload.stop()


def draw(cut: tuple[Wreck, Ledger], folder: Path, chance: random.Random) -> tuple[Path, Ledger]:
    folder.mkdir()
    cut[0].draw(folder, chance)
    return folder, cut[1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["copper", "lantern", "thistle"])
def test_a_power_loss_takes_nothing_acknowledged(tmp_path: Path, seed: str, disk: SimulatedDisk) -> None:
    """Two lives: the second begins on what the first power loss left, and is cut while it recovers, too."""
    chance = random.Random(seed)
    folder, ledger = tmp_path / "first", Ledger()
    folder.mkdir()
    for life in range(2):
        cuts = PowerCuts(folder, seed, CUTS, disk, life, ledger)
        cuts.run()
        for number, cut in enumerate(cuts.taken):
            folder, ledger = draw(cut, tmp_path / f"after-{life}-{number}", chance)
            verdict = judge(folder, ledger)
            assert verdict["problems"] == [], f"seed {seed}, life {life}, cut {number}: {verdict['problems']}"
        ledger.settle(verdict["states"])
    assert ledger.done > 0


def lie(cuts: PowerCuts, disk: SimulatedDisk) -> None:
    disk.lies = True


def sync_at_checkpoints_only(cuts: PowerCuts, disk: SimulatedDisk) -> None:
    writer = cuts.workload.store._writer
    writer._db.pragma("synchronous", "NORMAL")
    writer._sync = lambda wanted: None  # type: ignore[method-assign]


@pytest.mark.parametrize("weaken", [lie, sync_at_checkpoints_only])
def test_the_simulated_power_loss_has_teeth(
    tmp_path: Path, disk: SimulatedDisk, weaken: Callable[[PowerCuts, SimulatedDisk], None]
) -> None:
    (tmp_path / "run").mkdir()
    cuts = PowerCuts(tmp_path / "run", "anchor", CUTS, disk)
    weaken(cuts, disk)
    cuts.run()
    chance = random.Random("anchor")
    assert any(loses(*draw(cut, tmp_path / f"after-{number}", chance)) for number, cut in enumerate(cuts.taken))


def loses(folder: Path, ledger: Ledger) -> bool:
    try:
        return bool(judge(folder, ledger)["problems"])
    except StoreCorruptError:
        return True


def test_the_threads_of_a_workload_end(tmp_path: Path) -> None:
    before = threading.active_count()
    workload = Workload(tmp_path, 0, "seed", lambda _: workload.stop())
    with workload.memory:
        workload.run()
    assert threading.active_count() == before
