"""The measures of a ranking: examples worked out by hand, and what holds for every ranking."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.bench.retrieval.metrics import (
    Found,
    means,
    measures,
    ndcg,
    newer_first,
    recall,
    recall_in_tokens,
    reciprocal_rank,
)

IDS = [f"t{number}" for number in range(30)]
rankings = st.permutations(IDS).flatmap(lambda ids: st.integers(0, 30).map(lambda size: ids[:size]))
golds = st.sets(st.sampled_from(IDS), min_size=1, max_size=12)


def found(ids: list[str], tokens: int = 100) -> list[Found]:
    """Turns of equal price, three of each session by their number."""
    return [Found(name, f"s{int(name[1:]) // 3}", tokens) for name in ids]


def sessions(ids: set[str]) -> set[str]:
    return {f"s{int(name[1:]) // 3}" for name in ids}


def test_the_measures_of_a_small_ranking_are_those_worked_out_by_hand() -> None:
    ranking = found(["t9", "t0", "t6", "t1", "t3"], tokens=300)
    values = measures(ranking, {"t0", "t3", "t20"}, {"s0", "s1", "s6"}, (1, 2, 5))
    assert values["R@1"] == 0.0
    assert values["R@2"] == pytest.approx(1 / 3)
    assert values["R@5"] == pytest.approx(2 / 3)
    assert values["all@10"] == 0.0
    gained, ideal = 1 / math.log2(3) + 1 / math.log2(6), 1 + 1 / math.log2(3) + 1 / 2
    assert values["NDCG@10"] == pytest.approx(gained / ideal)
    assert values["MRR"] == 0.5
    assert values["tok@1000"] == pytest.approx(1 / 3), "the fourth turn crosses 1,000 tokens"
    assert values["sR@5"] == pytest.approx(2 / 3), "sessions in order: s3, s0, s2, s1"
    assert "newer_first" not in values


def test_a_session_ranks_by_its_best_turn() -> None:
    ranking = [Found(f"a{number}", "long", 1) for number in range(9)] + [Found("b", "short", 1)]
    values = measures(ranking, {"b"}, {"short"}, (5,))
    assert (values["R@5"], values["sR@5"]) == (0.0, 1.0)


def test_the_turn_that_ends_on_the_limit_counts_and_the_one_that_crosses_it_does_not() -> None:
    ranking = [Found("a", "s", 600), Found("b", "s", 400), Found("c", "s", 1)]
    assert recall_in_tokens(ranking, {"a", "b", "c"}, 1_000) == pytest.approx(2 / 3)
    assert recall_in_tokens([Found("big", "s", 1_001), Found("a", "s", 1)], {"a"}, 1_000) == 0.0


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        (["new", "old"], True),
        (["old", "new"], False),
        (["x", "new", "y", "old", "new2"], True),
        (["new"], True),
        (["old"], False),
        (["x"], False),
        ([], False),
    ],
)
def test_the_newer_turn_is_first_when_it_was_found_and_no_corrected_one_stands_before_it(
    ranking: list[str], expected: bool
) -> None:
    assert newer_first(ranking, {"new", "new2"}, {"old", "older"}) is expected


def test_a_corrected_fact_counts_as_found_only_with_all_its_versions_in_the_best_twenty() -> None:
    ids = IDS[:25]
    for old, both in (("t19", 1.0), ("t20", 0.0)):
        values = measures(found(ids), {"t0"}, {"s0"}, (5,), {old})
        assert (values["newer_first"], values["both_found"]) == (1.0, both)


@given(rankings, golds)
def test_every_measure_lies_between_nothing_and_everything(ranking: list[str], gold: set[str]) -> None:
    values = measures(found(ranking), gold, sessions(gold), range(1, 31), {"none of them"})
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in values.values())


@given(rankings, golds)
def test_recall_does_not_fall_with_depth(ranking: list[str], gold: set[str]) -> None:
    by_depth = [recall(ranking, gold, depth) for depth in range(31)]
    by_tokens = [recall_in_tokens(found(ranking), gold, limit) for limit in range(0, 3_100, 50)]
    assert by_depth == sorted(by_depth) and by_tokens == sorted(by_tokens)
    assert by_tokens[-1] == by_depth[-1]


@given(st.permutations(IDS), st.integers(1, 10))
def test_a_ranking_that_begins_with_the_gold_turns_is_perfect(ranking: list[str], size: int) -> None:
    gold = set(ranking[:size])
    values = measures(found(ranking, tokens=10), gold, sessions(gold), (10,))
    perfect = ("R@10", "all@10", "NDCG@10", "MRR", "tok@1000")
    assert [values[name] for name in perfect] == pytest.approx([1.0] * len(perfect))


@given(rankings, golds, st.integers(0, 28))
def test_moving_a_gold_turn_up_never_lowers_its_worth(ranking: list[str], gold: set[str], place: int) -> None:
    if place + 1 >= len(ranking) or ranking[place + 1] not in gold or ranking[place] in gold:
        return
    better = [*ranking[:place], ranking[place + 1], ranking[place], *ranking[place + 2 :]]
    assert ndcg(better, gold, 10) >= ndcg(ranking, gold, 10)
    assert reciprocal_rank(better, gold) >= reciprocal_rank(ranking, gold)


@given(rankings, golds)
def test_all_gold_is_found_exactly_when_recall_is_whole(ranking: list[str], gold: set[str]) -> None:
    values = measures(found(ranking), gold, sessions(gold), (10,))
    assert (values["all@10"] == 1.0) == (values["R@10"] == 1.0)


def test_an_average_is_over_the_questions_that_have_the_measure() -> None:
    assert means([{"a": 1.0, "b": 0.5}, {"a": 0.0}]) == {"a": 0.5, "b": 0.5}
    assert means([]) == {}
