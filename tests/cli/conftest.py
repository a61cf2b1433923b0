"""Two ways to run the real command line: in this process, and as a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from libravdb_memory.cli import main


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A home of its own and a model that costs nothing."""
    for name in list(os.environ):
        if name.startswith("LIBRAVDB_"):
            monkeypatch.delenv(name)
    variables = {
        "HOME": str(tmp_path / "home"),
        "LIBRAVDB_DB_PATH": str(tmp_path / "store.libravdb"),
        "LIBRAVDB_EMBEDDING_BACKEND": "hashed",
        "COLUMNS": "80",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return {**os.environ, **variables}


@pytest.fixture
def cli(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `main` here; far faster than a process, and the same code from the arguments to the exit code."""

    def run(*arguments: str | Path, stdin: str | bytes = "") -> Result:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), "utf-8"))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = main([str(argument) for argument in arguments])
            out.flush()
            err.flush()
        return Result(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())

    return run


@pytest.fixture
def libravdb(environment: dict[str, str]) -> Run:
    """Run the program as a user does."""

    def run(*arguments: str | Path, stdin: str | bytes = "", **variables: str) -> Result:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        command = [sys.executable, "-m", "libravdb_memory", *map(str, arguments)]
        done = subprocess.run(command, input=raw, capture_output=True, env={**environment, **variables}, timeout=120)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
