"""The gate's laws: bounds, blending, saturation, novelty; and settings that cannot break them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from libravdb_memory.errors import ConfigError, InvalidInputError
from libravdb_memory.gate.score import MAX_READ, Neighbours, blend, decide, weigh
from libravdb_memory.gate.settings import GateSettings

REFERENCE = GateSettings()
SIGNALS = "g t h r d inputFreq memSaturation p a dtech gconv gtech".split()
FRAGMENTS = [
    "hello",
    "I prefer tea",
    "my son Emil turns 10 on 6 June",
    "We decided to use SQLite",
    "see src/app/main.py",
    "fixed in 4be88d0",
    "https://example.org/a",
    "```python\nx = 1\n```",
    "def run(x: int) -> str:\n    return x",
    "Traceback (most recent call last)",
    "git push origin main",
    "and/or",
    "what is it?",
    "\n",
]

shares = st.floats(0.0, 1.0)
cosines = st.lists(st.floats(-1.0, 1.0), max_size=12)
neighbours = st.builds(Neighbours, cosines, cosines)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200) | st.lists(
    st.sampled_from(FRAGMENTS), max_size=6
).map(" ".join)
triples = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(
    lambda cut: (min(cut) / 20, (max(cut) - min(cut)) / 20, 1.0 - max(cut) / 20)
)


@st.composite
def any_settings(draw: st.DrawFn) -> GateSettings:
    conversational, technical = draw(triples), draw(triples)
    return GateSettings(
        *conversational, *technical, tech_norm=draw(st.floats(0.1, 10.0)), threshold=draw(st.floats(0.0, 1.0))
    )


@given(texts, neighbours, any_settings())
def test_every_signal_lies_between_0_and_1(text: str, near: Neighbours, settings: GateSettings) -> None:
    signals = decide(text, near, settings).signals()
    assert list(signals) == SIGNALS
    assert all(0.0 <= value <= 1.0 for value in signals.values())


@given(texts, neighbours, any_settings())
def test_the_score_lies_between_its_branches_and_is_their_mean_by_technicality(
    text: str, near: Neighbours, settings: GateSettings
) -> None:
    made = decide(text, near, settings)
    low, high = sorted((made.conversational, made.engineering))
    assert low <= made.score <= high
    expected = (1.0 - made.technical) * made.conversational + made.technical * made.engineering
    assert made.score == pytest.approx(expected, abs=1e-12)


@given(texts, neighbours, any_settings())
def test_each_branch_is_the_weighted_sum_of_its_signals(text: str, near: Neighbours, settings: GateSettings) -> None:
    made = decide(text, near, settings)
    assert made.conversational == pytest.approx(
        settings.w1c * made.novelty + settings.w2c * made.repetition + settings.w3c * made.personal, abs=1e-12
    )
    assert made.engineering == pytest.approx(
        settings.w1t * made.specificity + settings.w2t * made.actionability + settings.w3t * made.structure, abs=1e-12
    )


@given(texts, neighbours, any_settings())
def test_a_turn_is_durable_exactly_from_the_threshold_on(text: str, near: Neighbours, settings: GateSettings) -> None:
    made = decide(text, near, settings)
    assert made.durable == (made.score >= settings.threshold and text.strip() != "")
    exactly = decide(text, near, dataclasses.replace(settings, threshold=made.score))
    assert exactly.durable == (text.strip() != "")


@given(shares, shares)
def test_without_technical_signs_the_score_is_the_conversational_branch_and_with_all_the_other(
    conversational: float, engineering: float
) -> None:
    assert blend(0.0, conversational, engineering) == conversational
    assert blend(1.0, conversational, engineering) == engineering


@given(shares, shares)
@example(0.09, 0.03)
def test_branches_that_agree_are_the_score_to_the_last_digit(technical: float, both: float) -> None:
    assert blend(technical, both, both) == both


@given(shares, shares, shares, shares)
def test_the_score_is_continuous_in_technicality(one: float, other: float, left: float, right: float) -> None:
    jump = abs(blend(one, left, right) - blend(other, left, right))
    assert jump <= abs(one - other) * abs(left - right) + 1e-12


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=12))
def test_novelty_is_what_the_nearest_five_leave(durable: list[float]) -> None:
    nearest = sorted(durable)[::-1][:5]
    expected = 1.0 - sum(max(cosine, 0.0) for cosine in nearest) / len(nearest)
    assert decide("x", Neighbours(durable), REFERENCE).novelty == pytest.approx(expected, abs=1e-12)


@given(texts, cosines)
def test_an_empty_memory_makes_everything_new(text: str, turns: list[float]) -> None:
    made = decide(text, Neighbours((), turns), REFERENCE)
    assert made.novelty == 1.0
    assert made.saturation == 0.0


@pytest.mark.parametrize(
    ("turns", "frequency"),
    [
        ([], 0.0),
        ([0.7999999] * 10, 0.0),
        ([0.80], 0.2),
        ([0.80] * 4 + [0.79] * 6, 0.8),
        ([0.80] * 5, 1.0),
        ([0.95] * 10, 1.0),
        ([0.1] * 20 + [0.9] * 2, 0.4),
    ],
)
def test_frequency_counts_near_turns_from_080_and_is_full_at_five(turns: list[float], frequency: float) -> None:
    made = decide("x", Neighbours((), turns), REFERENCE)
    assert made.frequency == pytest.approx(frequency)
    assert made.repetition == pytest.approx(frequency)


@pytest.mark.parametrize(
    ("durable", "saturation"),
    [([0.8499999] * 5, 0.0), ([0.85], 1 / 3), ([0.85, 0.2, 0.85], 2 / 3), ([0.85] * 3, 1.0), ([0.99] * 5, 1.0)],
)
def test_saturation_counts_near_memories_from_085_and_is_full_at_three(durable: list[float], saturation: float) -> None:
    made = decide("x", Neighbours(durable, [0.9] * 10), REFERENCE)
    assert made.saturation == pytest.approx(saturation)
    assert made.repetition == pytest.approx(1.0 - saturation)


@given(texts, st.lists(st.floats(0.85, 1.0), min_size=3, max_size=5), cosines)
def test_what_memory_is_full_of_never_counts_as_repetition(text: str, full: list[float], turns: list[float]) -> None:
    made = decide(text, Neighbours(full, turns), REFERENCE)
    assert made.saturation == 1.0
    assert made.repetition == 0.0


@given(texts, neighbours)
def test_the_order_of_neighbours_does_not_matter_and_the_decision_repeats(text: str, near: Neighbours) -> None:
    turned = Neighbours(tuple(near.durable)[::-1], tuple(near.turns)[::-1])
    assert decide(text, near, REFERENCE) == decide(text, turned, REFERENCE)


@given(texts, cosines, cosines, st.floats(0.0, 2.0))
def test_a_nearer_memory_never_makes_a_turn_newer(
    text: str, durable: list[float], turns: list[float], by: float
) -> None:
    nearer = [cosine + by for cosine in durable]
    before = decide(text, Neighbours(durable, turns), REFERENCE)
    after = decide(text, Neighbours(nearer, turns), REFERENCE)
    assert after.novelty <= before.novelty + 1e-12
    assert after.repetition <= before.repetition


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("side", ["durable", "turns"])
def test_a_similarity_that_is_not_finite_is_refused_by_name(side: str, bad: float) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        Neighbours(**{side: [0.5, bad]})
    assert refusal.value.field == f"neighbours.{side}"


def test_a_similarity_out_of_range_is_clamped() -> None:
    assert Neighbours([1.0000002, -3.0], [7.0]) == Neighbours([1.0, -1.0], [1.0])


def test_the_reference_constants_are_the_defaults() -> None:
    assert dataclasses.astuple(REFERENCE) == (0.35, 0.40, 0.25, 0.40, 0.35, 0.25, 1.5, 0.35)
    assert all(field.metadata["help"] for field in dataclasses.fields(GateSettings))


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"w1c": 0.36}, "gating.w1c, w2c, w3c"),
        ({"w2t": 0.3499}, "gating.w1t, w2t, w3t"),
        ({"w1c": -0.1, "w2c": 0.85}, "gating.w1c"),
        ({"w1c": 1.2, "w2c": -0.45}, "gating.w1c"),
        ({"w3t": math.nan}, "gating.w3t"),
        ({"w3c": "0.25"}, "gating.w3c"),
        ({"w3c": True}, "gating.w3c"),
        ({"threshold": 1.01}, "gating.threshold"),
        ({"threshold": -0.01}, "gating.threshold"),
        ({"tech_norm": 0.0}, "gating.tech_norm"),
        ({"tech_norm": math.inf}, "gating.tech_norm"),
    ],
)
def test_a_setting_that_breaks_a_law_is_refused_by_name(values: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        GateSettings(**values)
    assert refusal.value.key == key


@given(triples)
def test_weights_that_sum_to_1_are_taken_and_keep_a_mean_a_mean(weights: tuple[float, float, float]) -> None:
    settings = GateSettings(*weights, *weights)
    assert weigh(settings.conversational_weights, (1.0, 1.0, 1.0)) == pytest.approx(1.0)
    assert weigh(settings.technical_weights, (1.0, 1.0, 1.0)) <= 1.0


@given(st.text(" \t\n\r\u3000", max_size=20))
@example("")
def test_a_turn_that_says_nothing_is_never_kept(blank: str) -> None:
    assert not decide(blank, Neighbours(), dataclasses.replace(REFERENCE, threshold=0.0)).durable


def test_the_first_turn_of_an_empty_memory_is_kept_by_the_reference_law() -> None:
    made = decide("sounds good", Neighbours(), REFERENCE)
    assert (made.score, made.durable) == (0.35, True)
    assert not decide("sounds good", Neighbours([0.01]), REFERENCE).durable


def test_kept_metadata_has_the_names_clients_read() -> None:
    metadata = decide("I prefer tea", Neighbours([0.3], [0.9]), REFERENCE).metadata()
    names = ["score", *"t h r d p a dtech gconv gtech".split()]
    assert sorted(metadata) == sorted(f"gating_{name}" for name in names)


@given(texts, texts)
def test_what_fired_lies_inside_the_text(text: str, more: str) -> None:
    whole = text + " " + more
    for item in decide(whole, Neighbours(), REFERENCE).fired:
        assert all(0 <= start < end <= len(whole) for start, end in item.spans)


def test_a_huge_turn_is_judged_by_both_its_ends_and_spans_stay_true() -> None:
    text = "My name is Ada. " + "x " * MAX_READ + "\nWe decided to use /etc/app/settings.toml."
    made = decide(text, Neighbours(), REFERENCE)
    seen = {(item.family, item.pattern): text[slice(*item.spans[0])] for item in made.fired}
    assert seen["personal", "identity"].lower() == "my name is"
    assert seen["technical", "path"] == "/etc/app/settings.toml"
    assert seen["actionability", "decision"].startswith("We decided")
