"""Programs that the checks start.

Laws: each runs in a session of its own, with its output in a file, and is asked to end when its time is over or ours
is. When it has ended, whatever it left running in its session is ended too, by the id of that session alone.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parent.parent
LOW_PRIORITY = 15
_BETWEEN_LOOKS_S = 0.1
_ASKING = (signal.SIGINT, signal.SIGTERM)  # an interrupt first: Python's programs then clear up behind themselves


@dataclass(frozen=True)
class Check:
    name: str
    command: Sequence[str]
    limit_s: float | None = None
    in_background: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def log_name(self) -> str:
        return f"{'-'.join(re.findall(r'[a-z0-9]+', self.name.lower()))}.log"


@dataclass(frozen=True)
class Ended:
    check: Check
    code: int
    seconds: float
    output: str
    overdue: bool = False

    @property
    def last_line(self) -> str:
        return (self.output.strip().splitlines() or ["it said nothing"])[-1]


class Running:
    def __init__(self, check: Check, log: Path, patience_s: float) -> None:
        self.check, self._log, self._patience_s = check, log, patience_s
        self.ended: Ended | None = None
        self._began = time.monotonic()
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                check.command,
                cwd=ROOT,
                env={**os.environ, **check.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        if check.in_background:
            os.setpriority(os.PRIO_PROCESS, self._process.pid, LOW_PRIORITY)

    def look(self) -> None:
        """Takes note of its end; ends it where its time is over."""
        if self.ended is None and self._is_over():
            self._conclude(overdue=False)
        elif self.ended is None and self.check.limit_s is not None and self._seconds() > self.check.limit_s:
            self.stop(overdue=True)

    def stop(self, overdue: bool = False) -> None:
        if self.ended is None:
            for asking in _ASKING:
                if not self._is_over():
                    self._signal(asking)
                    self._wait(self._patience_s)
            self._conclude(overdue)

    def _conclude(self, overdue: bool) -> None:
        self._signal(signal.SIGKILL)  # the first of the session is not yet waited for, so its id is nobody else's
        code = self._process.wait()
        output = self._log.read_text(encoding="utf-8", errors="replace")
        self.ended = Ended(self.check, code, self._seconds(), output, overdue)

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._is_over() and time.monotonic() < until:
            time.sleep(_BETWEEN_LOOKS_S)

    def _is_over(self) -> bool:
        """Looks without taking note of it: until then the id of the session stays its own."""
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def _signal(self, which: signal.Signals) -> None:
        os.killpg(self._process.pid, which)

    def _seconds(self) -> float:
        return time.monotonic() - self._began


class Runner:
    """Starts checks and waits for them; leaving it ends all that still run."""

    def __init__(self, logs: Path, patience_s: float = 30) -> None:
        self._logs, self._patience_s = logs, patience_s
        self._started: list[Running] = []

    def start(self, check: Check) -> Running:
        running = Running(check, self._logs / check.log_name, self._patience_s)
        self._started.append(running)
        return running

    def finish(self, running: Running) -> Ended:
        while running.ended is None:
            self._look_at_all()
        return running.ended

    def run(self, check: Check) -> Ended:
        return self.finish(self.start(check))

    def run_beside(self, checks: Sequence[Check], most: int) -> Iterator[Ended]:
        """All of them, some at a time, each told when it has ended."""
        waiting, going = list(checks), list[Running]()
        while waiting or going:
            while waiting and len(going) < most:
                going.append(self.start(waiting.pop(0)))
            self._look_at_all()
            yield from (each.ended for each in going if each.ended is not None)
            going = [each for each in going if each.ended is None]

    def _look_at_all(self) -> None:
        for each in self._started:
            each.look()
        time.sleep(_BETWEEN_LOOKS_S)

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for running in self._started:
            running.stop()
