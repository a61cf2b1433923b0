"""Time in questions and turns."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_with_length, is_done_within, seconds

from libravdb_memory.retrieve.dates import anchor_density, mentions, tells_time
from libravdb_memory.retrieve.temporal import ACTIVE_FROM, LEAST_PICK, Pickable, event_slots, select, temporal_strength

WEDNESDAY = int(datetime(2026, 3, 18, 12, tzinfo=UTC).timestamp() * 1000)

unit = st.floats(0, 1)
slots = st.integers(0, 4).flatmap(
    lambda count: st.lists(st.builds(Pickable, unit, unit, st.tuples(*[st.floats(-1, 1)] * count)), max_size=12)
)


@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("last Friday", "2026-03-13", "2026-03-13"),
        ("last Wednesday", "2026-03-11", "2026-03-11"),
        ("this Friday", "2026-03-20", "2026-03-20"),
        ("this Wednesday", "2026-03-18", "2026-03-18"),
        ("next Wednesday", "2026-03-25", "2026-03-25"),
        ("next Monday", "2026-03-23", "2026-03-23"),
        ("yesterday", "2026-03-17", "2026-03-17"),
        ("the day before yesterday", "2026-03-16", "2026-03-16"),
        ("tomorrow", "2026-03-19", "2026-03-19"),
        ("the day after tomorrow", "2026-03-20", "2026-03-20"),
        ("last night", "2026-03-17", "2026-03-17"),
        ("this morning", "2026-03-18", "2026-03-18"),
        ("3 days ago", "2026-03-15", "2026-03-15"),
        ("two weeks ago", "2026-03-01", "2026-03-07"),
        ("a couple of months ago", "2026-01-01", "2026-01-31"),
        ("a few days ago", "2026-03-15", "2026-03-15"),
        ("a year ago", "2025-01-01", "2025-12-31"),
        ("five hours ago", "2026-03-18", "2026-03-18"),
        ("in 10 days", "2026-03-28", "2026-03-28"),
        ("in a fortnight", "2026-03-29", "2026-04-04"),
        ("last week", "2026-03-09", "2026-03-15"),
        ("this week", "2026-03-16", "2026-03-22"),
        ("last weekend", "2026-03-14", "2026-03-15"),
        ("next month", "2026-04-01", "2026-04-30"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("the past month", "2026-02-15", "2026-03-18"),
        ("May 5th", "2026-05-05", "2026-05-05"),
        ("on 12 November", "2025-11-12", "2025-11-12"),
        ("Dec. 24, 2023", "2023-12-24", "2023-12-24"),
        ("5th of May 2023", "2023-05-05", "2023-05-05"),
        ("January 2025", "2025-01-01", "2025-01-31"),
        ("in June", "2026-06-01", "2026-06-30"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("last December", "2025-12-01", "2025-12-31"),
        ("since October", "2025-10-01", "2025-10-31"),
        ("next February", "2027-02-01", "2027-02-28"),
        ("2024-02-29", "2024-02-29", "2024-02-29"),
        ("13/02/2024", "2024-02-13", "2024-02-13"),
        ("02/13/2024", "2024-02-13", "2024-02-13"),
        ("29 February", None, None),
        ("since 1999", "1999-01-01", "1999-12-31"),
        ("02/03/2024", None, None),
        ("31 February 2024", None, None),
        ("on Tuesday", None, None),
        ("at 17:45", None, None),
        ("for three weeks", None, None),
    ],
)
def test_an_expression_means_days_around_the_moment_it_was_said(
    words: str, first: str | None, last: str | None
) -> None:
    (mention,) = mentions(f"well, {words}, I think", WEDNESDAY)
    assert mention.text in words
    if words == "29 February":  # 2024 and 2028 are leap years, those around 2026 are not
        assert mention.first is None
        return
    assert (mention.first, mention.last) == tuple(day and date.fromisoformat(day) for day in (first, last))


@pytest.mark.parametrize(
    "words", ["I may go", "march on", "a second chance", "the 3 musketeers", "version 3.11", "10/4", "he ran 5 miles"]
)
def test_ordinary_words_and_numbers_are_not_dates(words: str) -> None:
    assert mentions(words, WEDNESDAY) == ()


def test_a_relative_expression_without_a_moment_stays_unresolved() -> None:
    (mention,) = mentions("last Friday")
    assert (mention.text, mention.first) == ("last Friday", None)


@given(
    st.text()
    | st.lists(st.sampled_from(["last", "may", "5", "in a", "week", "ago", "2024", "friday", "/", "-"])).map(" ".join),
    st.integers(0, 10**13),
)
def test_any_text_is_scanned_in_order_without_error(text: str, moment: int) -> None:
    found = mentions(text, moment)
    assert all(text[mention.start : mention.end] == mention.text for mention in found)
    assert all(one.end <= two.start for one, two in pairwise(found))
    assert 0.0 <= anchor_density(text) <= 1.0


@pytest.mark.parametrize(
    ("text", "density"),
    [
        ("", 0.0),
        ("yesterday", 1 / 3),
        ("yesterday, Yesterday", 1 / 3),
        ("May 5th and last week", 2 / 3),
        ("5 May, 6 May, 7 May, 8 May", 1.0),
    ],
)
def test_the_density_counts_distinct_expressions_up_to_three(text: str, density: float) -> None:
    assert anchor_density(text) == pytest.approx(density)


@pytest.mark.parametrize("shape", ["in a ", "1 ", "the past ", "may "])
def test_scanning_time_grows_with_the_length_alone(shape: str) -> None:
    assert grows_with_length(anchor_density, shape, 10_000)


@pytest.mark.parametrize(
    ("question", "strength"),
    [
        ("How many days passed?", 1.0 / 1.5),
        ("how long did it take?", 0.9 / 1.5),
        ("what came before the storm?", 0.8 / 1.5),
        ("what did we do first?", 0.8 / 1.5),
        ("what changed since May?", 0.7 / 1.5),
        ("when did we meet?", 0.7 / 1.5),
        ("how long between the first and the second visit?", 1.0),
        ("which database did we choose?", 0.0),
        ("the sincerest beforehand", 0.0),
    ],
)
def test_the_strength_of_a_temporal_question_is_its_patterns_weights(question: str, strength: float) -> None:
    assert temporal_strength(question) == pytest.approx(strength)


def test_event_slots_take_time_proportional_to_the_length_of_a_prompt_full_of_dates() -> None:
    assert grows_with_length(lambda dates: event_slots("How long before 5pm? " + dates), "at 3 pm, ", 125_000)


@given(st.text() | st.lists(st.sampled_from(["5pm", "yesterday", "3 May", "in 2023", "on", "may", " "])).map(" ".join))
def test_a_text_tells_a_time_when_it_mentions_one(text: str) -> None:
    found = mentions(text)
    assert tells_time(text) is bool(found)
    assert anchor_density(text) == min(len({" ".join(each.text.lower().split()) for each in found}) / 3, 1.0)


def test_a_long_log_is_read_no_further_than_its_third_date() -> None:
    log = "yesterday, today and tomorrow " + "at 02:13 the import died " * 40_000
    assert tells_time(log) and anchor_density(log) == 1.0
    whole = seconds(lambda: mentions(log))
    assert is_done_within(whole / 20, lambda: (tells_time(log), anchor_density(log)))


def test_event_slots_are_the_noun_phrases_in_order_and_at_most_four() -> None:
    assert event_slots("How many days between my visit to the Louvre and the concert in Lyon?") == (
        "visit",
        "Louvre",
        "concert",
        "Lyon",
    )
    assert event_slots("Since the flaky-test fix on 5 May 2023, before release 2.1?") == (
        "flaky-test fix",
        "release 2.1",
    )
    assert event_slots("when did it happen?") == ()
    assert len(event_slots("red, green, blue, white, black")) == 4


@given(slots, st.floats(0, 0.299), st.integers(0, 8))
def test_below_the_activation_the_ranking_is_untouched(candidates: list[Pickable], strength: float, k_cov: int) -> None:
    picks = select(candidates, strength, k_cov)
    assert [(pick.index, pick.score) for pick in picks] == [
        (index, item.score) for index, item in enumerate(candidates)
    ]


@given(slots, st.floats(ACTIVE_FROM, 1), st.integers(0, 8))
def test_selection_is_a_bounded_permutation(candidates: list[Pickable], strength: float, k_cov: int) -> None:
    picks = select(candidates, strength, k_cov)
    assert sorted(pick.index for pick in picks) == list(range(len(candidates)))
    assert all(0.0 <= pick.score <= 1.0 and 0.0 <= pick.gain <= 1.0 for pick in picks)
    rest = [pick.index for pick in picks[k_cov:]]
    assert rest == sorted(rest)
    assert all(pick.score >= LEAST_PICK for pick in picks[:k_cov] if pick.gain)


def test_the_second_event_is_preferred_to_more_of_the_first() -> None:
    candidates = [
        Pickable(0.90, 0.3, (0.9, 0.1)),
        Pickable(0.80, 0.3, (0.9, 0.1)),
        Pickable(0.75, 0.3, (0.1, 0.9)),
    ]
    assert [pick.index for pick in select(candidates, 1.0, 3)] == [0, 2, 1]
    assert [pick.index for pick in select(candidates, 0.0, 3)] == [0, 1, 2]


def test_the_projected_score_has_the_stated_value() -> None:
    (pick,) = select([Pickable(0.5, 1 / 3, (0.5, 0.49))], 0.5, 1)
    assert pick.gain == 0.5
    assert pick.score == pytest.approx(0.5 * 0.5 + 0.5 * (0.6 * 0.5 + 0.2 / 3 + 0.2 * 0.5))
