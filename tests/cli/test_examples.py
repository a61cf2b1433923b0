"""Every example runs as it stands and says something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: Path, environment: dict[str, str], tmp_path: Path) -> None:
    plain = {name: value for name, value in environment.items() if not name.startswith("LIBRAVDB_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        env=plain,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout and not done.stderr
    assert not (tmp_path / "home" / ".clawdb").exists(), "an example leaves nothing behind"
