"""Ranking laws: bounded, monotone, and never able to erase a strong match."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.retrieve.rank import MODULATION, Evidence, Profile, quality, score

PROFILES: list[Profile] = ["calibrated", "reference", "hybrid"]
wild = st.floats(allow_nan=True, allow_infinity=True)
unit = st.floats(0, 1)
evidence = st.builds(
    Evidence,
    relevance=unit,
    similarity=st.floats(-1, 1),
    keywords=unit,
    age_s=st.floats(0, 1e9),
    uses=st.integers(0, 50),
    most_uses=st.just(50),
    authority=unit,
    decay_rate=unit,
    scope=st.sampled_from(["session", "user", "global"]),
)


@given(
    st.builds(Evidence, wild, wild, wild, wild, st.integers(-5, 10**6), st.integers(-5, 10**6), wild, wild),
    st.sampled_from(PROFILES),
)
def test_no_input_leaves_the_unit_interval(given_evidence: Evidence, profile: Profile) -> None:
    assert 0.0 <= score(given_evidence, profile).score <= 1.0


@given(evidence, st.sampled_from(PROFILES), unit, st.integers(0, 50))
def test_more_of_anything_good_never_scores_lower(base: Evidence, profile: Profile, gain: float, uses: int) -> None:
    better = [
        replace(base, relevance=min(base.relevance + gain, 1.0)),
        replace(base, similarity=min(base.similarity + gain, 1.0)),
        replace(base, keywords=min(base.keywords + gain, 1.0)),
        replace(base, age_s=base.age_s * gain),
        replace(base, uses=max(base.uses, uses)),
        replace(base, authority=min(base.authority + gain, 1.0)),
        replace(base, decay_rate=base.decay_rate * gain),
    ]
    for improved in better:
        assert score(improved, profile).score >= score(base, profile).score - 1e-12


@given(evidence)
def test_modulation_never_costs_more_than_its_share(base: Evidence) -> None:
    flat = replace(base, decay_rate=0.0)
    assert score(flat).score >= (1 - MODULATION) * flat.relevance - 1e-12
    assert score(flat).score <= flat.relevance + 1e-12


def test_a_strong_old_match_beats_a_weak_new_one_only_where_it_should() -> None:
    year = 365 * 86_400.0
    old, new = Evidence(0.9, similarity=0.9, age_s=year), Evidence(0.3, similarity=0.3, age_s=0.0)
    assert score(old).score > score(new).score
    assert score(old, "reference").score < score(new, "reference").score


def test_of_equal_matches_the_newer_comes_first() -> None:
    assert score(Evidence(0.8, age_s=60.0)).score > score(Evidence(0.8, age_s=30 * 86_400.0)).score


def test_the_reference_law_has_the_published_value() -> None:
    known = Evidence(
        0.0, similarity=0.8, keywords=0.5, age_s=1000.0, uses=3, most_uses=9, authority=1.0, scope="session"
    )
    weight = 0.5 * math.exp(-1e-4 * 1000) + 0.2 * math.log(4) / math.log(11) + 0.3
    assert score(known, "reference").score == pytest.approx(weight * 0.8 * (1 + 0.3 * 0.5) / 1.3)
    hybrid = 0.7 * 0.8 + 0.2 * math.exp(-1e-4 * 1000) + 0.1
    assert score(known, "hybrid").score == pytest.approx(hybrid)
    user = replace(known, scope="user")
    assert score(user, "hybrid").score == pytest.approx(0.7 * 0.8 + 0.2 * math.exp(-1e-5 * 1000) + 0.06)
    shared = replace(known, scope="global")
    assert score(shared, "hybrid").score == pytest.approx(0.7 * 0.8 + 0.2 * math.exp(-2e-6 * 1000) + 0.03)


@pytest.mark.parametrize(
    ("decay", "expected"), [(0.0, 1.0), (0.5, 0.75), (1.0, 0.5), (7.0, 0.5), (-1.0, 1.0), (math.nan, 1.0)]
)
def test_quality_falls_by_half_at_most(decay: float, expected: float) -> None:
    assert quality(decay) == expected
