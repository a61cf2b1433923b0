"""Other stores, each in a process of its own with the Python that has it installed (`make bench-peers`)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

NAMES = ("chroma", "lancedb", "sqlite_vec")
_WORKER = Path(__file__).with_name("peer_worker.py")


class Peer:
    """Answers rounds of durable inserts with the seconds of each."""

    def __init__(self, name: str, process: subprocess.Popen[str], each: int) -> None:
        self.name = name
        self._process = process
        self._each = each

    def round(self) -> list[float]:
        _pipe(self._process.stdin).write(f"{self._each}\n")
        _pipe(self._process.stdin).flush()
        line = _pipe(self._process.stdout).readline()
        return [float(value) for value in json.loads(line)]

    def stop(self) -> None:
        _pipe(self._process.stdin).close()
        _pipe(self._process.stdout).close()
        self._process.wait(30)


@contextmanager
def started(python: Path | None, folder: Path, each: int) -> Generator[list[Peer]]:
    """The peers that can be imported there; none without a Python for them."""
    running: list[Peer] = []
    try:
        for name in NAMES if python is not None else ():
            peer = _start(str(python), name, folder / name, each)
            if peer is not None:
                running.append(peer)
        yield running
    finally:
        for peer in running:
            peer.stop()


def _start(python: str, name: str, folder: Path, each: int) -> Peer | None:
    folder.mkdir()
    process = subprocess.Popen(
        [python, str(_WORKER), name, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    peer = Peer(name, process, each)
    if _pipe(process.stdout).readline().strip() == "ready":
        return peer
    peer.stop()
    return None


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
