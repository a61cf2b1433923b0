"""SIGKILL in the middle of a compaction leaves the old or the new state, and the next one completes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("killed_compaction.py")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the program forks its victims")


def killed(folder: Path, kills: int, seed: str) -> list[int]:
    command = [sys.executable, "-W", "error", str(PROGRAM), str(folder), str(kills), seed]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    found: list[int] = json.loads(done.stdout)["summaries"]
    return found


@pytest.mark.slow
def test_a_killed_compaction_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    left = killed(tmp_path, 10, "heron")
    assert len(left) == 10


@pytest.mark.long
@pytest.mark.parametrize("seed", ["quay", "sluice", "marrow", "lantern"])
def test_many_killed_compactions_leave_the_old_or_the_new(tmp_path: Path, seed: str) -> None:
    left = killed(tmp_path, 50, seed)
    assert len(set(left)) > 5, "kills came at many moments"
