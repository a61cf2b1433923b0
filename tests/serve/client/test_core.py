"""The client's state without sockets: every call is resolved once, a daemon that is away is tried in good measure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.serve.client.core import (
    LONGEST_PAUSE_S,
    SHORTEST_PAUSE_S,
    Circuit,
    Line,
    Outcome,
    Reach,
    RefusedError,
    UnavailableError,
    encode_call,
    pause_s,
)
from libravdb_memory.serve.failures import BUSY, STORE_FULL
from libravdb_memory.serve.jsonrpc import INVALID_REQUEST, MAX_FRAME_BYTES, encode_error, encode_result

CHANCE = st.floats(0, 1)


class Calls:
    """Calls on one line, and what became of each."""

    def __init__(self, count: int, deadline: float = 30.0) -> None:
        self.line = Line()
        self.outcomes: dict[int, list[Outcome]] = {index: [] for index in range(1, count + 1)}
        for index in self.outcomes:
            sent = self.line.call("status", {"n": index}, deadline, self.outcomes[index].append)
            assert json.loads(sent)["id"] == index


@given(st.data())
def test_answers_in_any_order_and_in_any_pieces_reach_each_call_once(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 20))
    calls = Calls(count)
    order = data.draw(st.permutations(range(1, count + 1)))
    twice = order + order[: data.draw(st.integers(0, count))]
    stream = b"\n".join(encode_result(index, {"n": index}) for index in twice)
    while stream:
        size = data.draw(st.integers(1, 60))
        calls.line.feed(stream[:size])
        stream = stream[size:]
    assert calls.outcomes == {index: [{"n": index}] for index in range(1, count + 1)}
    assert calls.line.waiting == 0 and calls.line.failure is None


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(0, 5))
def test_whatever_bytes_come_nothing_is_raised_and_every_call_is_resolved_at_most_once(
    pieces: list[bytes], count: int
) -> None:
    calls = Calls(count)
    for piece in pieces:
        calls.line.feed(piece)
    calls.line.fail("the end")
    calls.line.fail("a second end")
    calls.line.feed(encode_result(1, {}))
    assert all(len(outcomes) == 1 for outcomes in calls.outcomes.values())
    assert calls.line.waiting == 0


@pytest.mark.parametrize(
    "frame",
    [
        b"HTTP/1.1 400 Bad Request",
        b"[]",
        b'{"id":1}',
        b'{"id":1,"result":7}',
        b"\xff\xfe",
        b"[" * 200_000,
        b"1",
        b"null",
    ],
)
def test_what_is_no_answer_ends_the_connection(frame: bytes) -> None:
    calls = Calls(3)
    calls.line.feed(frame + b"\n" + encode_result(1, {}))
    assert all(isinstance(outcome, UnavailableError) for (outcome,) in calls.outcomes.values())
    late: list[Outcome] = []
    assert calls.line.call("status", {}, 1.0, late.append) == b"" and isinstance(late[0], UnavailableError)


def test_calls_on_a_lost_connection_are_told_in_the_order_in_which_they_were_made() -> None:
    line, told = Line(), list[int]()
    for index in range(20):
        line.call("status", {}, 1.0, lambda _, index=index: told.append(index))  # type: ignore[misc]
    line.fail("gone")
    assert told == list(range(20))


def test_an_error_is_told_with_its_code_kind_and_hint_and_a_connection_goes_on() -> None:
    calls = Calls(2)
    calls.line.feed(encode_error(1, STORE_FULL, "no space left", {"kind": "store_full", "hint": "make some"}))
    error = calls.outcomes[1][0]
    assert isinstance(error, RefusedError) and error.may_pass
    assert (error.code, error.kind, error.message, error.hint) == (
        STORE_FULL,
        "store_full",
        "no space left",
        "make some",
    )
    assert calls.line.failure is None and calls.line.waiting == 1


def test_an_error_without_id_is_about_the_only_call_there_is_else_about_the_connection() -> None:
    alone = Calls(1)
    alone.line.feed(encode_error(None, INVALID_REQUEST, "too long"))
    assert isinstance(alone.outcomes[1][0], RefusedError) and alone.line.failure is None
    for count, code in ((2, INVALID_REQUEST), (1, BUSY)):
        several = Calls(count)
        several.line.feed(encode_error(None, code, "refused"))
        assert all(isinstance(outcome, UnavailableError) for (outcome,) in several.outcomes.values())


@given(st.floats(0, 100), st.lists(st.floats(0, 100), min_size=1, max_size=8))
def test_a_connection_is_given_up_exactly_when_a_call_on_it_is_overdue(now: float, deadlines: list[float]) -> None:
    line, outcomes = Line(), list[Any]()
    for deadline in deadlines:
        line.call("status", {}, deadline, outcomes.append)
    assert line.expire(now) == (min(deadlines) <= now)
    assert len(outcomes) == (len(deadlines) if min(deadlines) <= now else 0)


@given(st.integers(1, 10_000), CHANCE)
def test_every_pause_is_between_half_a_second_and_sixteen(failures: int, chance: float) -> None:
    assert SHORTEST_PAUSE_S <= pause_s(failures, chance) <= LONGEST_PAUSE_S
    assert pause_s(failures, 0.0) == 0.5
    assert pause_s(failures, 1.0) == min(16.0, 0.5 * 2.0 ** min(failures, 50))


@given(st.lists(st.tuples(st.floats(0, 20), CHANCE), max_size=20), CHANCE)
def test_a_circuit_opens_at_a_failure_lets_one_attempt_through_and_closes_at_an_answer(
    steps: list[tuple[float, float]], chance: float
) -> None:
    clock = [0.0]
    reach = Reach(lambda: clock[0], lambda: chance)
    failures = 0
    for wait_s, _ in steps:
        clock[0] += wait_s
        state = reach.circuit.state(clock[0])
        assert (state == "closed") == (failures == 0)
        if state == "open":
            with pytest.raises(UnavailableError, match="away; not tried again for"):
                reach.begin(5.0)
            continue
        reach.begin(5.0)
        if failures:
            assert reach.circuit.state(clock[0]) == "open"  # one attempt at a time
        failures += 1
        reach.failed("away")
        assert reach.circuit.retry_at == clock[0] + pause_s(failures, chance)
    reach.answered()
    assert reach.circuit == Circuit() and reach.circuit.state(clock[0]) == "closed"


def test_an_attempt_that_nobody_decides_is_over_in_time() -> None:
    circuit = Circuit().failed(0.0, 1.0).tried(2.0, 5.0)
    assert circuit.state(6.9) == "open" and circuit.state(7.0) == "half-open"


@pytest.mark.parametrize("params", [{"a": float("nan")}, {"a": {1, 2}}, {"a": "x" * MAX_FRAME_BYTES}])
def test_a_call_that_no_daemon_could_read_is_refused_before_it_is_sent(params: Any) -> None:
    with pytest.raises(InvalidInputError, match="status"):
        encode_call(1, "status", params)


@pytest.mark.parametrize("depth", [200, 100_000])
def test_a_call_nested_too_deep_is_refused_before_it_is_sent(depth: int) -> None:
    nested: Any = []
    for _ in range(depth):
        nested = [nested]
    with pytest.raises(InvalidInputError):
        encode_call(1, "status", {"a": nested})
