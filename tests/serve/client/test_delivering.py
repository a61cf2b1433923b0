"""Storing and delivering without sockets: whatever fails and whoever dies, each turn arrives once and in order."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.serve.client import verbs
from libravdb_memory.serve.client.core import RefusedError, UnavailableError
from libravdb_memory.serve.client.delivering import BESIDE_A_CALL_S, Delivery, Desk, deliver
from libravdb_memory.serve.client.scripts import Ask, Disk, Job
from libravdb_memory.serve.client.spool import Spool
from libravdb_memory.serve.failures import BUSY, CONFLICT, STOPPING, STORE_FULL
from libravdb_memory.serve.methods import table_of
from libravdb_memory.serve.own import METHODS

FINE, LOST_BEFORE, LOST_AFTER, REFUSED_FOR_NOW = range(4)
FAULTS = st.lists(st.sampled_from([FINE] * 6 + [LOST_BEFORE, LOST_AFTER, REFUSED_FOR_NOW]), max_size=40)


class Killed(BaseException):
    """The client's process dies here."""


class Model:
    """A daemon in a few lines: turns by session and id, in the order in which they came."""

    def __init__(self, faults: list[int]) -> None:
        self._faults = list(faults)
        self.turns: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        self.windows: list[list[str]] = []

    def answer(self, calls: tuple[Ask, ...]) -> list[Any]:
        self.windows.append([str(call.params.get("sessionId")) for call in calls])
        outcomes: list[Any] = []
        for call in calls:
            fault = self._faults.pop(0) if self._faults else FINE
            lost = bool(outcomes) and isinstance(outcomes[-1], UnavailableError)
            if lost or fault == LOST_BEFORE:  # and with it all that was sent after it
                outcomes.append(UnavailableError("lost"))
                continue
            if fault == REFUSED_FOR_NOW:
                outcomes.append(RefusedError(STORE_FULL, "full"))
                continue
            outcome = self._store(call)
            outcomes.append(UnavailableError("lost") if fault == LOST_AFTER else outcome)
        return outcomes

    def _store(self, call: Ask) -> Any:
        said, held = dict(call.params), self.turns[str(call.params["sessionId"])]
        known = held.setdefault(str(said["id"]), said | {"ts": said.get("ts", -1)})
        same = known["text"] == said["text"] and said.get("ts", known["ts"]) == known["ts"]
        return {"ok": True, "id": said["id"]} if same else RefusedError(CONFLICT, "exists with other content")


def drive(job: Job[Any], model: Model, live_for: int = 10_000) -> Any:
    """Run a job, and die before its step of that number."""
    script, sent = job.script, None
    failure: LibraVDBError | None = None
    while True:
        try:
            step = script.send(sent) if failure is None else script.throw(failure)
        except StopIteration as end:
            return end.value
        failure, live_for = None, live_for - 1
        if live_for < 0:
            script.close()
            raise Killed
        try:
            sent = step.work() if isinstance(step, Disk) else model.answer(step.calls)
        except LibraVDBError as error:
            failure = error


@contextmanager
def a_desk(clock: Any = lambda: 0.0) -> Iterator[Desk]:
    with tempfile.TemporaryDirectory() as folder:
        yield Desk(Spool(Path(folder) / "spool"), table_of(METHODS), clock)


def say(desk: Desk, session: str, number: int) -> Job[Any]:
    return verbs.ingest(desk, f"{number}", user="ada", session=session, id=f"t{number}")


