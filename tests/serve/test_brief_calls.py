"""Brief calls: answered in the event loop, as long as they keep being brief."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.serve.process import Daemons

from libravdb_memory.serve.access import SAME_USER
from libravdb_memory.serve.calls import Call, read_call
from libravdb_memory.serve.dispatch import Dispatcher
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.methods import Method, Result, table_of
from libravdb_memory.serve.metrics import Metrics
from libravdb_memory.serve.results.conversation import Done
from libravdb_memory.serve.table import every_method


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    seconds: float = 0.0
    fails: bool = False


@dataclass
class Clocked:
    """Stands where the service does; its methods take as long as they are told, on a clock of its own."""

    now: float = 0.0
    ready: bool = True
    metrics: Metrics = field(default_factory=Metrics)

    def is_ready(self) -> bool:
        return self.ready

    def seen_by(self, within: frozenset[str] | None) -> Clocked:
        return self


def look(service: Any, params: Look) -> Result:
    service.now += params.seconds
    if params.fails:
        raise RuntimeError("no such luck")
    return {"thread": threading.current_thread().name}


TABLE = table_of(
    [
        Method("look", Look, look, "Look at one thing.", pace="brief", result=Done),
        Method(
            "ordered", Look, look, "Look, after all that came before.", pace="brief", order=lambda _: "key", result=Done
        ),
        Method("quick", Look, look, "Look at several.", result=Done),
        Method("instant", Look, look, "Look at nothing.", pace="instant", result=Done),
    ]
)


def call_of(method: str, **params: Any) -> Call:
    call = read_call(TABLE, Request(method, params, 1), SAME_USER)
    assert isinstance(call, Call)
    return call


@contextmanager
def dispatching(service: Clocked) -> Iterator[Dispatcher]:
    loop = asyncio.new_event_loop()
    try:
        yield Dispatcher(service, loop, 1, now=lambda: service.now)  # type: ignore[arg-type]
    finally:
        loop.close()


def test_a_brief_call_is_answered_at_once_in_the_thread_of_the_loop() -> None:
    service = Clocked()
    with dispatching(service) as dispatcher:
        answer = dispatcher.at_once(call_of("look"))
        assert answer is not None
        assert json.loads(answer.line)["result"]["thread"] == threading.current_thread().name
        assert dispatcher.at_once(call_of("instant")) is not None
        assert dispatcher.at_once(call_of("quick")) is None
    assert 'libravdb_call_seconds_count{method="look"} 1' in service.metrics.text()


def test_one_that_was_not_brief_sends_the_next_to_the_threads_for_a_while() -> None:
    service = Clocked()
    with dispatching(service) as dispatcher:
        assert dispatcher.at_once(call_of("look", seconds=0.001)) is not None
        assert dispatcher.at_once(call_of("look", seconds=0.5)) is not None
        for _ in range(3):
            assert dispatcher.at_once(call_of("look")) is None
            service.now += 3.0
        assert dispatcher.at_once(call_of("instant")) is not None
        service.now += 3.0
        assert dispatcher.at_once(call_of("look", seconds=0.5, fails=True)) is not None
        assert dispatcher.at_once(call_of("look")) is None


def test_what_waits_for_others_or_for_the_store_is_never_answered_at_once() -> None:
    service = Clocked()
    with dispatching(service) as dispatcher:
        assert dispatcher.at_once(call_of("ordered")) is None
        service.ready = False
        assert dispatcher.at_once(call_of("look")) is None
        assert dispatcher.at_once(call_of("instant")) is not None


def test_a_brief_method_reads_and_keeps_no_order() -> None:
    brief = [method for method in every_method().values() if method.pace == "brief"]
    assert [method.name for method in brief] == ["memory_get"]
    assert not any(method.writes for method in brief)


@pytest.mark.slow
def test_large_turns_that_are_read_again_and_again_keep_nobody_waiting(daemons: Daemons) -> None:
    daemon, ada = daemons(), {"userId": "ada", "sessionId": "s1"}
    with daemon.client() as greedy, daemon.client() as other:
        other.call("ingest_message", **ada, id="big", text="x" * 4_000_000)
        other.call("ingest_message", **ada, id="small", text="y")
        for _ in range(20):
            greedy.send("memory_get", **ada, id="big")
        for _ in range(20):
            assert other.call("memory_get", **ada, id="small")["turn"]["text"] == "y"
        assert all(len(greedy.read()["result"]["turn"]["text"]) == 4_000_000 for _ in range(20))
