"""Which turns are kept word by word when the rest is summarised."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.compact.guidance import PROTOTYPES, Evidence, hinted, needs_similarity, protection
from libravdb_memory.compact.settings import CompactionSettings

SETTINGS = CompactionSettings()
evidence = st.builds(
    Evidence,
    st.floats(0, 1),
    st.booleans(),
    st.booleans(),
    st.one_of(st.none(), st.floats(-1, 1), st.just(float("nan"))),
    st.sampled_from([None, False, True]),
    st.booleans(),
)


@given(evidence, st.one_of(st.none(), st.floats(-1, 1)))
def test_a_model_can_add_protection_and_never_take_it_away(known: Evidence, similarity: float | None) -> None:
    without = protection(replace(known, similarity=None), SETTINGS)
    told = protection(replace(known, similarity=similarity), SETTINGS)
    assert without in (None, "rule", "liking or custom", "worded like a rule")
    assert without is None or told == without


@given(evidence)
def test_an_order_for_the_moment_is_not_protected_unless_it_is_worded_like_a_rule(known: Evidence) -> None:
    assert protection(replace(known, promoted=True, standing=False, worded=False), SETTINGS) is None


@given(evidence)
def test_what_is_worded_like_a_rule_says_so_unless_it_was_read_as_one(known: Evidence) -> None:
    told = protection(replace(known, worded=True), SETTINGS)
    if known.stability < SETTINGS.guidance_stability:
        assert told is None
    elif known.standing or (known.promoted and known.standing is None):
        assert told == protection(replace(known, worded=False), SETTINGS)
    else:
        assert told == "worded like a rule"


@given(evidence)
def test_only_a_stable_turn_is_protected(known: Evidence) -> None:
    if known.stability < SETTINGS.guidance_stability:
        assert protection(known, SETTINGS) is None


@given(evidence)
def test_a_model_is_asked_exactly_where_it_could_matter(known: Evidence) -> None:
    answers = {protection(replace(known, similarity=similarity), SETTINGS) for similarity in (None, -1.0, 1.0)}
    assert needs_similarity(known, SETTINGS) == (len(answers) > 1)


@pytest.mark.parametrize(
    ("stability", "promoted", "hint", "similarity", "reason"),
    [
        (0.35, True, False, None, "rule"),
        (0.3499, True, True, 1.0, None),
        (0.35, False, True, 0.78, "like known guidance"),
        (0.35, False, True, 0.7799, None),
        (0.35, False, False, 1.0, None),
        (0.9, False, True, None, None),
        (0.9, False, True, float("nan"), None),
        (0.9, False, True, float("inf"), None),
        (0.9, True, True, 1.0, "rule"),
    ],
)
def test_protection_follows_the_law_at_its_edges(
    stability: float, promoted: bool, hint: bool, similarity: float | None, reason: str | None
) -> None:
    assert protection(Evidence(stability, promoted, hint, similarity), SETTINGS) == reason


@pytest.mark.parametrize(
    ("promoted", "standing", "similarity", "reason"),
    [
        (True, True, None, "rule"),
        (True, False, 1.0, None),
        (True, None, None, "rule"),
        (False, True, None, "liking or custom"),
        (False, False, 0.9, "like known guidance"),
        (False, None, 0.9, "like known guidance"),
        (False, False, 0.5, None),
    ],
)
def test_what_lasts_is_kept_and_the_model_rescues_only_where_the_words_are_silent(
    promoted: bool, standing: bool | None, similarity: float | None, reason: str | None
) -> None:
    known = Evidence(0.5, promoted, hinted=True, similarity=similarity, standing=standing)
    assert protection(known, SETTINGS) == reason


@pytest.mark.parametrize("text", PROTOTYPES)
def test_every_prototype_of_guidance_stands_by_its_words_alone(text: str) -> None:
    from libravdb_memory.compact.standing import standing_rules
    from libravdb_memory.ingest.deontic import scan

    assert standing_rules(text, scan(text).marks)


@pytest.mark.parametrize("text", PROTOTYPES)
def test_every_prototype_of_guidance_is_hinted_or_plainly_a_rule(text: str) -> None:
    from libravdb_memory.ingest.deontic import scan

    assert hinted(text) or scan(text).promoted


def test_prototypes_are_many_and_different() -> None:
    assert len(set(PROTOTYPES)) == len(PROTOTYPES) >= 20


@pytest.mark.parametrize(
    "text",
    [
        "Bitte immer auf Deutsch.",
        "请不要改端口",
        "Всегда пиши тесты",
        "I'd really like short answers",
        "metric units only",
        "no more emoji",
    ],
)
def test_hints_are_seen_in_many_words_and_tongues(text: str) -> None:
    assert hinted(text)


@pytest.mark.parametrize(
    "text",
    [
        "4091 then. remind me what that is",
        "13 of 14 under five minutes",
        "lunch. after: idempotency",
        "works, 2000 calls",
    ],
)
def test_neutral_turns_carry_no_hint(text: str) -> None:
    assert not hinted(text)
