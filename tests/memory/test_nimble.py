"""Background work lets other threads have their turn, and leaves no trace when it ends."""

from __future__ import annotations

import contextvars
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from libravdb_memory.nimble import aside, nimble

PROCESSORS = os.cpu_count() or 1


def test_threads_take_turns_more_often_while_work_runs_and_as_before_afterwards() -> None:
    before = sys.getswitchinterval()
    with nimble():
        assert sys.getswitchinterval() <= before / 10
        with pytest.raises(ValueError, match="whatever"), nimble():
            raise ValueError("whatever")
        assert sys.getswitchinterval() <= before / 10
    assert sys.getswitchinterval() == before


def test_a_shorter_interval_of_the_host_is_kept() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with nimble():
            assert sys.getswitchinterval() == pytest.approx(1e-5)
        assert sys.getswitchinterval() == pytest.approx(1e-5)
    finally:
        sys.setswitchinterval(before)


def test_work_aside_answers_and_raises_as_if_it_were_done_here() -> None:
    said = contextvars.ContextVar("said", default="nothing")
    said.set("here")
    assert aside(said.get, lambda: None) == "here"
    with pytest.raises(ValueError, match="whatever"):
        aside(lambda: int("whatever"), lambda: None)


def test_where_no_thread_can_be_had_work_is_done_where_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert aside(threading.get_ident, lambda: None) == threading.get_ident()
    given_up = list[bool]()
    with pytest.raises(ValueError, match="whatever") as raised:
        aside(lambda: int("whatever"), lambda: given_up.append(True))
    assert raised.value.__context__ is None


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def unknown() -> tuple[float, float, float]:
    raise OSError("nobody knows")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no niceness of its own")
def test_work_aside_goes_behind_others_and_leaves_them_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (PROCESSORS - 0.5, 99.0, 99.0))
    before = niceness()
    assert aside(niceness, lambda: None) == max(before, 10)
    assert niceness() == before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a thread has no niceness of its own")
@pytest.mark.parametrize("load", [lambda: (float(PROCESSORS), 0.0, 0.0), unknown])
def test_where_every_processor_is_wanted_already_it_does_not_fall_behind_with_a_lock_in_its_hands(
    load: Callable[[], tuple[float, float, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", load)
    assert aside(niceness, lambda: None) == niceness()


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Whoever started the tests may have had interrupts ignored; one that comes inside a callback of the collector of
    garbage, such as Hypothesis has, is swallowed by Python."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
    yield
    gc.enable()
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("unnoticed", [False, True])
def test_who_is_interrupted_waits_until_the_work_has_given_up(unnoticed: bool) -> None:
    """An interrupt that another thread takes wakes nobody, as does one that comes just before the wait begins."""
    given_up, told = threading.Event(), list[bool]()
    waiting = threading.get_ident()

    def work() -> None:
        signal.pthread_kill(threading.get_ident() if unnoticed else waiting, signal.SIGINT)
        told.append(given_up.wait(30))

    with pytest.raises(KeyboardInterrupt):
        aside(work, given_up.set)
    assert told == [True]


@pytest.mark.usefixtures("interruptible")
def test_who_is_interrupted_before_the_work_began_leaves_nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    start, begun = threading.Thread.start, list[str]()

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        aside(lambda: begun.append("work"), lambda: None)
    for thread in threading.enumerate():
        if thread.name == "libravdb-aside":
            thread.join(30)
    assert begun == []
