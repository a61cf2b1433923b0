"""Programs that end with a memory open: as they would with it closed, whatever it does in the background."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from libravdb_memory import Memory, load_config

OPEN = """
import os, signal, sys, threading
from dataclasses import replace
from pathlib import Path
from libravdb_memory import Memory, load_config

config = load_config(environ={"LIBRAVDB_HOME": sys.argv[1]})
short = replace(config.assembly, tail_share=0.02)
settings = dict(cluster_target=4, trigger_tokens=100, own_process=sys.argv[2] == "apart")
config = replace(config, assembly=short, compaction=replace(config.compaction, **settings))
memory = Memory.open(config=config)

def say(turns, begin=0):
    for number in range(begin, begin + turns):
        memory.ingest(f"the garden turn {number} is about red trains " * 4, user="ada", session="s", id=f"t{number}")
"""
AT_WORK = {
    "loading": "say(40)",
    "compacting": "say(200)\nwhile not memory.status().compaction.running: pass",
}
ENDS = {"at its end": ("", 0), "exit": ("sys.exit(3)", 3), "error": ("raise SystemExit('oh')", 1)}
RUNS = 3


def ran(folder: Path, program: str, place: str = "here") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", OPEN + program, str(folder), place]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


def turns_of(folder: Path) -> int:
    with Memory.open(config=load_config(environ={"LIBRAVDB_HOME": str(folder)})) as memory:
        assert memory.verify().ok
        return memory.status().turns


@pytest.mark.parametrize("work", AT_WORK)
@pytest.mark.parametrize("place", ["here", "apart"])
def test_a_program_ends_as_it_wants_while_a_memory_is_at_work(tmp_path: Path, work: str, place: str) -> None:
    for number in range(RUNS):
        end, code = list(ENDS.values())[number % len(ENDS)]
        folder = tmp_path / str(number)
        done = ran(folder, AT_WORK[work] + "\n" + end, place)
        assert (done.returncode, done.stdout) == (code, "")
        assert done.stderr.strip() == ("oh" if code == 1 else "")
        assert turns_of(folder) >= 40


def test_what_was_counted_but_not_yet_written_is_written(tmp_path: Path) -> None:
    done = ran(tmp_path, "say(3); print(memory.context('garden', user='ada', session='s').receipt.id)")
    assert done.returncode == 0, done.stderr
    with Memory.open(config=load_config(environ={"LIBRAVDB_HOME": str(tmp_path)})) as memory:
        assert memory.replay(done.stdout.strip())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing can be forked here")
def test_a_forked_child_that_ends_closes_nothing_of_its_parent(tmp_path: Path) -> None:
    program = """
say(3)
if os.fork() == 0:
    sys.exit(0)
code = os.waitstatus_to_exitcode(os.wait()[1])
say(3, 3)
assert memory.wait(60) and memory.verify().ok
sys.exit(code)
"""
    done = ran(tmp_path, program)
    assert (done.returncode, done.stderr) == (0, "")
    assert turns_of(tmp_path) == 6


def test_threads_that_go_on_when_the_main_one_has_ended_find_it_open(tmp_path: Path) -> None:
    program = """
def later():
    threading.main_thread().join()
    say(5)
threading.Thread(target=later).start()
"""
    done = ran(tmp_path, program)
    assert (done.returncode, done.stderr) == (0, "")
    assert turns_of(tmp_path) == 5


def test_a_model_that_does_not_answer_is_not_waited_for_to_the_end(tmp_path: Path) -> None:
    program = """
from libravdb_memory import leaving
leaving._PATIENCE_S = 0.2
begun = threading.Event()
def never(*_):
    begun.set()
    threading.Event().wait()
memory._indexer._elsewhere = never
say(3)
begun.wait()
"""
    begun = time.monotonic()
    done = ran(tmp_path, program)
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - begun < 60
    assert turns_of(tmp_path) == 3


@pytest.mark.skipif(os.name != "posix", reason="there are no such signals here")
def test_a_program_that_is_told_to_end_by_a_signal_does_so(tmp_path: Path) -> None:
    done = ran(tmp_path, "say(40)\nos.kill(os.getpid(), signal.SIGTERM)")
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, "")
    assert turns_of(tmp_path) == 40
