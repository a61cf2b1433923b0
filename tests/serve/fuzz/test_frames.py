"""Frames that are broken in every way: the parser and a live daemon answer them all, and nothing of ours fails."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serve.process import Daemons

from frame_fuzz import INTERNAL, NOBODY, TABLE, Outcome, check_stream, fuzz_daemon, fuzz_parser
from frame_making import Frames
from libravdb_memory.serve.calls import Call, read_call
from libravdb_memory.serve.jsonrpc import Request, read_frame


def test_the_frames_are_good_and_bad_and_of_every_method() -> None:
    """Otherwise the tests below would prove nothing."""
    frames = Frames("any", TABLE)
    read = [read_frame(frames.line()) for _ in range(6000)]
    calls = [read_call(TABLE, frame, NOBODY) for frame in read if isinstance(frame, Request)]
    good = {call.method.name for call in calls if isinstance(call, Call)}
    assert good >= set(TABLE) - {"backup", "job_start", "verify"}
    assert len(calls) < 5250 and sum(isinstance(call, Call) for call in calls) > 1000


def test_the_parser_reads_any_frames_in_any_pieces_as_it_reads_them_alone() -> None:
    outcome = fuzz_parser("quick", 15_000)
    assert not outcome.problems
    assert outcome.frames >= 15_000 and outcome.answers["call"] > 2000


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.lists(st.binary(max_size=80).map(lambda line: line.replace(b"\n", b"")), max_size=4))
def test_any_bytes_among_them_change_nothing(seed: int, noise: list[bytes]) -> None:
    frames, outcome = Frames(f"{seed}", TABLE), Outcome()
    lines = [frames.line(), *noise, frames.line()]
    frames.chance.shuffle(lines)
    check_stream(random.Random(seed), lines, outcome)
    assert not outcome.problems


def test_a_daemon_answers_every_frame_without_a_fault_of_ours_and_stays_small(daemons: Daemons) -> None:
    daemon = daemons()
    outcome = fuzz_daemon(daemon.endpoint, daemon.pid, "quick", 2500)
    assert not outcome.problems, outcome.problems[0]
    assert outcome.frames >= 2500 and outcome.answers["result"] > 300 and str(INTERNAL) not in outcome.answers
    assert outcome.memory_mb[-1] - outcome.memory_mb[0] < 120
    with daemon.client() as client:
        assert client.call("health")["message"] == "ok"
        verified = client.call("verify")
        assert verified["ok"] is True, verified["problems"]
    assert daemon.stop() == 0
    assert not [line for line in daemon.log.splitlines() if json.loads(line)["level"] == "error"]
