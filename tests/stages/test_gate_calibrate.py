"""Calibration is the best monotone curve, exactly; regret feeds it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.gate.calibrate import NEVER, Label, fit, isotonic, quality
from libravdb_memory.gate.regret import Outcome, Regret, labels_of, tally

grid = st.integers(0, 6).map(lambda n: n / 8)
labels = st.builds(Label, grid, st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.5, 1.0, 3.0]))
sets = st.lists(labels, min_size=1, max_size=14)


def loss(known: list[Label], curve: dict[float, Fraction]) -> Fraction:
    return sum(
        (Fraction(label.weight) * (Fraction(label.useful) - curve[label.score]) ** 2 for label in known), Fraction(0)
    )


def best_monotone_loss(known: list[Label]) -> Fraction:
    """Brute force: of all ways to cut the scores into runs with rising means, the least loss."""
    scores = sorted({label.score for label in known})
    losses: list[Fraction] = []
    for cuts in product([False, True], repeat=len(scores) - 1):
        runs: list[list[float]] = [[scores[0]]]
        for score, cut in zip(scores[1:], cuts, strict=True):
            if cut:
                runs.append([])
            runs[-1].append(score)
        means = [mean_of([label for label in known if label.score in run]) for run in runs]
        if means == sorted(means):
            curve = {score: mean for run, mean in zip(runs, means, strict=True) for score in run}
            losses.append(loss(known, curve))
    return min(losses)


def mean_of(known: list[Label]) -> Fraction:
    weight = sum((Fraction(label.weight) for label in known), Fraction(0))
    return sum((Fraction(label.weight) * Fraction(label.useful) for label in known), Fraction(0)) / weight


@given(sets)
def test_no_monotone_step_function_is_nearer_to_the_labels(known: list[Label]) -> None:
    curve = fit(known)
    fitted = {label.score: Fraction(curve.usefulness(label.score)) for label in known}
    assert float(loss(known, fitted)) == pytest.approx(float(best_monotone_loss(known)), abs=1e-12)


@given(sets)
def test_the_curve_rises_strictly_from_step_to_step_within_0_and_1(known: list[Label]) -> None:
    steps = isotonic(known)
    assert all(left.start < right.start for left, right in pairwise(steps))
    assert all(left.useful < right.useful for left, right in pairwise(steps))
    assert all(0.0 <= step.useful <= 1.0 for step in steps)
    assert steps[0].start == min(label.score for label in known)


@given(sets)
def test_the_curve_keeps_the_mean_and_the_weight_of_the_labels(known: list[Label]) -> None:
    steps = isotonic(known)
    assert math.fsum(step.weight for step in steps) == pytest.approx(sum(label.weight for label in known))
    assert math.fsum(step.weight * step.useful for step in steps) == pytest.approx(
        sum(label.weight * label.useful for label in known)
    )


@given(sets.flatmap(lambda known: st.tuples(st.just(known), st.permutations(known))))
def test_the_order_of_labels_does_not_matter(pair: tuple[list[Label], list[Label]]) -> None:
    assert fit(pair[0]).steps == fit(pair[1]).steps
    assert fit(pair[0]).threshold == fit(pair[1]).threshold


@given(sets)
def test_a_label_of_weight_three_is_three_labels(known: list[Label]) -> None:
    tripled = [Label(label.score, label.useful, label.weight * 3) for label in known]
    thrice = isotonic(known * 3)
    assert isotonic(tripled) == thrice


def test_labels_already_rising_are_their_own_curve() -> None:
    steps = isotonic([Label(0.1, 0.0), Label(0.2, 0.25), Label(0.3, 1.0)])
    assert [(step.start, step.useful) for step in steps] == [(0.1, 0.0), (0.2, 0.25), (0.3, 1.0)]


def test_equal_scores_are_one_point_and_violators_are_pooled() -> None:
    known = [Label(0.2, 0.0), Label(0.2, 1.0), Label(0.4, 0.25), Label(0.6, 1.0)]
    steps = isotonic(known)
    assert [(step.start, step.weight) for step in steps] == [(0.2, 3.0), (0.6, 1.0)]
    assert [step.useful for step in steps] == [pytest.approx(1.25 / 3), 1.0]


@given(sets, st.sampled_from([0.25, 0.5, 0.75]))
def test_the_threshold_is_the_lowest_score_whose_curve_reaches_the_target(known: list[Label], target: float) -> None:
    curve = fit(known, target=target)
    reached = [label.score for label in known if curve.usefulness(label.score) >= target]
    assert curve.threshold == (min(reached) if reached else NEVER)


def test_a_curve_exactly_at_the_target_counts_as_reaching_it() -> None:
    assert fit([Label(0.1, 0.0), Label(0.3, 0.5), Label(0.7, 1.0)]).threshold == 0.3


def test_between_and_outside_the_steps_the_curve_is_flat() -> None:
    curve = fit([Label(0.2, 0.0), Label(0.4, 1.0)])
    assert [curve.usefulness(score) for score in (0.0, 0.2, 0.39, 0.4, 1.0)] == [0.0, 0.0, 0.0, 1.0, 1.0]


def test_precision_and_recall_are_shares_of_what_is_kept_and_what_is_useful() -> None:
    known = [Label(0.9, 1.0), Label(0.35, 0.0), Label(0.5, 1.0, 2.0), Label(0.34, 1.0)]
    found = fit(known).at_reference
    assert (found.threshold, found.precision, found.recall) == (0.35, pytest.approx(3 / 4), pytest.approx(3 / 4))
    assert quality(known, 0.95).precision is None
    assert quality([Label(0.5, 0.0)], 0.1).recall is None


def test_nothing_useful_proposes_to_keep_only_certainties() -> None:
    assert fit([Label(0.2, 0.0), Label(0.8, 0.25)]).threshold == NEVER


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ((1.01, 1.0, 1.0), "score"),
        ((-0.01, 1.0, 1.0), "score"),
        ((math.nan, 1.0, 1.0), "score"),
        ((0.5, 1.5, 1.0), "useful"),
        ((0.5, math.nan, 1.0), "useful"),
        ((0.5, 1.0, 0.0), "weight"),
        ((0.5, 1.0, math.inf), "weight"),
        ((0.5, 1.0, math.nan), "weight"),
    ],
)
def test_a_bad_label_is_refused_by_the_name_of_its_field(values: tuple[float, float, float], field: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        Label(*values)
    assert refusal.value.field == field


def test_no_labels_and_an_impossible_target_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="labels"):
        fit([])
    with pytest.raises(InvalidInputError, match="target"):
        fit([Label(0.5, 1.0)], target=1.5)


outcomes = st.lists(st.builds(Outcome, grid, st.booleans(), st.integers(0, 3)), max_size=20)


@given(outcomes)
def test_regret_counts_turns_and_every_turn_gives_one_label(seen: list[Outcome]) -> None:
    found = tally(seen)
    assert found.refused + found.kept == len(seen) == len(labels_of(seen))
    assert found.regretted == sum(not outcome.durable and outcome.hits > 0 for outcome in seen)
    assert found.used == sum(outcome.durable and outcome.hits > 0 for outcome in seen)
    assert 0.0 <= found.rate <= 1.0
    assert sum(label.useful for label in labels_of(seen)) == found.regretted + found.used


def test_the_rate_of_regret_is_a_share_of_the_refused() -> None:
    assert tally([Outcome(0.2, False, 3), Outcome(0.1, False), Outcome(0.6, True, 1)]) == Regret(2, 1, 1, 1)
    assert Regret(4, 1, 0, 0).rate == 0.25
    assert Regret(0, 0, 3, 1).rate == 0.0
