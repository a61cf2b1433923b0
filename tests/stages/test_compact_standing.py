"""Standing rules against orders for the moment, and what is kept of a turn that states one.

The development part of the corpus was used for tuning, the held-out part was not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import is_done_within

from libravdb_memory.compact.guidance import GAP, shard_text
from libravdb_memory.compact.sentences import Span, sentence_spans
from libravdb_memory.compact.standing import CHARACTERS_READ, standing_rules
from libravdb_memory.ingest.deontic import scan
from libravdb_memory.tokens import EstimatingCounter

CORPUS = Path(__file__).parent / "corpus" / "standing.jsonl"
PARTS = ("development", "held_out")
LEAST_RECALL, MOST_FALSE = 0.95, 0.05
COUNTER = EstimatingCounter()


@dataclass(frozen=True, slots=True)
class Turn:
    part: str
    text: str
    rules: list[str]


TURNS = [Turn(**json.loads(line)) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


def rules_of(text: str) -> tuple[Span, ...]:
    return standing_rules(text, scan(text).marks)


def stated(text: str) -> list[str]:
    return [text[start:end] for start, end in rules_of(text)]


# ── the corpus ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_corpus_is_large_and_its_labels_are_sound() -> None:
    assert len({turn.text for turn in TURNS}) == len(TURNS)
    assert sum(bool(turn.rules) for turn in TURNS) >= 120
    assert sum(not turn.rules for turn in TURNS) >= 300
    assert {turn.part for turn in TURNS} == set(PARTS)
    assert all(rule in turn.text for turn in TURNS for rule in turn.rules)


@pytest.mark.parametrize("part", PARTS)
def test_nearly_every_standing_rule_is_found(part: str) -> None:
    rules = [turn for turn in TURNS if turn.part == part and turn.rules]
    missed = [turn.text for turn in rules if not rules_of(turn.text)]
    assert 1 - len(missed) / len(rules) >= LEAST_RECALL, missed


@pytest.mark.parametrize("part", PARTS)
def test_hardly_any_neutral_turn_is_taken_for_a_rule(part: str) -> None:
    neutral = [turn for turn in TURNS if turn.part == part and not turn.rules]
    false = [found for turn in neutral if (found := stated(turn.text))]
    assert len(false) / len(neutral) <= MOST_FALSE, false


def test_of_a_long_turn_only_the_sentence_with_the_rule_counts() -> None:
    long = [turn for turn in TURNS if turn.rules and turn.rules != [turn.text] and rules_of(turn.text)]
    assert len(long) >= 15
    for turn in long:
        # not equality: a unit before a full stop ("180 ms.") can join a sentence to the one before it
        assert all(rule in found for rule, found in zip(turn.rules, stated(turn.text), strict=True)), turn.text


# ── examples ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("standing", "passing"),
    [
        ("Never run the tests on prod.", "Run the tests again."),
        ("Don't commit secrets.", "Don't commit it yet."),
        ("Use type hints.", "Use this type hint."),
        ("If a test is flaky, quarantine it.", "If it fails, send me the log."),
        ("I prefer tabs.", "I prefer the second draft."),
        ("Could you always add a legend?", "Could you add a legend?"),
        ("Make sure every image has alt text.", "Make sure the image has alt text."),
        ("We never deploy on Fridays.", "We never found out why."),
        ("Don't do that again.", "Do that again."),
        ("Commits must be signed.", "They say commits must be signed."),
        ("From now on, answer in French.", "For now, answer in French."),
        ("Write tests first, always.", "Write a test that always fails."),
        ("Always the full path, never use a relative one.", "Always the same trouble with the printer, sigh."),
        ("Always when I ask for a list, use bullets.", "Always when I go to bed, the dog barks."),
        ("Always lint.", "Always fun, these migrations."),
        ("Always keep the same tone.", "Always a bit of a mess in here."),
        ("Show distances with one decimal and the unit after the figure.", "Show me the users with two orders."),
        ("Write recipes with the ingredients first.", "Write the recipe with the beans we have."),
        ("Put the date before the subject in every heading.", "Put the numbers into every row that is empty."),
        ("Use 12-hour clocks.", "Use 3 workers."),
        ("Use camelCase for variables in this codebase.", "Use camelCase for the variables in this file."),
        ("Check the links before you say that it's finished.", "Check the links in the footer."),
        ("I want every endpoint documented.", "I need every file fixed."),
        ("I expect all headings numbered.", "I want every detail."),
        ("If you're citing a statute, I want the paragraph too.", "If you're looking for the key, I have it."),
        ("I'm on a strict low-carb diet.", "I'm on the diet page of the app."),
        ("Fatima approves all expenses, so send them to her.", "Kafka handles all events, so the queue is empty."),
        ("You don't have to explain basics.", "You don't have to rename that file, it's fine."),
    ],
)
def test_what_lasts_is_told_from_what_passes(standing: str, passing: str) -> None:
    assert stated(standing) == [standing]
    assert stated(passing) == []


@pytest.mark.parametrize(
    "text",
    [
        "Bitte antworte ab jetzt kurz.",
        "Por favor, responde siempre en español.",
        "从现在起请用中文回答。",
        "これからは敬語で話して。",
    ],
)
def test_permanence_is_known_in_a_few_other_tongues(text: str) -> None:
    assert stated(text) == [text]


@pytest.mark.parametrize(
    "text",
    ["> Never push to main.\nwho wrote this?", "```\nNever push to main.\n```\nwhat is this?", '"Never push to main."'],
)
def test_quoted_and_fenced_rules_are_somebody_elses(text: str) -> None:
    assert stated(text) == []


def test_nothing_states_nothing() -> None:
    assert rules_of("") == () == rules_of(" \n ")


# ── laws of the spans ────────────────────────────────────────────────────────────────────────────────────────────

words = st.sampled_from(
    [
        *"never always don't please use the this it if when you I we prefer no every tests now a".split(),
        *",.!?:>“”\n",
        "```",
    ]
)
texts = st.one_of(
    st.text(max_size=200),
    st.lists(words, max_size=60).map(" ".join),
    st.lists(st.sampled_from([turn.text for turn in TURNS]), max_size=6).map("\n\n".join),
)


@given(texts)
def test_rules_are_sentences_of_the_text_in_order(text: str) -> None:
    found = rules_of(text)
    assert set(found) <= set(sentence_spans(text))
    assert list(found) == sorted(set(found))


@given(texts)
def test_the_same_text_gives_the_same_rules_with_marks_in_any_container(text: str) -> None:
    marks = scan(text).marks
    assert standing_rules(text, marks) == standing_rules(text, list(marks))


@given(texts, texts)
def test_another_paragraph_changes_nothing_in_the_one_before(first: str, second: str) -> None:
    first = first.replace("`", "'").replace("~", "-").rstrip()
    alone = rules_of(first)
    together = rules_of(f"{first}\n\n{second}")
    assert [span for span in together if span[1] <= len(first)] == list(alone)


@pytest.mark.parametrize(
    "turn", [turn for turn in TURNS if turn.rules and turn.rules != [turn.text]], ids=lambda t: t.rules[0]
)
def test_a_rule_by_itself_is_a_rule_still(turn: Turn) -> None:
    for rule in stated(turn.text):
        assert stated(rule) == [rule]


@pytest.mark.parametrize(
    "unit",
    [
        "Don't use x! ",
        "a. ",
        "never ",
        "I prefer. ",
        "> never do it\n",
        "```\n",
        '"never ',
        "we always i only want every ",
        "i said: ",
        "keep a-b-c ds ",
        "no a b c d s ",
        "always the same ",
        "if you're writing a ",
        "put a in every ",
        "i want every a ",
        "show a prices ",
        "ann handles all ",
        "immer bitte keine ",
        "以后都用",
        "\n",
    ],
)
def test_a_megabyte_is_read_within_a_second(unit: str) -> None:
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    marks = scan(text[:CHARACTERS_READ]).marks
    assert is_done_within(1.0, lambda: standing_rules(text, marks))


# ── shards ───────────────────────────────────────────────────────────────────────────────────────────────────────

LONG = (
    "The build is green since noon. It was the proxy after all. Never push straight to main. I had soup for lunch. "
    "The weather is fine. Commits must be signed. See you."
)


def shard(text: str, limit: int, rules: Sequence[Span] | None = None) -> str:
    return shard_text(text, rules_of(text) if rules is None else rules, limit, COUNTER)


def test_a_short_turn_is_kept_whole() -> None:
    assert shard(LONG, 120) == LONG


def test_of_a_long_turn_the_rules_are_kept_and_the_sentences_before_them_while_they_fit() -> None:
    assert shard(LONG, 14) == "Never push straight to main. … Commits must be signed."
    assert shard(LONG, 21) == "It was the proxy after all. Never push straight to main. … Commits must be signed."
    assert shard(LONG, 27) == (
        "It was the proxy after all. Never push straight to main. … The weather is fine. Commits must be signed."
    )


def test_one_sentence_is_kept_whatever_it_costs() -> None:
    assert shard(LONG, 1) == "Never push straight to main."


def test_without_a_stated_rule_the_sentences_with_a_hint_are_kept() -> None:
    assert shard("Hello there. I only said so. Bye now, all of you.", 5, rules=()) == "I only said so."
    assert shard("Hello there. It rains. Bye now, all of you.", 4, rules=()) == "Hello there."


@given(texts, st.integers(0, 60))
def test_a_shard_is_verbatim_and_within_its_limit(text: str, limit: int) -> None:
    rules = rules_of(text)
    kept = shard(text, limit, rules)
    position = 0
    for stretch in [text] if kept == text else kept.split(GAP):
        assert (position := text.find(stretch, position)) >= 0
    if COUNTER.count(text) <= limit:
        assert kept == text
    elif rules:
        first = text[slice(*rules[0])]
        assert first in kept
        assert COUNTER.count(kept) <= max(limit, COUNTER.count(first))


@given(
    st.lists(st.sampled_from([turn.text for turn in TURNS if turn.rules]), min_size=1, max_size=4), st.integers(5, 60)
)
def test_a_shard_of_a_shard_is_the_shard(turns: list[str], limit: int) -> None:
    text = "\n\n".join(turns)
    kept = shard(text, limit)
    if COUNTER.count(kept) <= limit:
        assert shard(kept, limit) == kept


@pytest.mark.parametrize(
    "text",
    [
        "Keep going and don't give up!",
        "You're so talented, keep on pushing!",
        "No prob, see you soon!",
        "Never give up on your dreams, stay true to yourself.",
        "Don't let the bumps in the road bring you down.",
        "Feel free to reach out any time.",
        "Remember, I'm always here for you.",
    ],
)
def test_kind_words_are_no_rules(text: str) -> None:
    assert not standing_rules(text, scan(text).marks)


@pytest.mark.parametrize(
    "text",
    [
        "You are a strict reviewer of my pull requests.",
        "Keep answers short.",
        "Never let the build go red.",
        "Don't quit the editor without saving.",
        "Remember that all dates are in UTC when you write reports.",
    ],
)
def test_rules_that_sound_like_kind_words_stay_rules(text: str) -> None:
    assert standing_rules(text, scan(text).marks)
