"""SIGKILL at random moments: what was acknowledged is there, what was not is there whole or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FUZZER = Path(__file__).resolve().parents[2] / "tools" / "crash_fuzz.py"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the fuzzer forks its writers")


def run_fuzzer(folder: Path, *arguments: str) -> dict[str, object]:
    command = [sys.executable, str(FUZZER), "--folder", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    summary: dict[str, object] = json.loads(done.stdout)
    return summary


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["heron", "quay", "sluice", "marrow"])
def test_a_killed_writer_loses_nothing_acknowledged(tmp_path: Path, seed: str) -> None:
    summary = run_fuzzer(tmp_path, "--kills", "8", "--per-store", "8", "--seed", seed)
    assert summary["kills"] == 8
    assert summary["problems"] == []
    assert summary["acknowledged_steps"] != 0


def test_the_judge_of_a_crash_sees_a_lost_record(tmp_path: Path) -> None:
    """The fuzzer can fail: a record that was acknowledged and is gone, and a step that happened in part."""
    program = """
import sys, pathlib
from crash_ledger import Ledger, judge
from crash_workload import open_memory, put
from libravdb_memory.store.protocol import Key
folder = pathlib.Path(sys.argv[1])
first, second, third = (Key("notes", name, "g") for name in ("first", "second", "third"))
store, memory = open_memory(folder / "store.libravdb")
with memory:
    store.commit([put(first, 1), put(second, 1)])
sound = Ledger(settled={first: 1, second: 1})
assert judge(folder, sound)["problems"] == [], judge(folder, sound)
lossy = Ledger(settled={first: 1, second: 2, third: 1})
assert len(judge(folder, lossy)["problems"]) == 2, judge(folder, lossy)
torn = Ledger(settled={first: 1}, tried={"step": {second: 1, third: 1}})
assert "in part" in judge(folder, torn)["problems"][0], judge(folder, torn)
assert "nobody put" in judge(folder, Ledger(settled={first: 1}))["problems"][0]
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(FUZZER.parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
