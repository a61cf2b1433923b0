"""Background work lets other threads have their turn, and leaves no trace when it ends."""

from __future__ import annotations

import sys

import pytest

from libravdb_memory.nimble import nimble


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
