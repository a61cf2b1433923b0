"""Why an extract stands where a model is configured: counted by reason, and told with the figures that decided."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.compact.ladder import Attempt, climb
from libravdb_memory.compact.passed_over import Extracts, PassedOver, Reason, counted_extracts, unasked
from libravdb_memory.compact.settings import CompactionSettings

SETTINGS = CompactionSettings()
QWEN = "openai-compatible:qwen3:4b"
SETTING = ", which compaction.abstractive_from sets"


def told(*many: PassedOver) -> list[tuple[str, int]]:
    return [(extracts.words(), extracts.count) for extracts in counted_extracts(many)]


def test_scores_are_told_with_the_least_and_the_most_of_them() -> None:
    low = [unasked(QWEN, scores, SETTINGS) for scores in ([0.31, None], [0.4, 0.48], [0.4, 0.2, 0.6])]
    assert told(*low) == [(f"qwen3:4b was not asked, mean gate scores .31 to .44 < .60{SETTING}", 3)]
    assert told(low[0]) == [(f"qwen3:4b was not asked, mean gate score .31 < .60{SETTING}", 1)]


def test_turns_that_nobody_judged_have_a_reason_of_their_own() -> None:
    assert unasked(QWEN, [None, float("nan")], SETTINGS) == PassedOver(QWEN, "no score")
    assert told(unasked(QWEN, [], SETTINGS)) == [("qwen3:4b was not asked, no turn has a gate score", 1)]


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (PassedOver(QWEN, "off the mark", 0.58, 0.65), "the answer of qwen3:4b was too far from the turns, .58 < .65"),
        (PassedOver(QWEN, "off the mark", -0.1, 0.65), "the answer of qwen3:4b was too far from the turns, -.10 < .65"),
        (PassedOver(QWEN, "too long", 210, 128), "the answer of qwen3:4b was too long, 210 > 128 tokens"),
        (PassedOver(QWEN, "not ready", detail="no connection"), "qwen3:4b was not ready: no connection"),
        (PassedOver(QWEN, "failed", detail="500"), "qwen3:4b failed: 500"),
        (PassedOver(QWEN, "failed"), "qwen3:4b failed"),
        (PassedOver("own", "unusable", detail="it is JSON"), "the answer of own cannot be used: it is JSON"),
        (PassedOver(QWEN, "empty"), "the answer of qwen3:4b says nothing"),
        (PassedOver(QWEN, "of extracts"), "qwen3:4b was not asked to fold extracts"),
    ],
)
def test_every_reason_is_told_in_words(why: PassedOver, words: str) -> None:
    assert told(why) == [(words, 1)]


@given(st.sampled_from(get_args(Reason)), st.booleans())
def test_no_reason_is_without_words(reason: Reason, named: bool) -> None:
    assert Extracts(QWEN, reason, 1).words(named=named).strip()


@pytest.mark.parametrize(("figure", "shown"), [(0.5999, ".5999"), (0.599, ".599"), (0.59, ".59"), (0.5951, ".5951")])
def test_a_figure_never_looks_like_the_bound_it_missed(figure: float, shown: str) -> None:
    [(words, _)] = told(PassedOver(QWEN, "low score", figure, 0.6))
    value = words.split("score ")[1].split(" <")[0]
    assert float(value) < 0.6 and shown.startswith(value)


def test_answers_are_counted_by_what_was_wrong_with_them_the_most_frequent_first() -> None:
    json, number = (PassedOver(QWEN, "unusable", detail=detail) for detail in ("it is JSON", "it names a number"))
    found = counted_extracts([json, number, number, PassedOver(QWEN, "too long", 9, 4), number])
    assert [(extracts.reason, extracts.detail, extracts.count) for extracts in found] == [
        ("unusable", "it names a number", 3),
        ("unusable", "it is JSON", 1),
        ("too long", "", 1),
    ]


def test_a_bound_that_differs_is_not_told() -> None:
    [found] = counted_extracts([PassedOver(QWEN, "too long", 30, 20), PassedOver(QWEN, "too long", 40, 25)])
    assert (found.least, found.most, found.bound) == (30, 40, None)
    assert found.words(named=False) == "its answer was too long, 30 to 40 tokens"


def test_of_bounds_that_differ_no_setting_is_named() -> None:
    [found] = counted_extracts([PassedOver(QWEN, "low score", 0.3, 0.6), PassedOver(QWEN, "low score", 0.2, 0.5)])
    assert found.words(named=False) == "it was not asked, mean gate scores .20 to .30"


def test_of_a_models_attempts_the_last_is_why_an_extract_was_taken() -> None:
    outcomes = iter(("too long", "off the mark", "accepted"))
    climbed = climb(lambda step: Attempt(step, next(outcomes)), SETTINGS, model=True)  # type: ignore[arg-type]
    assert climbed.passed_over == climbed.attempts[1]


@pytest.mark.parametrize("model", [True, False])
def test_nothing_is_passed_over_where_the_first_attempt_is_taken(model: bool) -> None:
    assert climb(lambda step: Attempt(step, "accepted"), SETTINGS, model=model).passed_over is None
