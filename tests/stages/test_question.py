"""Questions are read from their words: who, when, what must be found letter by letter, and whether now is meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_with_length

from libravdb_memory.retrieve.question import (
    READ_AT_EACH_END,
    identifiers_of,
    mentions_exactly,
    read_question,
    what_counts,
)

PAIR = ("Melanie", "Caroline")
any_text = st.text(max_size=300)
IDENTIFIERS = ("ledger.py", "v2.3.1", "e1042", "--no-cache", "a1b2c3d", "src/app/main.py", "#123", "snake_case", "x-7")
EDGES = ("", " ", ", ", ". ", ".", "? ", "(", ")", "`", "'", '"', "\n", "…", "“", "/")
LONGER = ("a", "7", "_", "é", "日")


# ── who ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "participants", "spoken", "named"),
    [
        ("What did Melanie paint?", PAIR, "What did I paint?", ("melanie",)),
        ("What is Melanie's hobby?", PAIR, "What is my hobby?", ("melanie",)),
        ("What is MELANIE’S hobby?", PAIR, "What is my hobby?", ("melanie",)),
        ("Did Melanie break Melanies' bowls?", PAIR, "Did I break my bowls?", ("melanie",)),
        ("Where is James' dog? Where is James's?", ("James",), "Where is my dog? Where is my?", ("james",)),
        ("What did Melanie say she lent to his aunt?", PAIR, "What did I say I lent to my aunt?", ("melanie",)),
        ("Did Caroline meet Melanie at her house?", PAIR, "Did I meet you at her house?", ("caroline", "melanie")),
        ("Is Caroline's cat Melanie's?", PAIR, "Is my cat your?", ("caroline", "melanie")),
        ("What did anna say?", ("Anna Maria Berg",), "What did I say?", ("anna maria berg",)),
        ("What does Zoë's dog eat?", ("Zoë",), "What does my dog eat?", ("zoë",)),
        ("Где был Иван?", ("Иван",), "Где был I?", ("иван",)),
        ("What did Mel paint?", PAIR, "What did Mel paint?", ()),
        ("What did Melanies paint?", ("Mel",), "What did Melanies paint?", ()),
        ("What did they paint?", PAIR, "What did they paint?", ()),
        ("What did she paint?", PAIR, "What did she paint?", ()),
        ("", PAIR, "", ()),
    ],
)
def test_a_named_participant_speaks_of_himself_and_a_second_one_is_spoken_to(
    text: str, participants: tuple[str, ...], spoken: str, named: tuple[str, ...]
) -> None:
    question = read_question(text, participants)
    assert (question.spoken, question.named, question.text) == (spoken, named, text)


@pytest.mark.parametrize(
    ("text", "participants", "spoken", "named"),
    [
        ("What did SPEAKER_01 say?", ("SPEAKER_00", "SPEAKER_01"), "What did I say?", ("speaker_01",)),
        ("What did speaker_0 say?", ("SPEAKER_00", "SPEAKER_01"), "What did speaker_0 say?", ()),
        ("What did Person1 eat?", ("Person0", "Person1", "Person11"), "What did I eat?", ("person1",)),
        ("Where is user42's key?", ("user4", "user42"), "Where is my key?", ("user42",)),
        ("What did Agent 8 say?", ("Agent 7", "Agent 8", "Agent 80"), "What did I say?", ("agent 8",)),
        ("What is John Doe's plan?", ("John Smith", "John Doe"), "What is my plan?", ("john doe",)),
        ("What is John's plan?", ("John Smith", "John Doe"), "What is John's plan?", ()),
        ("Did Ann-Marie go?", ("Ann", "Ann-Marie"), "Did I go?", ("ann-marie",)),
        ("Did Ann go?", ("Ann", "Ann-Marie"), "Did I go?", ("ann",)),
        ("Did Dr. Jones call?", ("Dr. Smith", "Dr. Jones"), "Did I call?", ("dr. jones",)),
        ("Did Jean Luc see Jean?", ("Jean Luc",), "Did I see Jean?", ("jean luc",)),
        ("Which user id does the tool run under?", ("user", "assistant", "tool"), None, ()),
    ],
)
def test_people_who_share_the_beginning_of_a_name_are_told_apart(
    text: str, participants: tuple[str, ...], spoken: str | None, named: tuple[str, ...]
) -> None:
    question = read_question(text, participants)
    assert (question.spoken, question.named) == (spoken or text, named)
    assert read_question(text, participants[::-1]) == question


def test_participants_are_named_in_the_order_of_the_question_and_once() -> None:
    question = read_question("Caroline and Melanie, or Caroline and Nate?", ("Nate", *PAIR))
    assert question.named == ("caroline", "melanie", "nate")
    assert question.spoken == "I and you, or I and you?"


def test_a_name_that_is_an_ordinary_word_needs_its_capital_letter() -> None:
    people = ("Will", "May", "A")
    assert read_question("What will a user see, and what may go?", people).named == ()
    assert read_question("May we go?", people).named == ()
    assert read_question("Does a user know Will, May or A?", people).named == ("will", "may", "a")


def test_a_letter_that_falls_apart_in_lower_case_does_not_turn_the_asker_into_somebody() -> None:
    assert read_question("What did I say?", ("İpek",)).named == ()
    assert read_question("What did İpek say?", ("İpek",)).named == ("İpek".lower(),)


@pytest.mark.parametrize("name", ["A.*", "(x", "[z", "C++", "a|b", "\\d", "$", "?", "", " ", "💡", "1", "_"])
def test_a_name_is_text_and_no_pattern(name: str) -> None:
    question = read_question("Which port does staging use now?", (name,))
    assert (question.spoken, question.named) == (question.text, ())


def test_sixty_four_people_are_told_apart() -> None:
    people = [f"Person{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(64)]
    question = read_question(" and ".join(people), people)
    assert question.named == tuple(person.lower() for person in people)
    assert question.spoken == "I" + " and you" * 63


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("Which port did I choose?", "first"),
        ("what was MY plan", "first"),
        ("I'm late for what?", "first"),
        ("What did you tell me?", "second"),
        ("What was your advice?", "second"),
        ("Which port was chosen?", "other"),
        ("What is in the mine and the youth hostel?", "first"),  # "mine" is read as a pronoun
        ("Where is the youth hostel?", "other"),
    ],
)
def test_the_person_is_that_of_the_pronouns(text: str, person: str) -> None:
    assert read_question(text).person == person


# ── when ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "months", "years"),
    [
        ("What happened in January 2023 and DECEMBER?", {1, 12}, {2023}),
        ("Where may I go?", set(), set()),
        ("Where did we go in May?", {5}, set()),
        ("Who marched in junebug costumes?", set(), set()),
        ("In 1999, 2024 or 1850, room 20255, v2023x?", set(), {1999, 2024}),
        ("What of june, july and august?", {6, 7, 8}, set()),
    ],
)
def test_months_and_years_are_read_and_the_verb_may_is_no_month(text: str, months: set[int], years: set[int]) -> None:
    question = read_question(text)
    assert (question.months, question.years) == (months, years)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("When did we move?", True),
        ("How long did it take?", True),
        ("On which date was it?", True),
        ("What day is the release?", True),
        ("Whenever it rains?", False),
        ("What is up to date?", False),
        ("How longing is she?", False),
    ],
)
def test_a_question_for_a_time_is_recognised(text: str, asks: bool) -> None:
    assert read_question(text).asks_when is asks


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("What is the port now?", 1.0),
        ("Which port did we use most recently?", 1.0),
        ("Are we still on 5433?", 1.0),
        ("Which port is it?", 0.5),
        ("What's the port?", 0.5),
        ("port does staging have", 0.5),
        ("What was the port?", 0.0),
        ("Which port did we use before the move?", 0.0),
        ("What went wrong?", 0.0),
        ("port of staging", 0.0),
        ("", 0.0),
        ("Have I worked with Flask routes in this project?", 0.0),
        ("How many weeks are there between the freeze and the release?", 0.0),
        ("How long do we keep raw samples?", 0.5),
    ],
)
def test_only_a_question_about_the_present_wants_what_is_latest(text: str, strength: float) -> None:
    assert read_question(text).wants_latest == strength


# ── identifiers ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        ("Why did src/app/main.py fail?", ("src/app/main.py",)),
        ("What raises E1042, and what ERR_TIMEOUT?", ("e1042", "err_timeout")),
        ("Is v2.3.1 newer than 2.3?", ("v2.3.1", "2.3")),
        ("What does --no-cache do, or -x?", ("--no-cache", "-x")),
        ("Where is parseConfig defined?", ("parseconfig",)),
        ("Which commit, a1b2c3d or #123?", ("a1b2c3d", "#123")),
        (
            "ls ./run.sh ../up.txt /etc/hosts ~/.ssh/id .env",
            ("./run.sh", "../up.txt", "/etc/hosts", "/.ssh/id", ".env"),
        ),
        ("std::vector, C:\\temp and ops@host", ("std::vector", "c:\\temp", "ops@host")),
        ("Which port, 5433?", ("5433",)),
        ("Look into `main.py`.", ("main.py",)),
        ('Is it "main.py"? (see main.py).', ("main.py",)),
        ("What is ledger.py's job? And ledger.py’s?", ("ledger.py",)),
        ("Why __init__.py, Straße_1 and 日本_語?", ("__init__.py", "straße_1", "日本_語")),
    ],
)
def test_what_must_be_found_letter_by_letter_is_an_identifier(text: str, identifiers: tuple[str, ...]) -> None:
    assert identifiers_of(text) == identifiers
    assert read_question(text).identifiers == identifiers


@pytest.mark.parametrize(
    "text",
    [
        "The 3rd, 21st and 100th of the 1990s",
        "A well-known, re-run and/or state-of-the-art naïve-été",
        "In 2023 or 1999.",
        "This is the end. And so... it is… done!",
        "12 of 7",
        "don't it's o'clock rock'n'roll",
        "- — – . .. ... -- # _",
        "Melanie, Zoë & Иван",
        "50% of $5",
        "",
    ],
)
def test_ordinary_words_are_no_identifiers(text: str) -> None:
    assert identifiers_of(text) == ()


def test_a_question_has_at_most_eight_identifiers_and_none_of_more_than_200_characters() -> None:
    assert identifiers_of(" ".join(f"e{number}0" for number in range(20))) == tuple(f"e{n}0" for n in range(8))
    assert identifiers_of("e1" * 100) == ("e1" * 100,)
    assert identifiers_of("e1" * 100 + "x") == ()


@given(any_text)
def test_identifiers_are_few_different_and_stand_in_the_question(text: str) -> None:
    found = identifiers_of(text)
    assert len(found) == len(set(found)) <= 8
    assert all(len(word) >= 2 and any(word in chunk.lower() for chunk in text.split()) for word in found)


@given(st.sampled_from(IDENTIFIERS), st.sampled_from(EDGES), st.sampled_from(EDGES))
def test_an_identifier_is_mentioned_whatever_stands_around_it(identifier: str, left: str, right: str) -> None:
    for around in (left + identifier + right, f"we saw {left}{identifier}{right} there"):
        assert mentions_exactly(around, identifier)


@given(st.sampled_from(IDENTIFIERS), st.sampled_from(LONGER), st.booleans())
def test_a_longer_name_is_no_mention_of_a_part_of_it(identifier: str, more: str, before: bool) -> None:
    longer = more + identifier if before else identifier + more
    assert not mentions_exactly(f"we saw {longer} there", identifier)
    assert not mentions_exactly(longer, identifier)
    assert mentions_exactly(f"{longer} {identifier}", identifier)


@pytest.mark.parametrize(
    ("text", "identifier", "mentioned"),
    [
        ("see ledger_sync.py", "ledger.py", False),
        ("see ledger.pyc", "ledger.py", False),
        ("see sub-ledger.py", "ledger.py", False),
        ("see src/ledger.py.", "ledger.py", True),
        ("since v2.3.11", "v2.3.1", False),
        ("since v2.3.1.4", "v2.3.1", False),
        ("since v2.3.1-rc1", "v2.3.1", False),
        ("since v2.3.1.", "v2.3.1", True),
        ("since v2.3.1 - at last", "v2.3.1", True),
        ("python 2.3.1", "3.1", False),
        ("e10422 and then e1042", "e1042", True),
        ("e10422", "e1042", False),
        ("use ---no-cache", "--no-cache", True),
        ("", "e1042", False),
    ],
)
def test_near_twins_are_told_apart(text: str, identifier: str, mentioned: bool) -> None:
    assert mentions_exactly(text, identifier) is mentioned


# ── for every text ───────────────────────────────────────────────────────────────────────────────────────────────


@given(any_text, st.lists(st.text(max_size=20), max_size=8))
def test_every_text_can_be_read_and_reads_the_same_again(text: str, participants: list[str]) -> None:
    question = read_question(text, participants)
    assert question == read_question(text, participants)
    assert question.text == text
    assert question.wants_latest in (0.0, 0.5, 1.0)
    assert all(1 <= month <= 12 for month in question.months)
    assert set(question.named) <= {person.lower() for person in participants}
    assert question.named or question.spoken == text


@given(any_text)
def test_without_participants_a_question_is_spoken_as_it_is_written(text: str) -> None:
    assert read_question(text).spoken == text


SHAPES = {
    "prose": "When did Melanie move src/app/main.py to 2023 in May? ",
    "one word": "a",
    "one identifier": "e1",
    "no word": "…",
    "blanks": " ",
    "apostrophes": "Melanie's' ",
    "joined": "a-b/",
    "digits": "1",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_time_grows_with_the_length_of_the_question(shape: str) -> None:
    def work(text: str) -> None:
        question = read_question(text, PAIR)
        mentions_exactly(text, (*question.identifiers, "a-b")[0])

    assert grows_with_length(work, SHAPES[shape], 125_000)


@given(any_text, st.integers(0, 3 * READ_AT_EACH_END), any_text)
def test_of_a_long_question_both_ends_are_read_and_little_else(first: str, between: int, last: str) -> None:
    text = first + "x" * between + last
    question = read_question(text)
    assert question.text == what_counts(text) == what_counts(question.text)
    assert question.text.startswith(first) and question.text.endswith(last)
    assert len(question.text) <= 2 * READ_AT_EACH_END + 1
    assert question.shortened == (question.text != text) == (len(text) > 2 * READ_AT_EACH_END + 1)
