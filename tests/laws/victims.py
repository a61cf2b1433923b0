"""Processes that have a store open and are at work on it when SIGKILL ends them.

Run as a program: each line of its input is a job, done by a fork of its own, so that nothing is imported twice. What a
fork tells, it tells at once: whatever was told had happened before it died.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.laws.flaky_summariser import FlakySummariser, use
from tests.laws.keystone_settings import configured
from tests.laws.killing import Fate, Kind, Moment, Told, die

from libravdb_memory import Memory

ROOT = Path(__file__).parents[2]
CAN_FORK = hasattr(os, "fork")


@dataclass(frozen=True)
class Job:
    """Store the turns, wait until they are indexed, compact, erase; each if it is asked for. Death comes at a commit
    of this kind, `number` others of it before; where there are fewer, when all is done."""

    store: str
    home: str
    user: str
    session: str
    kind: Kind
    number: int
    moment: Moment
    turns: tuple[dict[str, Any], ...] = ()
    compact: bool = False
    rebuild: bool = False
    deeds: tuple[str, ...] | None = None
    """Of a summariser; without it, summaries are extracts."""
    erase: str | None = None


class Victims:
    """Where they come from. Used as a context."""

    def __init__(self) -> None:
        self._program: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._program is not None:
            self._program.communicate()

    def killed(self, job: Job) -> list[Told]:
        """What it told until it was."""
        if self._program is None:
            command = [sys.executable, "-m", "tests.laws.victims"]
            self._program = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        assert self._program.stdin is not None and self._program.stdout is not None
        self._program.stdin.write(json.dumps(asdict(job)) + "\n")
        self._program.stdin.flush()
        told: list[Told] = []
        for line in self._program.stdout:
            told.append(json.loads(line))
            if "ended" in told[-1]:
                assert told[-1]["ended"] == -signal.SIGKILL, told
                return told[:-1]
        raise AssertionError("there are no more victims")


# ── in the other program ─────────────────────────────────────────────────────────────────────────────────────────


def tell(told: Told) -> None:
    left = (json.dumps(told) + "\n").encode()
    while left:
        left = left[os.write(1, left) :]


def work(job: Job) -> None:
    memory = Memory.open(job.store, config=configured(Path(job.home)))
    place = {"user": job.user, "session": job.session}
    fate = Fate(memory, job.kind, job.number, job.moment, tell)
    for turn in job.turns:
        tell({"acknowledged": memory.ingest(**turn, **place).id})
    fate.expect_indexing()
    if job.compact or job.erase is not None or job.kind == "indexing":
        assert memory.wait(60)
    if job.compact:
        use(memory, None if job.deeds is None else FlakySummariser(job.deeds))  # type: ignore[arg-type]
        done = memory.compact(**place, rebuild=job.rebuild)
        told = {"summaries": [node.id for node in done.summaries], "folds": [node.id for node in done.folds]}
        tell({"compacted": {**told, "guidance": done.guidance, "reason": done.reason}})
    if job.erase is not None:
        memory.erase(job.erase, **place)
        tell({"all erased": job.erase})
    tell({"all done": True})
    die()


def main() -> None:
    logging.disable()  # of summarisers that fail as they were told to
    for line in sys.stdin:
        job = json.loads(line)
        if (pid := os.fork()) == 0:
            try:
                work(Job(**job))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        tell({"ended": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])})


if __name__ == "__main__":
    main()
