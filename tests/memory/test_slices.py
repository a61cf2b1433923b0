"""How long threads want a processor, as the system says it: short while somebody waits, long for what takes long."""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
import threading
from queue import SimpleQueue

import pytest

from libravdb_memory import slices
from libravdb_memory.nimble import nimble, prompt
from libravdb_memory.slices import LONG_S, SHORT_S, USUAL_S, ask_for
from libravdb_memory.store.sqlite.background import Background

READ = """
import ctypes, os, struct

def slice_s():
    raw = ctypes.create_string_buffer(56)
    number = {"x86_64": 315}.get(os.uname().machine, 275)
    assert ctypes.CDLL(None).syscall(number, 0, raw, 56, 0) == 0
    return struct.unpack("=IIQiIQQQII", raw.raw)[5] / 1e9
"""


def has_slices() -> bool:
    """Whether the system keeps what it is asked for, which older ones ignore."""
    if sys.platform != "linux" or os.uname().machine not in ("x86_64", "aarch64", "riscv64"):
        return False
    code = READ + "from libravdb_memory.slices import ask_for\nask_for(.05)\nprint(slice_s())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return told.stdout.strip() == "0.05"


def slice_s() -> float:
    raw = ctypes.create_string_buffer(56)
    number = 315 if os.uname().machine == "x86_64" else 275
    assert ctypes.CDLL(None).syscall(number, 0, raw, 56, 0) == 0
    told: int = struct.unpack("=IIQiIQQQII", raw.raw)[5]
    return told / 1e9


with_slices = pytest.mark.skipif(not has_slices(), reason="no such hint here")


@with_slices
def test_a_thread_gets_the_slices_it_asks_for_at_the_niceness_it_has() -> None:
    told: list[float] = []

    def work() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 7)
        told.append(slice_s())
        for seconds in (SHORT_S, LONG_S, USUAL_S):
            assert ask_for(seconds)
            told.append(slice_s())
        told.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    before = slice_s()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert told == [told[0], SHORT_S, LONG_S, told[0], 7]
    assert slice_s() == before


@with_slices
def test_who_is_prompt_has_short_slices_only_meanwhile_and_only_beside_work() -> None:
    usual = slice_s()
    with prompt():
        assert slice_s() == usual
    with nimble():
        with pytest.raises(ValueError, match="whatever"), prompt():
            assert slice_s() == SHORT_S
            raise ValueError("whatever")
        assert slice_s() == usual


@with_slices
def test_a_process_that_goes_behind_others_keeps_a_processor_from_nobody() -> None:
    code = READ + (
        "import threading\nfrom libravdb_memory.nimble import go_behind_others\ngo_behind_others()\n"
        "thread = threading.Thread(target=lambda: print(slice_s(), os.nice(0)))\nthread.start()\nthread.join()"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == [str(LONG_S), str(max(os.nice(0), 10))]


def test_where_there_is_no_such_hint_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "_SCHED_SETATTR", {})
    assert not ask_for(SHORT_S)
    with nimble(), prompt():
        pass


@pytest.mark.parametrize("error", [OSError(38, "not implemented"), PermissionError(1, "refused"), AttributeError()])
def test_where_it_is_refused_nothing_happens(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refuse(_: int) -> int:
        raise error

    monkeypatch.setattr(os, "sched_getscheduler", refuse)
    assert not ask_for(SHORT_S)
    with nimble(), prompt():
        pass


@with_slices
def test_a_thread_of_the_store_that_somebody_prompt_needed_first_is_in_no_hurry() -> None:
    usual, told = slice_s(), SimpleQueue[float]()
    background = Background("test")
    with nimble(), prompt():
        assert background.submit(lambda: told.put(slice_s()))
    assert told.get(timeout=30) == usual
    background.close()


@pytest.mark.skipif(sys.platform != "linux", reason="there are no such classes")
def test_what_is_scheduled_otherwise_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getscheduler", lambda _: os.SCHED_IDLE)
    assert not ask_for(SHORT_S)
