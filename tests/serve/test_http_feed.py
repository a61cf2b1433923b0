"""Live events without sockets: who is told what, in which order, and what a listener that sleeps costs."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.serve.conftest import Call

from libravdb_memory.serve.access import Access
from libravdb_memory.serve.http.feed import MOST_AT_ONCE, Event, Feed, reset
from libravdb_memory.serve.http.hub import MOST_WAITING, Hub, Listener, encoded
from libravdb_memory.serve.methods import EVERYTHING, NOTHING
from libravdb_memory.serve.service import Service

FULL = Access("all")
names = st.sampled_from(["ada", "bob", "*", ""])
reaches = st.sampled_from([NOTHING, EVERYTHING]) | names.map(lambda name: frozenset({name}))


@given(reaches, st.none() | st.frozensets(names), st.none() | names)
def test_nobody_is_told_of_what_it_may_not_read(
    reach: frozenset[str], reached: frozenset[str] | None, asked: str | None
) -> None:
    told = Event("turn", {}, 1, reach).is_for(Access("x", reached), asked)
    if told:
        assert reached is None or reach <= reached
        assert asked is None or reach in (NOTHING, EVERYTHING, frozenset({asked}))
    if reached is None and asked is None:
        assert told


@given(st.text(), st.integers(0, 2**53))
def test_an_event_is_lines_of_its_own_whatever_it_holds(text: str, number: int) -> None:
    data = encoded(Event("turn", {"text": text}, number)).decode()
    lines = data.removesuffix("\n\n").split("\n")
    assert lines[:2] == [f"id: {number}", "event: turn"] and len(lines) == 3 and "\r" not in data
    assert json.loads(lines[2].removeprefix("data: ")) == {"text": text}


def test_changes_are_told_once_in_their_order_and_again_to_one_who_comes_back(service: Service, call: Call) -> None:
    now = [0.0]
    feed = Feed(service, lambda: now[0])
    feed.begin()
    begun = feed.sequence
    for number in range(5):
        call("ingest_message", userId="ada", sessionId="s1", id=f"t{number}", role="assistant", text=f"turn {number}")
    service.memory.load_document("a.md", "- Always test.\n")
    told = [event for event in feed.poll() if event.id is not None]
    assert [event.data["id"] for event in told if event.name == "turn"] == [f"t{number}" for number in range(5)]
    assert told[-1].name == "documents" and told[-1].data == {"names": ["a.md"]}
    ids = [event.id or 0 for event in told]
    assert ids == sorted(ids) and ids[0] > begun
    assert not [event for event in feed.poll() if event.id is not None]
    assert feed.missed(begun, feed.sequence) == told
    assert feed.missed(ids[2], feed.sequence) == told[3:]
    assert feed.missed(begun, ids[2]) == told[:3]
    assert feed.missed(feed.sequence, feed.sequence) == []
    for since in (-1, feed.sequence + 1):
        assert feed.missed(since, feed.sequence) is None
    assert feed.missed(0, MOST_AT_ONCE + 1) is None


def test_a_judgement_is_told_when_it_is_made(service: Service, call: Call) -> None:
    feed = Feed(service)
    feed.begin()
    call("ingest_message", userId="ada", sessionId="s1", id="t1", text="I prefer blue to red.")
    told = feed.poll()
    assert service.memory.wait(30)
    told += feed.poll()
    (turn,) = [event for event in told if event.name == "turn"]
    gates = [event.data for event in told if event.name == "gate"] or [turn.data["gate"]]
    assert len(gates) == 1 and isinstance(gates[0], dict) and 0 <= gates[0]["score"] <= 1
    assert not [event for event in feed.poll() if event.name == "gate"]


def test_of_too_many_changes_only_that_something_was_missed_is_told(service: Service, call: Call) -> None:
    feed = Feed(service)
    feed.begin()
    messages: Any = [{"role": "assistant", "content": f"turn {number}"} for number in range(MOST_AT_ONCE + 10)]
    service.memory.ingest_messages(messages, user="ada", session="s1")
    assert [event.name for event in feed.poll() if event.id is not None] == ["reset"]
    call("ingest_message", userId="ada", sessionId="s1", id="next", role="assistant", text="the next one")
    assert "next" in [event.data.get("id") for event in feed.poll()]


def test_a_listener_that_does_not_keep_up_loses_what_waited_and_is_told_so() -> None:
    async def heard() -> list[Event | None]:
        listener = Listener(FULL, None)
        for number in range(MOST_WAITING + 1):
            listener.tell(Event("turn", {}, number), 1000)
        listener.tell(Event("turn", {}, 5000), 5000)
        listener.end()
        return [await listener.next() for _ in range(3)]

    assert asyncio.run(heard()) == [reset(1000), Event("turn", {}, 5000), None]


def test_without_listeners_nothing_runs_and_one_whose_token_is_gone_hears_no_more(service: Service) -> None:
    async def watched() -> None:
        hub = Hub(service, heartbeat_s=0.01)
        before = len(asyncio.all_tasks())
        allowed = [True]
        stream = hub.stream(FULL, None, None, lambda: allowed[0])
        assert b"event: hello" in await anext(stream)
        assert hub.listeners == 1 and len(asyncio.all_tasks()) > before
        assert await anext(stream) == b": \n\n"
        allowed[0] = False
        left = [piece async for piece in stream]
        assert len(left) <= 1 and hub.listeners == 0
        for _ in range(5):  # what was cancelled ends within a few turns of the loop
            await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == before

    asyncio.run(watched())


def test_a_hub_that_closes_sends_everybody_away(service: Service) -> None:
    async def watched() -> list[bytes]:
        hub = Hub(service)
        stream = hub.stream(FULL, None, None, lambda: True)
        assert b"event: hello" in await anext(stream)
        hub.close()
        assert not hub.has_room
        return [piece async for piece in stream]

    assert asyncio.run(watched()) == []
