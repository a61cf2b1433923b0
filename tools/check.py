"""Run every check of the project and print one readable summary; exit non-zero when any failed.

The quick static checks run beside each other, then the wheel, the tests, and the suites of real programs; the output of
a failed check is shown whole. What every run leaves to look at (logs, results as JUnit writes them, pictures) is in
build/artefacts, or in the folder that CI_ARTEFACTS names. Interrupted, it ends all that it started.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from running import ROOT, Check, Runner
from suites import Outcome, plain, played, suites

BIN = Path(sys.executable).parent
PYTHON_FILES = ["src", "tests", "tools", "examples"]
OWN_ARTEFACTS = ROOT / "build" / "artefacts"
INTERRUPTED = 130

STATIC = [
    Check("format (ruff)", [str(BIN / "ruff"), "format", "--check", *PYTHON_FILES]),
    Check("lint (ruff)", [str(BIN / "ruff"), "check", *PYTHON_FILES]),
    Check("imports (import-linter)", [str(BIN / "lint-imports")]),
    Check("types (mypy strict)", [sys.executable, "-m", "mypy"]),
    Check("types (pyright strict)", [str(BIN / "basedpyright")]),
]
WHEEL = Check("wheel (empty environment)", [sys.executable, str(ROOT / "tools" / "wheel_check.py")])
TESTS = "tests (pytest)"
TESTING_S = 2400  # three times what it takes: beyond that something hangs


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    artefacts = artefacts_folder()
    outcomes = list[Outcome]()
    print("checks:", flush=True)
    try:
        with Runner(artefacts) as runner:
            for outcome in all_checks(runner, artefacts):
                print(line_of(outcome), flush=True)
                outcomes.append(outcome)
    except KeyboardInterrupt:
        print(f"interrupted; what was said so far: {artefacts}", flush=True)
        return INTERRUPTED
    print(summary(outcomes), f"artefacts: {artefacts}", sep="\n")
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def interrupt(*_: object) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # once is enough: what was started is being ended
    raise KeyboardInterrupt


def artefacts_folder() -> Path:
    """Ours begins empty; of a folder that somebody names nothing is removed."""
    named = os.environ.get("CI_ARTEFACTS", "").strip()
    if not named:
        shutil.rmtree(OWN_ARTEFACTS, ignore_errors=True)
    folder = Path(named).resolve() if named else OWN_ARTEFACTS
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def all_checks(runner: Runner, artefacts: Path) -> Iterator[Outcome]:
    pytest = [sys.executable, "-m", "pytest", "-n", "2", "-m", "not long", f"--junitxml={artefacts / 'junit.xml'}"]
    fetching = [(suite, runner.start(suite.fetching)) for suite in suites(artefacts)]
    yield from map(plain, runner.run_beside(STATIC, 2))
    yield plain(runner.run(WHEEL))
    yield plain(runner.run(Check(TESTS, pytest, TESTING_S)))
    for suite, fetched in fetching:
        yield played(suite, runner.finish(fetched), runner.run)


def line_of(outcome: Outcome) -> str:
    if outcome.skipped:
        return f"  skip  {outcome.name} ({outcome.skipped})"
    return f"  {'ok  ' if outcome.passed else 'FAIL'}  {outcome.name}  {outcome.seconds:.1f}s"


def summary(outcomes: list[Outcome]) -> str:
    failed = [outcome for outcome in outcomes if not outcome.passed]
    skipped = [outcome for outcome in outcomes if outcome.skipped]
    said = [f"\n── {outcome.name} failed ─────────────\n{outcome.output}" for outcome in failed]
    counts = f"{len(outcomes) - len(failed) - len(skipped)} of {len(outcomes)} checks passed"
    for word, which in (("skipped", skipped), ("failed", failed)):
        counts += f"; {word}: {', '.join(outcome.name for outcome in which)}" if which else ""
    tests = [outcome.output.strip().splitlines()[-1:] for outcome in outcomes if outcome.name == TESTS]
    return "\n".join([*said, "", *(line for lines in tests for line in lines), counts])


if __name__ == "__main__":
    sys.exit(main())
