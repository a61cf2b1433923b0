"""Models in the background share the processors in order, and leave one free while turns arrive."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
import traceback
from collections.abc import Callable

import pytest

from libravdb_memory.engines.places import Places, Work

_LONG_S = 30.0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Watched(Places):
    """Places of which can be told who waits for one."""

    def __init__(self, *how: Callable[[], float]) -> None:
        self._tickets: dict[threading.Thread, object] = {}
        super().__init__(*how)  # type: ignore[arg-type]

    def _may_begin(self, ticket: object, *how: object) -> bool:
        self._tickets[threading.current_thread()] = ticket
        return super()._may_begin(ticket, *how)  # type: ignore[arg-type]

    def keeps(self, thread: threading.Thread) -> bool:
        """Whether it is in the queue, and all that are there have seen how things are now, and gone on waiting: who has
        not is not among those whom the next change will wake."""
        with self._changed:
            everybody_looked = len(self._changed._waiters) == len(self._queue)  # type: ignore[attr-defined]
            return everybody_looked and self._tickets.get(thread) in self._queue


class Runner:
    """A thread in the background that runs a model once, and stays at it until it is let go."""

    def __init__(self, places: Watched, work: Work) -> None:
        self._places, self._work = places, work
        self.running, self.go_on = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self._places.behind(self._work), self._places.one():
            self.running.set()
            self.go_on.wait(_LONG_S)

    def runs(self) -> bool:
        return self.running.wait(_LONG_S)

    def waits(self) -> bool:
        """Whether it does, once that is certain; False when it runs."""
        deadline = time.monotonic() + _LONG_S
        while not self.running.wait(0.001):
            if self._places.keeps(self._thread):
                return True
            assert time.monotonic() < deadline, "it neither runs nor waits"
        return False

    def still_runs(self) -> bool:
        return self._thread.is_alive()

    def end(self) -> None:
        self.go_on.set()
        self._thread.join(_LONG_S)
        assert not self._thread.is_alive()


def in_turn(places: Watched, *works: Work) -> list[Runner]:
    """Each comes after the one before it runs or waits."""
    runners: list[Runner] = []
    for work in works:
        runners.append(Runner(places, work))
        runners[-1].waits()
    return runners


def test_as_many_run_as_there_are_processors_and_the_others_in_the_order_they_came() -> None:
    runners = in_turn(Watched(lambda: 2, Clock()), "later", "later", "later", "later")
    assert [runner.running.is_set() for runner in runners] == [True, True, False, False]
    runners[1].end()
    assert runners[2].runs() and runners[3].waits()
    runners[0].end()
    assert runners[3].runs()
    for runner in runners[2:]:
        runner.end()


def test_while_turns_arrive_one_processor_is_left_to_whoever_stores_them() -> None:
    clock = Clock()
    places = Watched(lambda: 3, clock)
    runners = in_turn(places, "arriving", "later", "later")
    assert [runner.running.is_set() for runner in runners] == [True, True, False]
    runners[0].end()
    assert runners[2].runs()
    clock.now += 1.0
    more = in_turn(places, "later")[0]
    assert more.runs(), "nothing arrived for a second: every processor may be used"
    for runner in (*runners[1:], more):
        runner.end()


def test_when_nothing_arrives_any_more_nobody_waits_for_a_run_to_end() -> None:
    places = Watched(lambda: 2)
    first, arriving, third = in_turn(places, "later", "arriving", "later")
    assert first.runs()
    assert arriving.runs(), "after a moment, whatever the first does"
    arriving.end()
    assert third.runs()
    for runner in (first, third):
        assert runner.still_runs()
        runner.end()


def test_what_arrives_waits_no_longer_than_a_moment_even_for_the_only_processor() -> None:
    places = Watched(lambda: 1)
    busy, waiting, arriving = in_turn(places, "later", "later", "arriving")
    assert arriving.runs()
    assert busy.still_runs() and waiting.waits()
    for runner in (arriving, busy, waiting):
        runner.end()


def test_how_many_processors_there_are_is_asked_each_time() -> None:
    allowed = [1]
    places = Watched(lambda: allowed[0], Clock())
    first, second, third = in_turn(places, "later", "later", "later")
    assert second.waits()
    allowed[0] = 2
    first.end()
    assert second.runs() and third.runs()
    for runner in (second, third):
        assert runner.still_runs()
        runner.end()


def test_with_a_single_processor_one_runs_even_while_turns_arrive() -> None:
    first, second = in_turn(Watched(lambda: 1, Clock()), "arriving", "later")
    assert first.runs() and second.waits()
    first.end()
    assert second.runs()
    second.end()


def test_whoever_answers_somebody_never_waits() -> None:
    places = Watched(lambda: 1, Clock())
    busy = in_turn(places, "arriving")[0]
    assert busy.runs()
    with places.one(), places.one():
        pass
    waiting = in_turn(places, "later")[0]
    assert waiting.waits(), "a place that was not taken was not given back either"
    busy.end()
    assert waiting.runs()
    waiting.end()


def test_whoever_comes_back_at_once_comes_after_those_who_wait() -> None:
    places = Watched(lambda: 1, Clock())
    with places.behind("later"):
        with places.one():
            other = in_turn(places, "later")[0]
            assert other.waits()
            other.go_on.set()
        with places.one():
            assert other.running.is_set()
    other.end()


def test_in_the_midst_of_background_work_something_can_be_done_at_once() -> None:
    places = Watched(lambda: 1, Clock())
    busy = in_turn(places, "later")[0]
    assert busy.runs()
    with places.behind("later"), places.behind(None), places.one():
        assert busy.still_runs()
    busy.end()


def test_a_run_that_fails_leaves_its_place() -> None:
    places = Watched(lambda: 1, Clock())
    for _ in range(3):
        with pytest.raises(ValueError, match="whatever"), places.behind("later"), places.one():
            raise ValueError("whatever")


def test_a_thread_is_in_the_background_until_its_work_there_ends() -> None:
    places = Watched(lambda: 1, Clock())
    with places.behind("later"):
        with places.behind("arriving"), places.one():
            pass
        with places.one():
            other = in_turn(places, "later")[0]
            assert other.waits(), "still in the background after the inner work"
    assert other.runs()
    with places.one():
        assert other.still_runs()
    other.end()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_does_not_wait_for_who_ran_in_its_parent() -> None:
    places = Watched(lambda: 1, Clock())
    runners = in_turn(places, "later", "later")
    assert forked(lambda: in_turn(places, "later")[0].runs())
    assert forked(lambda: _is_busy_again(places) and forked(lambda: in_turn(places, "later")[0].runs()))
    for runner in runners:
        runner.end()


def _is_busy_again(places: Watched) -> bool:
    """One runs and one waits here too, so that a child of this process has something to forget."""
    first, second = in_turn(places, "later", "later")
    return first.runs() and second.waits()


def forked(check: Callable[[], bool]) -> bool:
    """Whether it holds in a child of this process; not if it raises there, nor if it takes too long."""
    over, open_in_child = os.pipe()
    child = os.fork()
    if child == 0:
        holds = False
        try:
            holds = check()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0 if holds else 1)
    os.close(open_in_child)
    try:
        if not select.select([over], [], [], 2 * _LONG_S)[0]:
            os.kill(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        os.close(over)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_fails_in_a_forked_child_fails_here() -> None:
    assert forked(lambda: True)
    assert not forked(lambda: False)
    assert not forked(lambda: bool(1 // 0))


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="threads cannot be bound to processors here")
def test_a_process_that_runs_models_alone_keeps_off_one_processor_while_turns_arrive() -> None:
    allowed = os.sched_getaffinity(0)
    if len(allowed) == 1:
        pytest.skip("there is one processor alone")
    clock, seen = Clock(), []
    places = Places(clock=clock)

    def bound() -> set[int]:
        with places.behind("later"), places.one():
            return os.sched_getaffinity(0)

    def work() -> None:
        places.keep_off_one()
        seen.append(os.sched_getaffinity(0))
        clock.now += 1.0
        seen.append(bound())
        places.arrived()
        seen.append(bound())
        clock.now += 1.0
        seen.append(bound())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(_LONG_S)
    but_one = allowed - {min(allowed)}
    assert seen == [but_one, allowed, but_one, allowed]
    assert os.sched_getaffinity(0) == allowed, "other threads are where they were"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads cannot be bound to processors here")
def test_where_binding_is_refused_places_are_given_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    places = Places(lambda: 2, Clock())
    places._all = frozenset({0, 1})

    def refused(pid: int, mask: object) -> None:
        raise PermissionError("not in this sandbox")

    monkeypatch.setattr(os, "sched_setaffinity", refused)
    for _ in range(5):
        with places.behind("later"), places.one():
            pass
    assert places._taken == 0
