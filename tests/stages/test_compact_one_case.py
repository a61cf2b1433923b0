"""What is worded like a rule and speaks of the moment alone is told from rules."""

from __future__ import annotations

import pytest
from tests.growth import grows_with_length
from tests.guidance.turns_of_their_own import shards_of

from libravdb_memory.compact.one_case import speaks_of_one_case

OF_ONE_CASE = [
    "Give the class a clearer name.",
    "Please make the header smaller.",
    "And give this endpoint a better path!",
    "I'm stuck on the third exercise, the units don't match the table.",
    "I’m totally lost in the settings, the labels aren't where the manual puts them.",
]
OF_MANY = [
    "Give the answer a clearer title.",
    "Give every class a clearer name.",
    "Always make the header smaller than the title.",
    "Make the explanations simpler.",
    "When I'm stuck on the exercise, give me a hint only.",
    "I'm lost in the settings, so please name every menu.",
    "I'm confused by the metric system, don't use it.",
    "I'm lost in the old units, from now on metric only.",
    "Give variables longer names.",
]


@pytest.mark.parametrize("text", OF_ONE_CASE)
def test_what_betters_one_thing_or_tells_where_somebody_is_stuck_is_of_one_case(text: str) -> None:
    assert speaks_of_one_case(text)


@pytest.mark.parametrize("text", OF_MANY)
def test_what_is_of_kinds_lasts_or_asks_for_something_is_not(text: str) -> None:
    assert not speaks_of_one_case(text)


def test_nothing_of_one_case_is_kept_for_its_wording_alone() -> None:
    worded = [*OF_ONE_CASE, "Give the variable a better name."]
    assert not shards_of(worded)


@pytest.mark.parametrize("unit", ["give the a ", "i'm stuck on the ", "please ", "make the a more "])
def test_it_is_told_in_time_that_grows_with_the_text(unit: str) -> None:
    assert grows_with_length(speaks_of_one_case, unit, 2_000)