@settings(max_examples=150)
@given(FAULTS, st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30)), min_size=1, max_size=25))
def test_whatever_fails_and_whoever_dies_each_turn_arrives_once_and_in_order(
    faults: list[int], story: list[tuple[str, int]]
) -> None:
    """A host says numbered things in sessions; one that dies says again what was not acknowledged."""
    model, count = Model(faults), dict.fromkeys("abc", 0)
    with a_desk() as desk:
        for session, live_for in story:
            try:
                drive(say(desk, session, count[session]), model, live_for)
            except Killed:
                drive(say(desk, session, count[session]), model)
            count[session] += 1
        for _ in range(len(faults) + 1):
            if drive(Job(deliver(desk)), model).finished:
                break
        assert not desk.spool.pending() and desk.spool.set_aside_count() == 0
    for session, said in count.items():
        assert list(model.turns[session]) == [f"t{number}" for number in range(said)]
    assert all(len(set(window)) == len(window) for window in model.windows)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60))
def test_what_waits_of_several_sessions_goes_together_and_what_waits_of_one_goes_one_by_one(story: list[str]) -> None:
    model = Model([LOST_BEFORE])
    with a_desk() as desk:
        drive(say(desk, story[0], 0), model)
        model.answer = lambda calls: [UnavailableError("away") for _ in calls]  # type: ignore[method-assign]
        for number, session in enumerate(story[1:], 1):
            drive(say(desk, session, number), model)
        del model.answer
        model.windows.clear()
        assert drive(Job(deliver(desk)), model) == Delivery(delivered=len(story))
    assert [session for window in model.windows for session in window] == story
    assert all(len(set(window)) == len(window) for window in model.windows)
    for first, second in zip(model.windows, model.windows[1:], strict=False):
        assert second[0] in first  # no window ends before it must


def test_a_call_is_held_up_by_what_waits_for_a_moment_only_and_what_was_done_is_not_done_again() -> None:
    clock = [0.0]
    with a_desk(lambda: clock[0]) as desk:
        away = Model([LOST_BEFORE] * 10)
        for number in range(10):
            drive(say(desk, "s", number), away)
        model = Model([])
        usual = model.answer

        def slow(calls: tuple[Ask, ...]) -> list[Any]:
            clock[0] += 0.4 * BESIDE_A_CALL_S
            return usual(calls)

        model.answer = slow  # type: ignore[method-assign]
        told = drive(Job(deliver(desk, BESIDE_A_CALL_S)), model)
        assert (told.delivered, told.finished) == (3, False) and told.note
        assert drive(Job(deliver(desk)), model) == Delivery(delivered=7)


@pytest.mark.parametrize("code", [BUSY, STOPPING, STORE_FULL])
def test_what_may_pass_is_waited_for_and_what_will_not_is_raised(code: int) -> None:
    model = Model([])
    with a_desk() as desk:
        model.answer = lambda calls: [RefusedError(code, "not now") for _ in calls]  # type: ignore[method-assign]
        stored = drive(say(desk, "s", 0), model)
        assert not stored.delivered and stored.note == "not now" and desk.spool.pending()
    with a_desk() as desk:
        model.answer = lambda calls: [RefusedError(CONFLICT, "never") for _ in calls]  # type: ignore[method-assign]
        with pytest.raises(RefusedError, match="never"):
            drive(say(desk, "s", 0), model)
        assert not desk.spool.pending()


def test_nothing_is_erased_while_what_was_said_before_waits() -> None:
    model = Model([LOST_BEFORE, LOST_BEFORE])
    with a_desk() as desk:
        drive(say(desk, "s", 0), model)
        with pytest.raises(UnavailableError, match="nothing was erased"):
            drive(verbs.forget(desk, user="ada", session="s"), model)
        assert model.windows == [["s"], ["s"]]


def test_while_another_delivers_what_is_said_waits_behind(tmp_path: Path) -> None:
    model = Model([LOST_BEFORE])
    with a_desk() as desk:
        drive(say(desk, "s", 0), model)
        other = desk.spool.claim()
        assert other is not None
        stored = drive(say(desk, "s", 1), model)
        assert not stored.delivered and "another client delivers" in stored.note and not model.turns["s"]
        other.release()
        assert drive(say(desk, "s", 2), model).delivered
    assert list(model.turns["s"]) == ["t0", "t1", "t2"]
