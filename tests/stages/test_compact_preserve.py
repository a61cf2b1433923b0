"""How near a summary stays to its turns, the ladder it climbs, and what earlier summaries lend it."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from libravdb_memory.compact.ladder import Attempt, Outcome, Step, climb, first_step, judge, next_step
from libravdb_memory.compact.preserve import (
    Preservation,
    accepted,
    asks_a_model,
    preservation,
    progresses,
    tokens_of,
)
from libravdb_memory.compact.prior import Prior, prior_context
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.tokens import EstimatingCounter

SETTINGS = CompactionSettings()
COUNTER = EstimatingCounter()
any_floats = st.floats(width=32)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@given(arrays(np.float32, 3, elements=any_floats), arrays(np.float32, (4, 3), elements=any_floats))
def test_preservation_is_bounded_for_every_input(summary: np.ndarray, turns: np.ndarray) -> None:  # type: ignore[type-arg]
    found = preservation(summary, turns)
    assert -1.0 <= found.align <= 1.0 and 0.0 <= found.cover <= 1.0 and 0.0 <= found.space <= 1.0


def test_align_and_cover_are_reckoned_by_hand() -> None:
    turns = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    found = preservation(np.array([1.0, 0.0]), turns)
    assert found.align == pytest.approx(0.0)  # the centroid is (0, 1/3)
    assert found.cover == pytest.approx(1 / 3)  # one of three; the one that points away counts as none
    assert found.space == pytest.approx(1 / 6)
    towards = preservation(np.array([0.0, 5.0]), turns)
    assert towards.align == pytest.approx(1.0) and towards.cover == pytest.approx(1 / 3)
    assert preservation(np.array([0.0, -2.0]), turns) == Preservation(pytest.approx(-1.0), 0.0)


def test_every_turn_counts_the_same_however_long_its_vector() -> None:
    even = preservation(np.array([1.0, 1.0]), np.array([[9.0, 0.0], [0.0, 0.1]]))
    assert even.align == pytest.approx(1.0) and even.cover == pytest.approx(0.5**0.5)


def test_nothing_to_compare_gives_no_confidence() -> None:
    assert preservation(np.zeros(2), np.ones((2, 2))) == Preservation(0.0, 0.0)
    assert preservation(np.ones(2), np.zeros((0, 2))) == Preservation(0.0, 0.0)
    assert preservation(np.array([np.nan, 1.0]), np.array([[np.inf, 1.0]])) == Preservation(1.0, 1.0)


def test_confidence_is_the_spaces_alone_or_with_a_fifth_of_the_models() -> None:
    found = Preservation(0.7, 0.5)
    assert found.confidence() == pytest.approx(0.6)
    assert found.confidence(1.0) == pytest.approx(0.68)
    assert found.confidence(0.0) == pytest.approx(0.48)
    assert found.confidence(7.0) == pytest.approx(0.68)
    assert Preservation(-1.0, 0.0).confidence() == 0.0


@pytest.mark.parametrize(("align", "taken"), [(0.65, True), (0.6499, False), (1.0, True), (-1.0, False)])
def test_a_models_summary_is_taken_from_the_least_align_on_and_an_extract_always(align: float, taken: bool) -> None:
    assert accepted("abstractive", align, SETTINGS) is taken
    assert accepted("extractive", align, SETTINGS)


def test_a_model_is_asked_when_it_is_ready_and_the_known_scores_are_high_enough() -> None:
    assert asks_a_model([0.6, None, 0.6], True, SETTINGS)
    assert asks_a_model([0.5, 0.7, float("nan")], True, SETTINGS)
    assert not asks_a_model([0.59], True, SETTINGS)
    assert not asks_a_model([0.9], False, SETTINGS)
    assert not asks_a_model([None], True, SETTINGS) and not asks_a_model([], True, SETTINGS)


def test_progress_is_strict_and_priced_by_one_counter() -> None:
    assert tokens_of(["abcd", "efg"], COUNTER) == 2
    assert progresses(["abcd", "efghi"], "abcdefgh", COUNTER)  # 3 tokens, 2 tokens
    assert not progresses(["abcd", "efg"], "abcdefgh", COUNTER)
    assert not progresses(["abcd", "efghi"], "  ", COUNTER)


# ── the ladder ───────────────────────────────────────────────────────────────────────────────────────────────────


def climbing(*outcomes: Outcome) -> Callable[[Step], Attempt]:
    left = iter(outcomes)
    return lambda step: Attempt(step, next(left))


def steps(model: bool, *outcomes: Outcome) -> list[str]:
    return [attempt.step.name for attempt in climb(climbing(*outcomes), SETTINGS, model=model).attempts]


@given(st.booleans(), st.lists(st.sampled_from(OUTCOMES), min_size=5, max_size=5))
def test_the_ladder_only_goes_down_and_ends(model: bool, outcomes: list[Outcome]) -> None:
    made = climb(climbing(*outcomes), SETTINGS, model=model)
    tried = [(attempt.step.rung.tokens, attempt.step.method) for attempt in made.attempts]
    assert len(tried) == len(set(tried)) <= 4
    assert [tokens for tokens, _ in tried] == sorted((tokens for tokens, _ in tried), reverse=True)
    assert made.accepted == ("accepted" in outcomes[: len(tried)])
    assert made.accepted or tried[-1] == (16, "extractive")
    assert bool(made.declined) != made.accepted
    assert model or all(method == "extractive" for _, method in tried)


def test_an_extract_goes_down_rung_by_rung() -> None:
    assert steps(False, "too long", "empty", "failed") == [
        "extractive normal",
        "extractive aggressive",
        "extractive fallback",
    ]


def test_a_model_that_says_too_much_is_asked_for_less_and_then_no_more() -> None:
    assert steps(True, "too long", "too long", "accepted") == [
        "abstractive normal",
        "abstractive aggressive",
        "extractive fallback",
    ]


@pytest.mark.parametrize("outcome", ["off the mark", "failed", "empty"])
def test_a_model_that_fails_gives_way_to_an_extract_on_its_rung(outcome: Outcome) -> None:
    assert steps(True, outcome, "accepted") == ["abstractive normal", "extractive normal"]
    assert steps(True, "too long", outcome, "accepted")[1:] == ["abstractive aggressive", "extractive aggressive"]


def test_a_decline_tells_every_reason() -> None:
    made = climb(lambda step: Attempt(step, "failed", "no reply"), SETTINGS, model=False)
    assert made.declined == (
        "extractive normal: failed (no reply); extractive aggressive: failed (no reply); "
        "extractive fallback: failed (no reply)"
    )


def test_nothing_follows_what_was_accepted() -> None:
    step = first_step(SETTINGS, True)
    assert next_step(Attempt(step, "accepted"), SETTINGS) is None


@pytest.mark.parametrize(
    ("model", "summary", "tokens", "source", "align", "outcome"),
    [
        (False, "a b", 64, 1000, -1.0, "accepted"),
        (False, "a b", 65, 1000, 1.0, "too long"),
        (True, "a b", 128, 1000, 0.65, "accepted"),
        (True, "a b", 129, 1000, 1.0, "too long"),
        (True, "a b", 64, 1000, 0.64, "off the mark"),
        (True, "a b", 64, 64, 1.0, "too long"),
        (True, "a b", 9, 10, 1.0, "too long"),
        (True, "a b", 8, 10, 1.0, "accepted"),
        (False, " …?! ", 2, 1000, 1.0, "empty"),
        (True, "", 0, 1000, 1.0, "empty"),
    ],
)
def test_a_summary_is_judged_by_its_words_its_price_and_its_aim(
    model: bool, summary: str, tokens: int, source: int, align: float, outcome: Outcome
) -> None:
    assert judge(first_step(SETTINGS, model), summary, tokens, source, align, SETTINGS) == outcome


def test_a_summary_as_large_as_its_sources_is_too_long_whatever_the_rung_allows() -> None:
    generous = CompactionSettings(normal_density=1.0)
    step = first_step(generous, True)
    assert judge(step, "a b", 10, 10, 1.0, generous) == "too long"
    assert judge(step, "a b", 9, 10, 1.0, generous) == "accepted"


# ── prior context ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_nearest_earlier_summaries_are_shown_whole_and_in_order() -> None:
    earlier = ["a" * 200, "b" * 184, "c" * 199]
    assert prior_context(earlier, 96, COUNTER).text == f"{'b' * 184}\n{'c' * 199}"  # 384 characters are 96 tokens
    assert prior_context(["b" * 185, "c" * 199], 96, COUNTER) == Prior("c" * 199, 1)
    assert prior_context([], 96, COUNTER) == Prior()
    assert prior_context(["b"], 0, COUNTER) == Prior()


@given(st.lists(st.text(max_size=80), max_size=8), st.integers(1, 60))
def test_prior_context_stays_within_its_limit(earlier: list[str], limit: int) -> None:
    assert COUNTER.count(prior_context(earlier, limit, COUNTER).text) <= limit


def test_a_single_summary_that_is_too_long_is_cut_and_marked() -> None:
    shown = prior_context(["word " * 200], 10, COUNTER).text
    assert shown == "word word word word word word word word…"
