"""How far a sentence is worded like a rule."""

from __future__ import annotations

import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.train_guidance import learned_from

from libravdb_memory.compact.standing import SENTENCE_READ
from libravdb_memory.compact.weighing import (
    ALONE,
    HINT,
    Weights,
    WordWeights,
    can_be_weighed,
    chance,
    features,
    hash_of,
    likeness,
    together,
)
from libravdb_memory.elevating import bundled_weights

WORDS = WordWeights.of({hash_of("w:never"): 4.0, hash_of("w:yesterday"): -4.0})
PLAIN = Weights(WORDS, -1.0, (1.0, -1.0), 0.5, "sha256:none")


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_likeness_lies_between_0_and_1_and_grows_with_the_sum(one: float, two: float) -> None:
    low, high = sorted((one, two))
    assert 0.0 <= likeness(low) <= likeness(high) <= 1.0
    assert likeness(0.0) == 0.5


@given(st.text(max_size=300))
def test_any_text_has_features_and_a_finite_weight(text: str) -> None:
    assert features(text) == features(text)
    assert features(text)
    assert math.isfinite(bundled_weights().of_words(text))


@given(st.text(max_size=50))
def test_what_lies_behind_the_part_that_is_read_weighs_nothing(end: str) -> None:
    read = "we never do this " * (SENTENCE_READ // 17 + 1)
    assert features(read[:SENTENCE_READ] + end) == features(read[:SENTENCE_READ])


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_more_a_turn_says_the_more_is_put_down_to_chance(one: int, other: int) -> None:
    few, many = sorted((one, other))
    assert chance(few) <= chance(many)
    assert chance(4) == 0.0


def test_words_count_for_more_than_the_vector() -> None:
    assert together(1.0, 0.0) > together(0.0, 1.0) > 0.0
    assert together(2.0, 2.0) == pytest.approx(2.0)


def test_words_weigh_for_and_against() -> None:
    told, never, yesterday = (PLAIN.of_words(f"we {word} do that") for word in ("often", "never", "yesterday"))
    assert never > told > yesterday
    assert told == PLAIN.words_bias


def test_forms_of_a_word_share_its_beginning_and_letters_are_words_where_no_spaces_part_them() -> None:
    assert {"b:verw"} <= features("bitte verwenden") & features("er verwendet es")
    assert {"w:不", "w:不 要"} <= features("请不要用表格。")


def test_a_feature_without_a_weight_weighs_nothing_wherever_its_hash_would_lie() -> None:
    weights = WordWeights.of({hash_of("w:never"): 4.0})
    assert weights.total(["w:never", *(f"w:{number}" for number in range(1000))]) == 4.0
    assert weights.total([]) == 0.0
    assert WordWeights.of({}).total(["w:never"]) == 0.0


@pytest.mark.parametrize(
    "sentence", ["비밀번호는 절대 로그에 남기지 마세요.", "絶対にログに残さないでください。", "nie używaj ż"]
)
def test_it_does_not_matter_how_letters_are_composed(sentence: str) -> None:
    taken_apart = unicodedata.normalize("NFD", sentence)
    assert taken_apart != sentence
    assert features(taken_apart) == features(sentence)
    assert can_be_weighed(taken_apart) == can_be_weighed(sentence)


def test_a_curly_apostrophe_weighs_as_a_straight_one() -> None:
    assert features("We don’t do that.") == features("We don't do that.")


def test_a_vector_weighs_by_its_dimensions() -> None:
    assert PLAIN.of_vector([1.0, 0.25]) == pytest.approx(1.25)
    with pytest.raises(ValueError, match="shorter"):
        PLAIN.of_vector([1.0])


@pytest.mark.parametrize(("sentence", "worth"), [("ok", False), ("No mesh.", False), ("We buy local food.", True)])
def test_too_few_words_are_not_weighed(sentence: str, worth: bool) -> None:
    assert can_be_weighed(sentence) == worth


@pytest.mark.parametrize(
    ("sentence", "least", "most"),
    [
        ("With me it's oat milk or nothing.", ALONE, 1.0),
        ("The party went on until ten and everybody was tired.", 0.0, HINT),
        ("We had to restart it twice and then it worked.", 0.0, HINT),
    ],
)
def test_the_weights_that_are_shipped_tell_rules_from_tales(sentence: str, least: float, most: float) -> None:
    assert least <= likeness(bundled_weights().of_words(sentence)) < most


def test_the_weights_that_are_shipped_were_learned_from_what_is_there() -> None:
    from tools.train_guidance import WEIGHTS

    assert str(np.load(WEIGHTS)["learned_from"]) == learned_from(), "run tools/train_guidance.py"


def test_the_weights_that_are_shipped_are_for_the_bundled_model() -> None:
    from libravdb_memory.engines.select import make_embedder

    space = make_embedder().space
    assert bundled_weights().space == space.fingerprint
    assert len(bundled_weights().vector) == space.dimensions
