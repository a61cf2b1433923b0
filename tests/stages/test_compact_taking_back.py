"""What takes back a rule: a sign of change, about what the rule is about."""

from __future__ import annotations

import pytest
from tests.growth import grows_with_length

from libravdb_memory.compact.taking_back import ENOUGH, RARE, changes_in, contrary, shared, subject


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


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Every release needs a changelog entry.", "Releases don't need changelog entries any longer."),
        ("Never book flights before nine.", "Flights before nine are fine for me again."),
        ("Don't use semicolons in the frontend.", "Semicolons in the frontend are welcome now."),
        ("Never schedule calls on Mondays.", "It's okay to schedule calls on Mondays again."),
        ("Use poetry, not pip, for the scripts.", "Forget poetry, pip does the job."),
        ("Round prices to whole euros.", "Ignore what I said about rounding prices."),
        ("No puns in the newsletter.", "You may put puns into the newsletter again."),
        ("Never mention the merger.", "You can mention the merger after all."),
        ("Always format SQL keywords in upper case.", "You can stop formatting SQL keywords."),
        ("I don't drink coffee.", "I drink coffee again, the doctor said it's all right."),
        ("Address customers formally.", "You may address customers informally again."),
        ("Always answer me in Dutch.", "Swedish is fine too from today."),
        ("Keep your explanations short.", "Longer explanations are welcome now."),
        (
            "Put the summary at the end of each brochure.",
            "Actually, please keep the summary at the start of brochures.",
        ),
        ("Keine Emojis in Antworten.", "Emojis sind wieder erlaubt."),
    ],
)
def test_what_is_allowed_again_or_no_longer_asked_for_takes_a_rule_back(rule: str, later: str) -> None:
    assert share(later, rule) >= ENOUGH


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Always run the formatter before you push.", "Don't forget the formatter."),
        ("Always run the formatter before you push.", "I never ignore the formatter."),
        ("Always run the formatter before you push.", "The formatter is fine again, it was the cache."),
        ("Always run the formatter before you push.", "Is the formatter allowed again?"),
        ("Never publish on Mondays.", "You can publish now."),
        ("Every template needs a preview.", "It was the template after all."),
        ("Keep your answers short.", "You can answer in Czech again."),
        ("Write commit messages in English.", "We switched the commit hook to another tool."),
        ("No meetings before ten.", "We can meet again next week."),
        ("Use the serial comma if you like it.", "We've dropped the prefix, just use the ticket, like the others."),
        ("Please keep things tidy in the attic.", "Forget the thing with the keys, please keep going."),
    ],
)
def test_what_is_said_of_something_else_or_with_words_that_go_with_anything_does_not(rule: str, later: str) -> None:
    assert share(later, rule) < ENOUGH


@pytest.mark.parametrize(
    ("said", "sign"),
    [
        ("From now on never delete files in /srv/backup.", "begun"),
        ("From now on: never delete files in /srv/backup.", "begun"),
        ("Ab sofort nie auf main pushen.", "begun"),
        ("From now on use spaces, no longer tabs.", "changed"),
        ("From now on you may use tabs again, after all.", "freed"),
    ],
)
def test_what_begins_now_is_told_from_what_takes_the_place_of_something(said: str, sign: str) -> None:
    assert {change.sign for change in changes_in(said)} == {sign}


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Never deploy on Fridays.", "From now on deploy on Fridays."),
        ("Use emojis in customer mails.", "From now on don’t use emojis in customer mails."),
        ("Always answer in German.", "From now on always answer in English."),
        ("Answer in English and in German.", "From now on answer in German."),
        ("Answer briefly.", "From now on answer in detail."),
        ("Immer auf main pushen.", "Ab sofort nie auf main pushen."),
    ],
)
def test_of_two_rules_about_the_same_those_are_contrary_that_exclude_each_other(rule: str, later: str) -> None:
    assert contrary(later, rule) and contrary(rule, later)


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Never delete files in /srv/data.", "From now on never delete files in /srv/backup."),
        ("Always run the linter before you commit.", "From now on always run the tests before you commit."),
        ("Always answer in German.", "From now on always answer in German, please."),
        ("Answer in English and in German.", "From now on answer in German and in English."),
    ],
)
def test_neither_a_rule_beside_another_nor_the_same_again_is_its_contrary(rule: str, later: str) -> None:
    assert not contrary(later, rule) and not contrary(rule, later)


def test_a_word_that_many_rules_name_tells_alone_of_none_of_them() -> None:
    [change] = changes_in("Invoices are fine with me again.")
    rules = [subject(f"Send invoices to {name}.") for name in ("Oslo", "Bergen", "Tromsø", "Narvik")]
    assert min(shared(change, rules[:RARE])) >= ENOUGH > max(shared(change, rules))
    assert shared(change, [*rules, subject("No invoices!")])[-1] >= ENOUGH, "it is all that this rule is about"


def test_a_sign_may_stand_beside_the_sentence_that_says_what_it_is_about() -> None:
    assert share("The release is on the 31st of March. No longer the 24th.", "Release is planned for March.") >= ENOUGH
    [change] = changes_in("It rained. Scrap that. Supper is at nine.")[:1]
    assert change.span == (11, 22)


def test_huge_texts_without_a_sign_change_nothing() -> None:
    assert changes_in("a " * 300_000) == ()
    assert changes_in("") == ()


@pytest.mark.parametrize(
    "unit", ["you can ", "it is okay to do ", "after all ", "i'm a ", "the a is fine ", "no longer. ", "forget the "]
)
def test_it_is_told_in_time_that_grows_with_the_text(unit: str) -> None:
    assert grows_with_length(changes_in, unit, 2_000)
