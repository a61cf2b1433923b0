"""Starting and stopping the daemon of a home, for whoever runs no service manager.

Laws: starting one that runs changes nothing. Only a process that answers as the daemon of this home is told to stop,
and it is told, never killed.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.serve.running import Running, log_file, noted, running
from libravdb_memory.store.sqlite.files import make_folder

START_S = 60.0
_PAUSE_S = 0.02
_HEAD_START_S = 5.0
_STORE_IN_USE = 5
"""What `libravdb serve` exits with when another process owns the store."""
_LARGEST_LOG = 10 << 20


class DaemonError(LibraVDBError):
    """The daemon does not start, or does not stop."""


def start(home: Path, arguments: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> tuple[Running, bool]:
    """The daemon that answers, and whether it was started now. `arguments` are further ones of `libravdb serve`, which
    must find this home in its environment: our own, if none is given."""
    if (found := running(home)) is not None:
        return found, False
    log = log_file(home)
    make_folder(log.parent)
    _turn_over(log)
    before = log.stat().st_size if log.exists() else 0
    with open(log, "ab", opener=_for_owner) as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "libravdb_memory", "serve", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=err,
            start_new_session=True,
            env=environ,
        )
    endpoint = _first_line(process)
    if (found := running(home) if endpoint else _started_by_another(home, process)) is not None:
        process.returncode = process.poll() or 0  # it lives on without us, and is not waited for
        return found, bool(endpoint)
    if process.poll() is None:
        process.terminate()
        process.wait()
    raise DaemonError("the daemon did not start", _last_words(log, before) or f"see {log}")


def _started_by_another(home: Path, process: subprocess.Popen[bytes]) -> Running | None:
    """Who was quicker owns the store a moment before it can be found."""
    if process.wait(START_S) != _STORE_IN_USE:
        return running(home)
    deadline = time.monotonic() + _HEAD_START_S
    while (found := running(home)) is None and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)
    return found


def stop(home: Path, patience_s: float) -> int | None:
    """Tell the daemon to end, and wait until it has; its pid, or None when none runs."""
    found = running(home)
    if found is None:
        note = noted(home)
        if note is not None and _lives(note.pid):
            reason = f"process {note.pid} may be the daemon, and does not answer at {note.endpoint}"
            raise DaemonError(reason, "it was left alone; look at it, and end it yourself")
        return None
    os.kill(found.pid, signal.SIGTERM)
    deadline = time.monotonic() + patience_s
    while (note := noted(home)) is not None and note.pid == found.pid and _lives(found.pid):
        if time.monotonic() > deadline:
            raise DaemonError(f"process {found.pid} was told to stop and has not ended yet")
        time.sleep(_PAUSE_S)
    return found.pid


def last_lines(log: Path, count: int) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(log.stat().st_size - (1 << 20), 0))
            lines = file.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return lines[-count:] if count else []


def _first_line(process: subprocess.Popen[bytes]) -> str:
    """What it says when it listens; empty when it ends or takes too long."""
    assert process.stdout is not None
    with process.stdout as out:
        if os.name == "posix" and not select.select([out], [], [], START_S)[0]:
            return ""
        return out.readline().decode().strip()


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _turn_over(log: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > _LARGEST_LOG:
            log.replace(log.with_suffix(".log.1"))


def _last_words(log: Path, before: int) -> str:
    with log.open("rb") as file:
        file.seek(before)
        lines = [line for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
