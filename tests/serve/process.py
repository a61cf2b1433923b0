"""A real daemon in a process of its own, and a bare client that sees every byte."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

START_S = 60


class Client:
    """Sends frames and reads lines; ids count from 1."""

    def __init__(self, endpoint: str, timeout_s: float = 60) -> None:
        kind, _, rest = endpoint.partition(":")
        if kind == "unix":
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.connect(rest)  # with a timeout set it would not wait for its turn
            self.socket.settimeout(timeout_s)
        else:
            host, _, port = rest.rpartition(":")
            self.socket = socket.create_connection((host, int(port)), timeout=timeout_s)
        self._lines = self.socket.makefile("rb")
        self._last = 0

    def send(self, method: str, **params: Any) -> int:
        self._last += 1
        self.raw(json.dumps({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}).encode() + b"\n")
        return self._last

    def raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read(self) -> Any:
        """The next answer; None when the daemon has hung up."""
        line = self._lines.readline()
        return json.loads(line) if line else None

    def ask(self, method: str, **params: Any) -> Any:
        sent = self.send(method, **params)
        answer = self.read()
        assert answer is not None and answer["id"] == sent, answer
        return answer

    def call(self, method: str, **params: Any) -> Any:
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def close(self) -> None:
        self._lines.close()
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class Daemon:
    """Started and listening, unless it refused to start: then `endpoint` is empty."""

    def __init__(self, home: Path, *arguments: str, **variables: str) -> None:
        self.home = home
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LIBRAVDB_")}
        environment = {
            **kept,
            "LIBRAVDB_HOME": str(home),
            "LIBRAVDB_EMBEDDING_BACKEND": "hashed",
            **{f"LIBRAVDB_{name}": value for name, value in variables.items()},
        }
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        self.process = subprocess.Popen(
            [sys.executable, "-m", "libravdb_memory", "serve", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        assert self.process.stdout is not None
        self.endpoint = self.process.stdout.readline().decode().strip()

    @property
    def pid(self) -> int:
        return self.process.pid

    def client(self, timeout_s: float = 60) -> Client:
        return Client(self.endpoint, timeout_s)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self) -> int:
        return self.process.wait(START_S)

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.wait()

    @property
    def log(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode()

    def resident_bytes(self) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no VmRSS")

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._errors.close()


class Daemons:
    """All daemons of one test; what is left of them is ended with it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.started: list[Daemon] = []

    def __call__(self, *arguments: str, home: Path | None = None, **variables: str) -> Daemon:
        daemon = self.attempt(*arguments, home=home, **variables)
        assert daemon.endpoint, daemon.log
        return daemon

    def attempt(self, *arguments: str, home: Path | None = None, **variables: str) -> Daemon:
        daemon = Daemon(home or self.home, *arguments, **variables)
        self.started.append(daemon)
        return daemon

    def end(self) -> None:
        for daemon in self.started:
            daemon.end()


@contextmanager
def short_folder() -> Iterator[Path]:
    """The path of a socket must be short, and those of pytest are long."""
    folder = Path(tempfile.mkdtemp(prefix="lv"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
