"""Run every check of the project and print one readable summary; exit non-zero when any failed.

The quick static checks run beside each other while the tests run; the output of a failed check is shown whole.
"""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON_FILES = ["src", "tests", "tools", "examples"]


@dataclass(frozen=True)
class Check:
    name: str
    command: list[str]


@dataclass(frozen=True)
class Outcome:
    check: Check
    passed: bool
    seconds: float
    output: str


STATIC = [
    Check("format (ruff)", [str(BIN / "ruff"), "format", "--check", *PYTHON_FILES]),
    Check("lint (ruff)", [str(BIN / "ruff"), "check", *PYTHON_FILES]),
    Check("imports (import-linter)", [str(BIN / "lint-imports")]),
    Check("types (mypy strict)", [sys.executable, "-m", "mypy"]),
    Check("types (pyright strict)", [str(BIN / "basedpyright")]),
]
WHEEL = Check("wheel (empty environment)", [sys.executable, str(ROOT / "tools" / "wheel_check.py")])
TESTS = Check("tests (pytest)", [sys.executable, "-m", "pytest", "-n", "2", "-m", "not long"])


def run(check: Check) -> Outcome:
    started = time.monotonic()
    done = subprocess.run(
        check.command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    outcome = Outcome(check, done.returncode == 0, time.monotonic() - started, done.stdout)
    print(f"  {'ok  ' if outcome.passed else 'FAIL'}  {check.name}  {outcome.seconds:.1f}s", flush=True)
    return outcome


def main() -> int:
    print("checks:", flush=True)
    with ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = list(pool.map(run, STATIC))
    outcomes += [run(WHEEL), run(TESTS)]
    for outcome in outcomes:
        if not outcome.passed:
            print(f"\n── {outcome.check.name} failed ─────────────\n{outcome.output}", flush=True)
    tests = outcomes[-1]
    print("\n" + (tests.output.strip().splitlines() or ["no output from pytest"])[-1])
    failed = [outcome.check.name for outcome in outcomes if not outcome.passed]
    print(f"{len(outcomes) - len(failed)} of {len(outcomes)} checks passed" + (f"; failed: {failed}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
