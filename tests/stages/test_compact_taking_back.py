"""What takes back a rule: a sign of change, about what the rule is about."""

from __future__ import annotations

import pytest

from libravdb_memory.compact.taking_back import ENOUGH, changes_in, shared, subject


def share(text: str, rule: str) -> float:
    return max((most for change in changes_in(text) for most in shared(change, [subject(rule)])), default=0.0)


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Always use tabs.", "Forget the tabs thing, spaces are fine."),
        ("We use Jenkins for CI.", "Jenkins is gone, by the way; it's GitLab CI now."),
        ("Release is planned for 24 March.", "The auditors need longer. The release moves to 31 March."),
        ("Never deploy on Fridays.", "Deploys on Friday are no longer a problem."),
        ("Always indent with tabs.", "I want to switch to spaces, no tabs."),
        ("Always indent with tabs.", "I'd prefer to drop the tabs."),
        ("Always indent with tabs.", "Time to drop the tabs."),
        ("Always indent with tabs.", "I'm switching from tabs to spaces."),
        ("Always indent with tabs.", "We're dropping tabs."),
        ("Always indent with tabs.", "Stop using tabs."),
        ("Always indent with tabs.", "I'd like to change the tabs thing."),
        ("The pool has 8 workers, always.", "Lower the workers of the pool to 4."),
        ("The pool has 8 workers, always.", "We decided to reduce the workers of the pool to 4."),
        ("Immer die Rechnung kopieren.", "Die Rechnung nicht mehr kopieren, das macht jetzt Jana."),
    ],
)
def test_a_change_of_what_a_rule_is_about_is_told_by_its_words(rule: str, later: str) -> None:
    assert share(later, rule) >= ENOUGH


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Always use tabs.", "Should we forget the tabs thing?"),
        ("Always use tabs.", "I indented the whole file with tabs, as you said."),
        ("Always use tabs.", "We moved the parser to another module."),
        ("Always use tabs.", "The tabs turned out well."),
        ("Always say what API calls cost.", "I'm trying to cache what the API calls cost, to reduce latency."),
        ("Always say what API calls cost.", "Can you help me with the API calls, and reduce what they cost in time"),
        ("Always show tree diagrams.", "I see now how the probability changes in tree diagrams."),
        ("Always mention dance classes.", "I dropped off my sister at the dance classes."),
        ("Meetings are always at nine.", "The meetings were postponed, and in the end I ended up alone."),
        ("Never deploy on Fridays.", "The report is no longer needed on Mondays, says the client in Oslo."),
    ],
)
def test_neither_a_question_nor_what_changes_something_else_does(rule: str, later: str) -> None:
    assert share(later, rule) < ENOUGH


def test_a_sign_may_stand_beside_the_sentence_that_says_what_it_is_about() -> None:
    assert share("The release is on the 31st of March. No longer the 24th.", "Release is planned for March.") >= ENOUGH
    [change] = changes_in("It rained. Scrap that. Supper is at nine.")[:1]
    assert change.span == (11, 22)


def test_huge_texts_without_a_sign_change_nothing() -> None:
    assert changes_in("a " * 300_000) == ()
    assert changes_in("") == ()
