"""Long work that somebody watches: begun by one call, asked about by others.

Laws: of one kind there is at most one job at a time; the newest are remembered, in memory only. A job ends soon after
the daemon is told to stop. What goes wrong in a job is its outcome.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from libravdb_memory.errors import ConflictError, LibraVDBError, NotFoundError
from libravdb_memory.identity import Json

_log = logging.getLogger(__name__)
_REMEMBERED = 20
State: TypeAlias = Literal["running", "done", "failed"]
Work: TypeAlias = "Callable[[Callable[[int, int], None]], dict[str, Json]]"
"""Is given where to tell its progress (done, total) and returns its result."""


class _Stopped(Exception):
    """The daemon ends."""


@dataclass(frozen=True, slots=True)
class Job:
    """`total` is 0 where it is not known; `result` is there once it is done, `error` once it failed."""

    id: str
    kind: str
    state: State
    done: int
    total: int
    started_ms: int
    ended_ms: int | None = None
    result: dict[str, Json] | None = None
    error: str | None = None


class Jobs:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}

    def start(self, kind: str, work: Work, stopping: Callable[[], bool]) -> Job:
        """In a thread of its own; ConflictError while another of this kind runs."""
        with self._lock:
            if any(job.kind == kind and job.state == "running" for job in self._jobs.values()):
                raise ConflictError(kind, "is under way already")
            job = Job(secrets.token_hex(8), kind, "running", 0, 0, _now_ms())
            self._jobs[job.id] = job
            for old in list(self._jobs)[:-_REMEMBERED]:
                if self._jobs[old].state != "running":
                    del self._jobs[old]
        threading.Thread(target=self._run, args=(job.id, work, stopping), name=f"job-{kind}", daemon=True).start()
        return job

    def get(self, job_id: str) -> Job:
        with self._lock:
            found = self._jobs.get(job_id)
        if found is None:
            raise NotFoundError(job_id, f"there is no job {job_id!r}")
        return found

    def all(self) -> tuple[Job, ...]:
        """The newest first."""
        with self._lock:
            return tuple(reversed(self._jobs.values()))

    def _run(self, job_id: str, work: Work, stopping: Callable[[], bool]) -> None:
        def progress(done: int, total: int) -> None:
            if stopping():
                raise _Stopped
            with self._lock:
                self._jobs[job_id] = replace(self._jobs[job_id], done=done, total=total)

        result: dict[str, Json] | None = None
        error: str | None = None
        try:
            result = work(progress)
        except _Stopped:
            error = "the daemon was told to stop"
        except LibraVDBError as failure:
            error = failure.message
        except Exception as failure:  # the thread's outermost frame
            _log.error("a job failed: %r", failure, exc_info=failure)
            error = f"internal error: {type(failure).__name__}"
        with self._lock:
            state: State = "failed" if result is None else "done"
            self._jobs[job_id] = replace(
                self._jobs[job_id], state=state, ended_ms=_now_ms(), result=result, error=error
            )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
