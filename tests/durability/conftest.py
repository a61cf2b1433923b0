"""The modules that the tests of durability share: the simulated disk here, the workload and the ledger in tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from simulated_disk import SimulatedDisk
    from small_disk import SmallDisk

HERE = Path(__file__).resolve().parent
sys.path[:0] = [path for path in (str(HERE), str(HERE.parents[1] / "tools")) if path not in sys.path]


@pytest.fixture
def disk() -> Iterator[SimulatedDisk]:
    from simulated_disk import SimulatedDisk

    made = SimulatedDisk()
    yield made
    made.unregister()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """The test's own folder as a disk of limited size."""
    from small_disk import SmallDisk

    with SmallDisk(tmp_path) as made:
        yield made
