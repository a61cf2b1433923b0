"""Order and overtaking of calls, and the threads that work on them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libravdb_memory.serve.access import SAME_USER
from libravdb_memory.serve.calls import Answer, Call, read_call
from libravdb_memory.serve.dispatch import Dispatcher
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.methods import Method, Result, table_of
from libravdb_memory.serve.metrics import BOUNDS_S, Metrics
from libravdb_memory.serve.results.conversation import Done
from libravdb_memory.serve.workers import Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    number: int
    key: str | None = None


@dataclass
class Recorder:
    """Stands where the service does: what these methods need, and no store."""

    metrics: Metrics
    seen: dict[str | None, list[int]]
    gate: threading.Event

    def seen_by(self, within: frozenset[str] | None) -> Recorder:
        return self


def note(service: Any, params: Step) -> Result:
    service.seen[params.key].append(params.number)
    if params.number % 5 == 4:
        raise RuntimeError("every fifth fails")
    return {"number": params.number}


def wait(service: Any, params: Step) -> Result:
    assert service.gate.wait(30)
    return note(service, params)


TABLE = table_of(
    [
        Method("note", Step, note, "Note it.", writes=True, order=lambda step: step.key, result=Done),
        Method("read", Step, note, "Read it.", order=lambda step: step.key, result=Done),
        Method("wait", Step, wait, "Wait.", pace="thinking", result=Done),
        Method("slow", Step, wait, "Take long.", pace="slow", result=Done),
    ]
)


def call_of(method: str, number: int, key: str | None = None) -> Call:
    call = read_call(TABLE, Request(method, {"number": number, "key": key}, number), SAME_USER)
    assert isinstance(call, Call)
    return call


def recorder() -> Recorder:
    return Recorder(Metrics(), defaultdict(list), threading.Event())


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.sampled_from(["note", "read"]), st.sampled_from([None, "a", "b", "c"])), max_size=60),
    st.integers(1, 4),
)
def test_calls_of_one_key_run_in_the_order_in_which_they_came_and_all_are_answered(
    calls: list[tuple[str, str | None]], workers: int
) -> None:
    service, answers = recorder(), list[int]()

    async def main() -> None:
        dispatcher = Dispatcher(service, asyncio.get_running_loop(), workers)  # type: ignore[arg-type]
        for number, (method, key) in enumerate(calls):
            dispatcher.submit(
                call_of(method, number, key), lambda answer: answers.append(json.loads(answer.line)["id"])
            )
        await dispatcher.idle()
        assert dispatcher.under_way == 0
        dispatcher.stop()

    asyncio.run(main())
    assert sorted(answers) == list(range(len(calls)))
    for key in ("a", "b", "c"):
        assert service.seen[key] == [number for number, call in enumerate(calls) if call[1] == key]


@pytest.mark.parametrize("other", ["note", "read"])
def test_neither_long_work_nor_waiting_for_a_model_delays_others(other: str) -> None:
    service, answers = recorder(), list[int]()

    async def main() -> None:
        dispatcher = Dispatcher(service, asyncio.get_running_loop(), 2)  # type: ignore[arg-type]
        written = asyncio.Event()

        def answered(answer: Answer) -> None:
            answers.append(json.loads(answer.line)["id"])
            written.set()

        for number in range(10):
            dispatcher.submit(call_of("slow", number), answered)
            dispatcher.submit(call_of("wait", 100 + number), answered)
        dispatcher.submit(call_of(other, 1000), answered)
        await asyncio.wait_for(written.wait(), 30)
        assert answers == [1000]
        service.gate.set()
        await dispatcher.idle()
        dispatcher.stop()

    asyncio.run(main())
    assert len(answers) == 21


def test_no_more_threads_work_than_were_asked_for_and_none_before_there_is_work() -> None:
    before = threading.active_count()
    workers, gate, done = Workers("few", 3), threading.Event(), threading.Semaphore(0)
    assert threading.active_count() == before

    def work() -> None:
        gate.wait(30)
        done.release()

    for _ in range(20):
        workers.submit(work)
    assert sum(thread.name.startswith("few-") for thread in threading.enumerate()) == 3
    gate.set()
    assert all(done.acquire(timeout=30) for _ in range(20))
    workers.stop()


@given(st.lists(st.floats(0, 100), max_size=50))
def test_the_buckets_of_a_histogram_are_cumulative_and_end_with_all(latencies: list[float]) -> None:
    metrics = Metrics()
    for seconds in latencies:
        metrics.called("m", seconds, failed=False)
    lines = [line for line in metrics.text().splitlines() if line.startswith("libravdb_call_seconds_bucket")]
    counts = [int(line.rpartition(" ")[2]) for line in lines]
    if latencies:
        expected = [sum(seconds <= bound for seconds in latencies) for bound in BOUNDS_S]
        assert counts == [*expected, len(latencies)]
    else:
        assert counts == []
