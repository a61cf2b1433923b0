"""Show on a real host that the plugin does what it says: python -m tests.e2e.openclaw.run [--fast] [--host VERSION].

Prints one line a scenario; exits 1 when any failed, 77 when no registry here has the host and nothing was shown. Only
--allow-skip makes that a success, for machines without the registries.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

from tests.e2e.openclaw.host import HostError, Program, install
from tests.e2e.openclaw.scenarios import FAST, FULL, Scenario
from tests.e2e.openclaw.stage import Stage
from tests.e2e.registries import NOT_HERE, Broken, NotHere

NEWEST = "2026.9.6"
LONGEST_S = 1800


class Interrupted(Exception):
    """Told to end, or out of time; what was started is stopped on the way out."""


ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)


def interrupt(number: int, _: object) -> None:
    for each in ENDINGS:
        signal.signal(each, signal.SIG_IGN)  # once is enough: what was started is being ended
    raise Interrupted(signal.Signals(number).name)


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--fast", action="store_true", help="without the long conversation, the audit and the commands")
    parser.add_argument("--host", default=NEWEST, help="version of OpenClaw")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs also when all is well")
    parser.add_argument("--only", default="", help="scenarios whose names have one of these words, with commas between")
    parser.add_argument("--allow-skip", action="store_true", help="exit 0 where no registry has the host")
    parser.add_argument("--install", action="store_true", help="play nothing")
    parser.add_argument("--logs", type=Path, help="keep what host and daemon logged in this folder")
    given = parser.parse_args(arguments)
    began = time.monotonic()
    try:
        program = install(given.host)
    except NotHere as error:
        tell(str(error) if given.install else f"nothing shown: {error}")
        return 0 if given.allow_skip else NOT_HERE
    except Broken as error:
        tell(f"FAILED: {error}")
        return 1
    tell(f"OpenClaw {given.host}: installed after {time.monotonic() - began:.0f} s")
    if given.install:
        return 0
    words = [word.strip().replace(" ", "_") for word in given.only.split(",")]
    chosen = [each for each in (FAST if given.fast else FULL) if any(word in each.__name__ for word in words)]
    if not chosen:
        parser.error(f"no scenario has {given.only!r} in its name")
    failed = _play(program, chosen, given.keep, given.logs)
    tell(f"{'all scenarios hold' if not failed else f'FAILED: {failed}'} after {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def _play(program: Program, scenarios: list[Scenario], keep: bool, logs: Path | None) -> int:
    stage, failed = Stage(program), 0
    try:
        stage.install_plugin()
        tell(f"  gateway answers after {stage.host.start():.0f} s")
        for scenario in scenarios:
            failed += not _holds(scenario, stage)
    except Exception:
        failed += 1
        traceback.print_exc()
    finally:
        stage.close()
        if logs is not None:
            _keep_logs(stage.folder, logs)
        if failed or keep:
            tell(f"  logs: {stage.folder}")
        else:
            shutil.rmtree(stage.folder, ignore_errors=True)
    return failed


def _keep_logs(folder: Path, logs: Path) -> None:
    logs.mkdir(parents=True, exist_ok=True)
    for file in folder.rglob("*.log"):
        shutil.copy(file, logs / file.name)


def _holds(scenario: Scenario, stage: Stage) -> bool:
    name, began = scenario.__name__.replace("_", " "), time.monotonic()
    try:
        note = scenario(stage)
    except (AssertionError, HostError, OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
        tell(f"  FAIL  {name}  {time.monotonic() - began:.1f} s\n{type(error).__name__}: {error}")
        return False
    tell(f"  ok    {name}  {time.monotonic() - began:.1f} s{f'  ({note})' if note else ''}")
    return True


if __name__ == "__main__":
    for number in ENDINGS:
        signal.signal(number, interrupt)
    signal.alarm(LONGEST_S)
    sys.exit(main(sys.argv[1:]))
