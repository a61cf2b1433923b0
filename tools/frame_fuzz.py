"""Throw frames at the parser and at a real daemon; nothing may crash, hang, or grow without bound.

    python tools/frame_fuzz.py --frames 1000000 --live 120000 --json benchmarks/results/fuzz.json

The parser gets streams of lines in random pieces: it must give the same frames as for the lines one by one, and each
must be answerable. The daemon gets them over several connections: every line that wants an answer gets exactly one,
none of them tells of a fault of ours, and its memory stays in bounds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from frame_making import Frames
from libravdb_memory.bench import machine
from libravdb_memory.serve.access import Access
from libravdb_memory.serve.calls import Answer, read_call
from libravdb_memory.serve.jsonrpc import BadFrame, FrameReader, Request, encode_error, encode_result, read_frame
from libravdb_memory.serve.table import every_method

TABLE = every_method()
NOBODY = Access("nobody", frozenset())
INTERNAL = -32603
_LIMIT = 1 << 16
_BATCH = 40
_PATIENCE_S = 120.0


@dataclass
class Outcome:
    """`slowest_s` is the longest that a batch of frames took."""

    frames: int = 0
    answers: Counter[str] = field(default_factory=lambda: Counter[str]())
    problems: list[str] = field(default_factory=lambda: list[str]())
    slowest_s: float = 0.0
    seconds: float = 0.0
    memory_mb: list[float] = field(default_factory=lambda: list[float]())

    def form(self) -> dict[str, Any]:
        return {
            "frames": self.frames,
            "answers": dict(sorted(self.answers.items())),
            "problems": self.problems[:20],
            "slowest_batch_s": round(self.slowest_s, 3),
            "seconds": round(self.seconds, 1),
            "memory_mb": [round(figure, 1) for figure in self.memory_mb],
        }


# ── the parser ───────────────────────────────────────────────────────────────────────────────────────────────────


def fuzz_parser(seed: str, count: int) -> Outcome:
    """Without sockets, in this process."""
    frames, outcome, began = Frames(seed, TABLE, longest=2 * _LIMIT), Outcome(), time.monotonic()
    while outcome.frames < count and len(outcome.problems) < 10:
        lines = [frames.line() for _ in range(frames.chance.randrange(1, 8))]
        started = time.monotonic()
        check_stream(frames.chance, lines, outcome)
        outcome.slowest_s = max(outcome.slowest_s, time.monotonic() - started)
        if outcome.frames % 100_000 < len(lines):
            outcome.memory_mb.append(_peak_mb())
        outcome.frames += len(lines)
    outcome.seconds = time.monotonic() - began
    return outcome


def check_stream(chance: random.Random, lines: list[bytes], outcome: Outcome) -> None:
    try:
        found = _read(chance, b"\n".join(lines) + b"\n")
        expected = [_alone(line) for line in lines if len(line) > _LIMIT or line.strip()]
        if list(map(_told, found)) != list(map(_told, expected)):
            outcome.problems.append(f"{lines!r} was read as {found!r}"[:2000])
        for frame in found:
            outcome.answers[_answerable(frame)] += 1
    except Exception as error:  # whatever it is, it is what we look for
        outcome.problems.append(f"{error!r} for {lines!r}"[:2000])


def _read(chance: random.Random, stream: bytes) -> list[Request | BadFrame]:
    reader, found, at = FrameReader(_LIMIT), list[Request | BadFrame](), 0
    while at < len(stream):
        step = chance.choice((1, 3, 50, 1000, 1 << 20)) if len(stream) < 5000 else chance.choice((4096, 1 << 20))
        found += reader.feed(stream[at : at + step])
        assert reader.held_bytes <= _LIMIT
        at += step
    found += reader.end()
    assert reader.held_bytes == 0
    return found


def _alone(line: bytes) -> Request | BadFrame:
    return next(iter(FrameReader(_LIMIT).feed(line + b"\n"))) if len(line) > _LIMIT else read_frame(line)


def _told(frame: Request | BadFrame) -> object:
    """What is compared: which of two faults a bad frame is told to have may depend on how deep the stack is."""
    return (frame.code, frame.id, frame.is_http) if isinstance(frame, BadFrame) else frame


def _answerable(frame: Request | BadFrame) -> str:
    """How it ends without a store; whatever is answered must be one line of JSON with the id of the request."""
    if isinstance(frame, BadFrame):
        _check_line(encode_error(frame.id, frame.code, frame.message), frame.id)
        return str(frame.code)
    call = read_call(TABLE, frame, NOBODY)
    if isinstance(call, Answer):
        if frame.wants_answer:
            return str(_check_line(call.line, frame.id)["error"]["code"])
        assert not call.line
        return "silent"
    _check_line(encode_result(frame.id, dict(frame.params)), frame.id)
    return "call"


def _check_line(line: bytes, expected: object) -> dict[str, Any]:
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    answer = cast(dict[str, Any], json.loads(line))
    assert answer["id"] == expected
    assert "result" in answer or answer["error"]["message"]
    return answer


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ── the daemon ───────────────────────────────────────────────────────────────────────────────────────────────────


class Peer:
    """A connection to a daemon on a unix socket."""

    def __init__(self, endpoint: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(endpoint.removeprefix("unix:"))
        self._socket.settimeout(_PATIENCE_S)
        self._lines = self._socket.makefile("rb")

    def exchange(self, lines: list[bytes], chance: random.Random) -> list[dict[str, Any]]:
        """Send these in pieces, and read as many answers as they want."""
        due = sum(map(wants_answer, lines))
        stream = b"\n".join(lines) + b"\n"
        cut = chance.randrange(len(stream))
        for piece in (stream[:cut], stream[cut:]):
            self._socket.sendall(piece)
        return [json.loads(self._lines.readline()) for _ in range(due)]

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


def wants_answer(line: bytes) -> bool:
    if not line.strip():
        return False
    frame = read_frame(line)
    return isinstance(frame, BadFrame) or frame.wants_answer


def is_sent(line: bytes) -> bool:
    """The first line of a browser ends its connection; that has a test of its own."""
    frame = read_frame(line) if line.strip() else None
    return not (isinstance(frame, BadFrame) and frame.is_http)


def fuzz_daemon(endpoint: str, pid: int, seed: str, count: int, *, connections: int = 4) -> Outcome:
    frames, outcome, began = Frames(seed, TABLE, broken=0.15), Outcome(), time.monotonic()
    peers = [Peer(endpoint) for _ in range(connections)]
    step = max(count // 20, 1)
    try:
        while outcome.frames < count and not outcome.problems:
            lines = [line for line in (frames.line() for _ in range(_BATCH)) if is_sent(line)]
            started = time.monotonic()
            try:
                answers = frames.chance.choice(peers).exchange(lines, frames.chance)
            except (OSError, ValueError) as error:
                outcome.problems.append(f"{error!r} after {lines!r}")
                break
            outcome.slowest_s = max(outcome.slowest_s, time.monotonic() - started)
            _judge(lines, answers, outcome)
            if outcome.frames % step < len(lines):
                outcome.memory_mb.append(resident_mb(pid))
            outcome.frames += len(lines)
        outcome.memory_mb.append(resident_mb(pid))
    finally:
        for peer in peers:
            peer.close()
    outcome.seconds = time.monotonic() - began
    return outcome


def _judge(lines: list[bytes], answers: list[dict[str, Any]], outcome: Outcome) -> None:
    for answer in answers:
        code = str(answer["error"]["code"]) if "error" in answer else "result"
        outcome.answers[code] += 1
        if code == str(INTERNAL):
            outcome.problems.append(f"{answer!r} among {lines!r}"[:20_000])
    asked = Counter(_id_of(line) for line in lines if wants_answer(line))
    if asked != Counter(json.dumps(answer["id"]) for answer in answers):
        outcome.problems.append(f"not the ids that were asked with: {lines!r}"[:20_000])


def _id_of(line: bytes) -> str:
    return json.dumps(read_frame(line).id)


def resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmRSS")


@contextmanager
def daemon(home: Path) -> Iterator[tuple[str, int]]:
    """One of its own, with a weightless model; its endpoint and pid. It must end well."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LIBRAVDB_")}
    environment |= {"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"}
    with subprocess.Popen(
        [sys.executable, "-m", "libravdb_memory", "serve"], env=environment, stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().decode().strip(), process.pid
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=1_000_000, help="for the parser")
    parser.add_argument("--live", type=int, default=120_000, help="for the daemon")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--json", type=Path, help="write the figures there")
    arguments = parser.parse_args()
    parsed = fuzz_parser(arguments.seed, arguments.frames)
    print(f"parser: {json.dumps(parsed.form())}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="lvf") as home, daemon(Path(home)) as (endpoint, pid):
        live = fuzz_daemon(endpoint, pid, arguments.seed, arguments.live)
        peer = Peer(endpoint)
        (whole,) = peer.exchange([b'{"id":1,"method":"verify"}'], random.Random(0))
        peer.close()
        if not whole.get("result", {}).get("ok"):
            live.problems.append(f"the store is not whole: {whole!r}")
    print(f"daemon: {json.dumps(live.form())}", file=sys.stderr)
    if arguments.json:
        told = {"what": "frames against the parser and a live daemon", "seed": arguments.seed}
        figures = told | {"parser": parsed.form(), "daemon": live.form(), "machine": machine.describe()}
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 1 if parsed.problems or live.problems else 0


if __name__ == "__main__":
    sys.exit(main())
