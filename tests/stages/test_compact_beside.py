"""Of a turn that states a rule in passing, what says nothing about the rule is left out, and nothing else."""

from __future__ import annotations

import pytest
from tests.growth import grows_with_length

from libravdb_memory.compact.beside import kept_beside, points_back
from libravdb_memory.compact.guidance import shard_text
from libravdb_memory.compact.sentences import sentence_spans
from libravdb_memory.tokens import EstimatingCounter


def left(text: str, rule: str) -> str:
    """What is kept of a turn that fits whole; `rule` is the sentence that states it, or a part of it."""
    start = text.index(rule)
    return shard_text(text, [(start, start + len(rule))], 60, EstimatingCounter(), alone=True)


@pytest.mark.parametrize(
    ("aside", "rule"),
    [
        ("Good. Let's use Redis for the keys.", "And by the way, never touch migrations/legacy/, it is finance's."),
        ("Can you rename the helper?", "From now on every command needs a dry run."),
        ("Thanks a lot!", "I'm lactose intolerant."),
        ("That looks good.", "We never promise delivery dates to clients."),
        ("I'll deploy it tonight.", "Never deploy on a Friday."),
        ("Kannst du das noch umbenennen?", "Bitte duze mich ab jetzt immer."),
    ],
)
def test_what_is_agreed_asked_or_decided_before_a_rule_is_not_kept_with_it(aside: str, rule: str) -> None:
    assert left(f"{aside} {rule}", rule) == rule


@pytest.mark.parametrize(
    "said",
    [
        "This is a public repository. Never put names of customers in code.",
        "For the newsletter: no exclamation marks. The subject stays below 50 characters.",
        "Never use tabs. Except in Makefiles.",
        "Always ask first. We'll do small things without, though.",
        "I'm colour-blind. Please avoid red and green together in any plot.",
        "Let's keep the old names. Never change them without asking me.",
        "Can you see what it did? Never do that again.",
    ],
)
def test_where_a_rule_holds_and_why_and_what_it_points_back_to_is_kept(said: str) -> None:
    for start, end in sentence_spans(said)[-1:]:
        assert left(said, said[start:end]) == said
    for start, end in sentence_spans(said)[:1]:
        assert left(said, said[start:end]).endswith(said[end:].strip())


@pytest.mark.parametrize("behind", ["Can you add the test now?", "Thanks!", "Is that fine with you?"])
def test_questions_and_thanks_behind_a_rule_are_left_out(behind: str) -> None:
    assert left(f"Every answer ends with a source. {behind}", "Every answer ends with a source.") == (
        "Every answer ends with a source."
    )


def test_a_turn_in_which_no_sentence_states_the_rule_stays_whole() -> None:
    said = "Good. Let's use Redis."
    assert shard_text(said, [], 60, EstimatingCounter(), alone=True) == said


def test_without_being_asked_to_nothing_is_left_out_of_a_turn_that_fits() -> None:
    said = "Thanks. Never use tabs."
    assert shard_text(said, [(8, len(said))], 60, EstimatingCounter()) == said


def test_sentences_that_state_rules_stay_wherever_they_stand() -> None:
    said = ["Can you always answer in English?", "Good.", "Never use tabs."]
    assert kept_beside(said, [True, False, True]) == [True, False, True]
    assert kept_beside(["Let's go with tabs.", "Good."], [False, False]) == [False, False]


@pytest.mark.parametrize(
    ("sentence", "points"),
    [
        ("Never do that again.", True),
        ("And by the way, don't touch them.", True),
        ("Never touch migrations/legacy/, that belongs to finance.", False),
        ("And by the way, never touch migrations/legacy/.", False),
    ],
)
def test_a_rule_points_back_by_what_it_says_first(sentence: str, points: bool) -> None:
    assert points_back(sentence) is points


@pytest.mark.parametrize("unit", ["ok, ", "thanks ", "and so, ", "let's use it ", "\"'”) ", "((( "])
def test_it_takes_time_that_grows_with_the_text(unit: str) -> None:
    assert grows_with_length(lambda text: kept_beside([text, "Never."], [False, True]), unit, 2_000)
