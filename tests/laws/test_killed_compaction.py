"""SIGKILL in the middle of a compaction leaves the old or the new state, and the next one completes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
COMMITS = 20
"""A compaction of the conversation has more of them than this."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the program forks its victims")


def killed(folder: Path, kills: int, seed: str, *how: str) -> dict[str, Any]:
    command = [sys.executable, "-W", "error", "-m", "tests.laws.killed_compaction", str(folder), str(kills), seed, *how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def assert_old_or_new(left: dict[str, Any]) -> None:
    """A kill at a commit leaves what the commits before it wrote; the first commit of a rebuild exchanges all."""
    assert [found for _, _, found in left["at commits"]] == [wanted for _, wanted, _ in left["at commits"]]
    throughs = [through for through, _, _ in left["at commits"]]
    assert min(throughs) == 0 and max(throughs) >= COMMITS and len(set(throughs)) >= COMMITS / 2
    assert [state for _, state in left["rebuilding"]] == [
        "new" if through else "old" for through, _ in left["rebuilding"]
    ]
    assert {through for through, _ in left["rebuilding"]} >= {0, 1, 2}


@pytest.mark.slow
def test_a_killed_compaction_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    left = killed(tmp_path, 4, "heron")
    assert_old_or_new(left)
    assert len(left["by chance"]) == 4


@pytest.mark.long
@pytest.mark.parametrize("seed", ["quay", "sluice", "marrow", "lantern"])
def test_many_killed_compactions_leave_the_old_or_the_new(tmp_path: Path, seed: str) -> None:
    left = killed(tmp_path, 50, seed, "every-moment")
    assert_old_or_new(left)
    assert len(left["by chance"]) == 50
