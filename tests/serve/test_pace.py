"""How fast one client may call."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.serve.pace import Pace

PAUSES = st.lists(st.floats(0.0, 0.3), max_size=200)


@given(st.integers(1, 50), PAUSES)
def test_at_no_time_are_more_calls_taken_than_it_allows_and_one_second_besides(rate: int, pauses: list[float]) -> None:
    pace, now, taken = Pace(rate, 0.0), 0.0, [(0.0, 0)]
    for pause in pauses:
        now += pause
        count = 0
        while not pace.wait_s(now):
            pace.called()
            count += 1
        taken.append((now, count))
    for first, (began, _) in enumerate(taken):
        together = 0
        for ended, count in taken[first:]:
            together += count
            assert together <= rate * (ended - began + 1.0) + 1e-6


@given(st.integers(1, 1_000), PAUSES)
def test_who_waits_as_long_as_told_is_taken_from(rate: int, pauses: list[float]) -> None:
    pace, now = Pace(rate, 0.0), 0.0
    for pause in pauses:
        now += pause
        now += pace.wait_s(now) * (1 + 1e-9) + 1e-9
        assert pace.wait_s(now) < 1e-6
        pace.called()


def test_long_calls_count_as_several_and_a_rate_of_nothing_is_no_bound() -> None:
    bound, free = Pace(100, 0.0), Pace(0, 0.0)
    for pace in (bound, free):
        pace.sent(200 << 10)
    assert 1.0 <= bound.wait_s(0.0) <= 1.02
    assert free.wait_s(0.0) == 0.0
