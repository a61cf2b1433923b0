"""The daemon that is measured: a process of its own, on a home of its own, with the settings of a new installation."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from libravdb_memory.config import Config, load_config
from libravdb_memory.errors import LibraVDBError
from libravdb_memory.serve.endpoint import Endpoint, parse_endpoint
from libravdb_memory.serve.running import log_file

_PATIENCE_S = 60.0


class LoadError(LibraVDBError):
    """The daemon that should be measured does not start, or does not end well."""


@dataclass(frozen=True, slots=True)
class Subject:
    pid: int
    home: Path
    endpoint: Endpoint


def environment(home: Path, engine: str) -> dict[str, str]:
    return {"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": engine}


def config_of(home: Path, engine: str) -> Config:
    return load_config(environ=environment(home, engine))


@contextmanager
def running_subject(home: Path, engine: str) -> Generator[Subject]:
    """Until the end of the block; then it is told to stop, and must end well."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LIBRAVDB_")}
    arguments = ["--endpoint", "tcp:127.0.0.1:0"] if os.name == "nt" else []
    log = log_file(home)
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "libravdb_memory", "serve", *arguments],
            env=kept | environment(home, engine),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=err,
        )
    try:
        yield Subject(process.pid, home, _endpoint_told(process, log))
        process.terminate()
        if process.wait(_PATIENCE_S):
            raise LoadError(f"the daemon ended with {process.returncode}", _last_words(log))
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _endpoint_told(process: subprocess.Popen[bytes], log: Path) -> Endpoint:
    assert process.stdout is not None
    line = process.stdout.readline().decode().strip()
    if not line:
        process.wait()
        raise LoadError("the daemon did not start", _last_words(log))
    return parse_endpoint(line)


def _last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return lines[-1] if lines else ""
