"""Kill a writing process with SIGKILL, again and again, and look at what it left.

    python tools/crash_fuzz.py --kills 500 --json benchmarks/results/crash.json

Each store lives through several kills, so crashes meet the remains of earlier ones. The moment is chosen at random: so
many acknowledgements, or so long after the process began (which also hits creation and recovery), or so long after it
opened the store. A seed chooses all of it; threads still interleave as they like, so a seed makes a run like another,
not the same.

This process opens no store itself: writers and judges are forked from it while it has a single thread.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from crash_ledger import Ledger, judge
from crash_workload import Workload, teller
from libravdb_memory.bench import machine

_STUCK_S = 120.0


@dataclass
class Summary:
    seed: str
    kills: int = 0
    kills_before_open: int = 0
    stores: int = 0
    acknowledged_steps: int = 0
    unacknowledged_steps: int = 0
    records_checked: int = 0
    backups_checked: int = 0
    problems: list[str] = field(default_factory=list[str])
    seconds: float = 0.0


@dataclass(frozen=True)
class Moment:
    """When to kill: after so many acknowledgements, or so many seconds after the fork or after opening."""

    acknowledgements: int | None = None
    after_fork_s: float | None = None
    after_open_s: float | None = None


def choose(chance: random.Random) -> Moment:
    match chance.randrange(4):
        case 0:
            return Moment(after_fork_s=chance.choice((0.02, 0.15)) * chance.random())
        case 1:
            return Moment(after_open_s=chance.uniform(0.0, 0.4))
        case _:
            return Moment(acknowledgements=chance.choice((1, 2, 5, 20, 60, 150)))


def in_child(act: Callable[[int], None]) -> tuple[int, int]:
    """Fork; the child acts with the writing end of a pipe and never returns. Answers its pid and the reading end."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    code = 1
    try:
        os.close(reading)
        act(writing)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


class Lines:
    """Lines of a pipe, with a limit on how long to wait for the next; one left unread stays for the next reader."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._whole: deque[bytes] = deque()
        self._rest = b""
        self._ended = False

    def until(self, deadline: float) -> Iterator[dict[str, Any]]:
        """What arrives before the deadline or the end."""
        while self._whole or self._more(deadline):
            yield json.loads(self._whole.popleft())

    def _more(self, deadline: float) -> bool:
        while not self._ended and not self._whole:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._descriptor], [], [], left)[0]:
                return False
            data = os.read(self._descriptor, 1 << 16)
            self._ended = not data
            *whole, self._rest = (self._rest + data).split(b"\n")
            self._whole.extend(whole)
        return bool(self._whole)


def kill_once(folder: Path, number: int, seed: str, moment: Moment, ledger: Ledger) -> None:
    """Let a writer run until the moment, kill it, and hear all it had said."""
    pid, reading = in_child(lambda pipe: Workload(folder, number, seed, teller(pipe)).run())
    try:
        lines = Lines(reading)
        _listen(lines, moment, ledger)
        os.kill(pid, signal.SIGKILL)
        for line in lines.until(time.monotonic() + _STUCK_S):
            ledger.hear(line)
    finally:
        os.close(reading)
        _, status = os.waitpid(pid, 0)
    if not os.WIFSIGNALED(status):
        ledger.errors.append(f"the writer ended by itself with status {status}")


def _listen(lines: Lines, moment: Moment, ledger: Ledger) -> None:
    before = ledger.done
    deadline = time.monotonic() + (_STUCK_S if moment.after_fork_s is None else moment.after_fork_s)
    for line in lines.until(deadline):
        ledger.hear(line)
        if ledger.errors or (moment.acknowledgements and ledger.done - before >= moment.acknowledgements):
            return
        if ledger.opened and moment.after_open_s is not None:
            for later in lines.until(time.monotonic() + moment.after_open_s):
                ledger.hear(later)
            return
    if moment.after_fork_s is None:
        ledger.errors.append(f"the writer did not come to {moment} within {_STUCK_S} s")


def judged(folder: Path, ledger: Ledger) -> dict[str, Any]:
    """The verdict of a process of its own."""

    def act(pipe: int) -> None:
        with os.fdopen(pipe, "wb") as out:
            pickle.dump(judge(folder, ledger), out)

    pid, reading = in_child(act)
    with os.fdopen(reading, "rb") as answers:
        raw = answers.read()
    os.waitpid(pid, 0)
    verdict: dict[str, Any] = pickle.loads(raw) if raw else {"problems": ["the judge failed"], "states": {}}
    return verdict


def crash_store(folder: Path, kills: int, seed: str, summary: Summary) -> None:
    """One store through so many kills."""
    chance = random.Random(seed)
    ledger = Ledger()
    for number in range(kills):
        moment = choose(chance)
        done = ledger.done
        kill_once(folder, number, seed, moment, ledger)
        verdict = judged(folder, ledger)
        problems = ledger.errors + verdict["problems"]
        summary.problems += [f"seed {seed}, kill {number}, {moment}: {problem}" for problem in problems]
        summary.kills += 1
        summary.kills_before_open += not ledger.opened
        summary.acknowledged_steps += ledger.done - done
        summary.unacknowledged_steps += len(ledger.tried)
        summary.records_checked += verdict.get("records", 0)
        summary.backups_checked += len(ledger.backups)
        if problems:
            return
        ledger.settle(verdict["states"])


def fuzz(kills: int, per_store: int, seed: str, folder: Path) -> Summary:
    summary = Summary(seed)
    began = time.monotonic()
    while summary.kills < kills and not summary.problems:
        place = folder / f"store-{summary.stores}"
        place.mkdir()
        crash_store(place, min(per_store, kills - summary.kills), f"{seed}/{summary.stores}", summary)
        summary.stores += 1
        if not summary.problems:
            shutil.rmtree(place)
        summary.seconds = round(time.monotonic() - began, 1)
        print(
            f"{summary.kills}/{kills} kills, {summary.acknowledged_steps} acknowledged steps, "
            f"{summary.records_checked} records checked, {len(summary.problems)} problems, {summary.seconds} s",
            file=sys.stderr,
            flush=True,
        )
    return summary


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--per-store", type=int, default=10, help="kills that one store lives through")
    parser.add_argument("--seed", default=None, help="default: a new one, printed")
    parser.add_argument("--folder", type=Path, default=None, help="where to work; what failed stays there")
    parser.add_argument("--json", type=Path, default=None, help="write the summary, with the machine, to this file")
    asked = parser.parse_args()
    seed = asked.seed or str(random.SystemRandom().randrange(10**6))
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="crash-"))
    summary = fuzz(asked.kills, asked.per_store, seed, folder)
    if asked.folder is None and not summary.problems:
        shutil.rmtree(folder)
    result = asdict(summary)
    if asked.json:
        text = json.dumps({"what": "SIGKILL of a writing process", **result, "machine": machine.describe()}, indent=2)
        asked.json.write_text(text + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))
    return 1 if summary.problems else 0


if __name__ == "__main__":
    sys.exit(main())
