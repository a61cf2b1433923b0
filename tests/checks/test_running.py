"""Programs that the checks start end when they should, wholly, and what they said is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from running import LOW_PRIORITY, Check, Runner

FAMILY = """
import pathlib, signal, subprocess, sys, time
if {deaf}:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
{then}
"""
LONG = "time.sleep(600)"


def says(text: str, code: int = 0) -> list[str]:
    return [sys.executable, "-c", f"print({text!r}); raise SystemExit({code})"]


def family(note: Path, then: str = LONG, deaf: bool = False) -> list[str]:
    """A program with a child that outlives it; the child's id is written to `note`."""
    return [sys.executable, "-c", FAMILY.format(then=then, deaf=deaf), str(note)]


def child_of(note: Path) -> int:
    until = time.monotonic() + 30
    while not (note.exists() and note.read_text()):
        assert time.monotonic() < until, "it never began"
        time.sleep(0.02)  # between two looks
    return int(note.read_text())


def is_gone(pid: int) -> bool:
    """Ended, also where nobody has taken note of it yet."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)  # between two looks
    return False


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    with Runner(tmp_path, patience_s=0.3) as runner:
        yield runner


def test_what_a_check_said_and_how_it_ended_is_told_and_kept(runner: Runner, tmp_path: Path) -> None:
    ended = runner.run(Check("types (a b)", says("first\nlast", 3)))
    assert (ended.code, ended.output, ended.last_line, ended.overdue) == (3, "first\nlast\n", "last", False)
    assert (tmp_path / "types-a-b.log").read_text() == ended.output


def test_every_check_is_told_of_once_and_no_more_than_some_run_beside_each_other(
    runner: Runner, tmp_path: Path
) -> None:
    look = "import os, pathlib, sys, time; here = pathlib.Path(sys.argv[1]); mine = here / f'on-{os.getpid()}'; "
    look += "mine.touch(); time.sleep(.2); print(len(list(here.glob('on-*')))); mine.unlink()"
    checks = [Check(f"c{n}", [sys.executable, "-c", look, str(tmp_path)]) for n in range(5)]
    ended = list(runner.run_beside(checks, 2))
    assert sorted(each.check.name for each in ended) == [check.name for check in checks]
    assert {int(each.output) for each in ended} <= {1, 2}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
class TestNothingIsLeft:
    def test_of_a_check_that_ended(self, runner: Runner, tmp_path: Path) -> None:
        assert runner.run(Check("it", family(tmp_path / "child", then=""))).code == 0
        assert is_gone(child_of(tmp_path / "child"))

    @pytest.mark.parametrize("deaf", [False, True], ids=["hears", "deaf"])
    def test_of_a_check_whose_time_is_over(self, runner: Runner, tmp_path: Path, deaf: bool) -> None:
        running = runner.start(Check("it", family(tmp_path / "child", deaf=deaf), limit_s=1.5))
        child = child_of(tmp_path / "child")
        ended = runner.finish(running)
        assert ended.overdue and ended.seconds < 30
        assert is_gone(child)

    def test_of_a_background_check_whose_time_is_over_while_another_is_waited_for(
        self, runner: Runner, tmp_path: Path
    ) -> None:
        behind = runner.start(Check("behind", family(tmp_path / "child"), limit_s=0.5, in_background=True))
        runner.run(Check("before", [sys.executable, "-c", "import time; time.sleep(2)"]))
        assert behind.ended is not None and behind.ended.overdue
        assert is_gone(child_of(tmp_path / "child"))

    def test_of_checks_that_still_run_when_the_runner_is_left(self, tmp_path: Path) -> None:
        with pytest.raises(KeyboardInterrupt), Runner(tmp_path, patience_s=5) as runner:
            runner.start(Check("it", family(tmp_path / "child"), in_background=True))
            child = child_of(tmp_path / "child")
            raise KeyboardInterrupt
        assert is_gone(child)

    def test_of_what_clears_up_when_it_is_interrupted(self, tmp_path: Path) -> None:
        tidy = "try:\n    time.sleep(600)\nfinally:\n    print('tidied')"
        with Runner(tmp_path, patience_s=20) as runner:
            running = runner.start(Check("it", family(tmp_path / "child", then=tidy)))
            child_of(tmp_path / "child")
        assert (
            running.ended is not None
            and "tidied" in running.ended.output
            and "KeyboardInterrupt" in running.ended.output
        )

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_of_an_interrupted_make_test(self, tmp_path: Path, number: signal.Signals) -> None:
        program = (
            "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import check; from running import Check;"
            "from suites import plain;"
            "check.all_checks = lambda runner, artefacts: [plain(runner.run(Check('it', sys.argv[2:])))];"
            "sys.exit(check.main())"
        )
        tools = str(Path(__file__).resolve().parents[2] / "tools")
        started = subprocess.Popen(
            [sys.executable, "-c", program, tools, *family(tmp_path / "child")],
            env={**os.environ, "CI_ARTEFACTS": str(tmp_path / "artefacts")},
            stdout=subprocess.PIPE,
            text=True,
        )
        child = child_of(tmp_path / "child")
        started.send_signal(number)
        said, _ = started.communicate(timeout=60)
        assert started.returncode == 130 and "interrupted" in said
        assert is_gone(child)


def test_what_runs_in_the_background_gives_way(runner: Runner) -> None:
    command = [sys.executable, "-c", "import os, time; time.sleep(.5); print(os.getpriority(os.PRIO_PROCESS, 0))"]
    ended = runner.run(Check("it", command, in_background=True))
    assert int(ended.output) == max(LOW_PRIORITY, os.getpriority(os.PRIO_PROCESS, 0))
