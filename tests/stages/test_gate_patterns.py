"""Pattern families: they fire on what they are for, stay silent on ordinary prose, and take time in proportion."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_with_length

from libravdb_memory.gate.patterns import ACTIONS, SPECIFIC, STRUCTURE, TECHNICAL, Pattern
from libravdb_memory.gate.phrases import CONVERSATIONAL
from libravdb_memory.gate.score import Decision, Neighbours, decide
from libravdb_memory.gate.settings import GateSettings
from libravdb_memory.gate.signals import density, presence
from libravdb_memory.gate.views import View, read

FAMILIES = {
    "technical": TECHNICAL,
    "specificity": SPECIFIC,
    "actionability": ACTIONS,
    "structure": STRUCTURE,
    "personal": CONVERSATIONAL,
}
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300) | st.text(
    "aIi my'`/\\.:;(){}<>=\n?!-_#09\u0130ß", max_size=200
)


def judged(text: str) -> Decision:
    return decide(text, Neighbours(), GateSettings())


def fired(text: str, family: str) -> set[str]:
    return {item.pattern for item in judged(text).fired if item.family == family}


@given(ANY_TEXT)
def test_every_view_is_the_text_with_blanks_and_each_shows_less(text: str) -> None:
    views = read(text)
    for view in View:
        assert len(views.cased[view]) == len(views.lowered[view]) == len(text)
    for wider, narrower in zip(views.cased, views.cased[1:], strict=False):
        assert all(new == old or new in " \n" for old, new in zip(wider, narrower, strict=True))


@given(ANY_TEXT)
def test_every_family_gives_a_share_and_true_spans(text: str) -> None:
    views = read(text)
    for family, patterns in FAMILIES.items():
        for signal in (presence(family, patterns, views), density(family, patterns, views, len(text) // 4)):
            assert 0.0 <= signal.value <= 1.0
            assert (signal.value > 0.0) == bool(signal.fired)
            assert all(0 <= start < end <= len(text) for item in signal.fired for start, end in item.spans)


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_shares_and_names_are_unique(family: str) -> None:
    patterns = FAMILIES[family]
    assert all(0.0 < pattern.weight <= 1.0 for pattern in patterns)
    assert len({pattern.name for pattern in patterns}) == len(patterns)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("look:\n```\nx\n```", "code fence"),
        ("it is in /etc/hosts", "path"),
        ("open src/app/main.py please", "path"),
        ("open ~/notes", "path"),
        ("it is C:\\Users\\ada", "path"),
        ("edit config.yaml", "path"),
        ("nothing but vendor/, please", "path"),
        ("def add(a, b):\n    return a + b", "definition"),
        ("class Point:\n    x = 1", "definition"),
        ("function add(a, b) {", "definition"),
        ("fn main() {", "definition"),
        ("func (s *Server) Run() {", "definition"),
        ("export const add = (a, b) => a + b", "definition"),
        ("run git status", "shell command"),
        ("do pip install numpy first", "shell command"),
        ("use `make test` for that", "shell command"),
        ("python3 -m venv x", "shell command"),
        ("see https://example.org", "url"),
        ("clone git@github.com:a/b.git", "url"),
        ("Traceback (most recent call last):", "stack trace"),
        ("\tat com.acme.Main.run(Main.java:12)", "stack trace"),
        ("KeyError: 'x'", "stack trace"),
        ("commit 9f3c2e1 broke it", "hash"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "hash"),
    ],
)
def test_a_technical_sign_is_seen(text: str, name: str) -> None:
    assert name in fired(text, "technical")


@pytest.mark.parametrize(
    "text",
    [
        "every day we go out and make a plan",
        "go get some milk and go run in the park",
        "make sure you go, make coffee, make it count",
        "and/or he/she can pay with cash/card 24/7, either/or",
        "the party is on 12/05, or maybe 12/05/2024, between 9.30 and 11.15",
        "we drove at 120 km/h w/o a break, 50/50 chance",
        "the import of goods is a class of trade whose function is a test of patience",
        "Import duties rose. Class tomorrow: bring books. The function was lovely.",
        "she aced the test, class dismissed, function room booked",
        "the client/server metaphor, a test/exam, the app/website",
        "red/green/blue or yes/no/maybe",
        "I ate at 7, e.g. soup, i.e. broth, in the U.S. last year",
        "we use Node.js and Next.js at school",
        "the defaced facade cost 1234567 and was added in a decade",
        "find me a cat, then source some food, export the wine and sort it out",
        "my cat (the old one) sleeps; my dog(s) bark: a lot!",
        'he said "no" - twice -- and left...',
        "I got a B+ in class 3B; room 4a2",
        "We had a great time at Anna's (and Tom's) place :) <3",
        "Public transport is great. Final answer: select one from the list; return it to me",
        "Das Auto steht in der Garage. Où est la gare ? ¿Qué tal?",
    ],
)
def test_ordinary_prose_is_not_technical(text: str) -> None:
    assert judged(text).technical == 0.0, fired(text, "technical")


def test_two_strong_signs_make_a_turn_wholly_technical_and_one_does_not() -> None:
    assert 0.0 < judged("```\nx\n```").technical < 1.0
    assert judged("```\ndef f(x):\n    return x\n```").technical == 1.0
    assert judged("see /etc/hosts").technical == pytest.approx(0.75 / 1.5)


CODE = [
    "def my_name(self, i):\n    return self.names[i] if i > 10 else None\n",
    "import os\nfrom datetime import date\n\nBIRTHDAY = date(1987, 2, 3)\nmy_best = 42\nprint(BIRTHDAY, my_best)\n",
    "```js\n// I prefer tabs, my wife Anna said on 3 May\nconst a = 10;\n```",
    'public class Person {\n  private String name = "My name is Bob";\n  private int age = 42;\n}\n',
    "SELECT name, birthday FROM people WHERE city = 'Lisbon' AND age > 30;",
    '{"name": "Ada", "favourite": "tea", "born": "1987-02-03", "kg": 82}',
    "2024-05-02 10:11:09 INFO my manager is starting 10 workers\n2024-05-02 10:11:10 INFO done",
    "for (let i = 0; i < 10; i++) {\n  total += prices[i] * 1.25;\n}\n",
]


@pytest.mark.parametrize("code", CODE)
def test_conversational_structure_stays_low_on_pure_code(code: str) -> None:
    assert judged(code).personal <= 0.25, fired(code, "personal")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I really prefer tea to coffee.", "preference"),
        ("I don't eat meat", "preference"),
        ("my favourite colour is blue", "preference"),
        ("I\u2019d rather walk", "preference"),
        ("My name is Ada", "identity"),
        ("I'm allergic to nuts", "identity"),
        ("I live in Porto", "identity"),
        ("please always answer in French", "standing instruction"),
        ("Never use emojis.", "standing instruction"),
        ("Please remember that I moved.", "to be remembered"),
        ("My brother Luis called yesterday evening", "named person"),
        ("I met Dr. Meyer at the station", "named person"),
        ("the wedding takes place on 12 September 2026", "date"),
        ("it all started on 2021-03-04 I think", "date"),
        ("the train goes at 18:30 from here", "time"),
        ("the rent went up to 1,150 euros", "number"),
        ("you can reach us under ada@example.org any day", "contact"),
        ("ich wohne in Leipzig", "german"),
        ("Je préfère le thé", "french"),
        ("我叫李娜", "chinese"),
        ("меня зовут Олег", "russian"),
    ],
)
def test_a_personal_fact_is_seen(text: str, name: str) -> None:
    assert name in fired(text, "personal")


@pytest.mark.parametrize(
    "text",
    [
        "ok thanks",
        "I love it!",
        "What is my favourite colour?",
        "Do you know when my brother Luis was born?",
        "how many days are in March 2024",
        "I'd like to know more",
        "I am a bit tired",
        "Never mind",
        "Translate this: my name is Ada and I live in Porto since 2019.",
        "Set a timer for 12 minutes please",
        "Give me 10 facts about the year 1850",
    ],
)
def test_small_talk_questions_and_requests_carry_no_personal_fact(text: str) -> None:
    assert judged(text).personal == 0.0, fired(text, "personal")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("We decided to drop Python 3.9", "decision"),
        ("Fixed the crash in the parser", "fix"),
        ("we released v2.4.0 today", "release"),
        ("I changed max_connections to 200", "configuration"),
    ],
)
def test_an_action_is_seen(text: str, name: str) -> None:
    assert fired(text, "actionability") == {name}


def test_a_run_on_sentence_tells_before_it_asks() -> None:
    told = "I'm moving to Porto and I've decided to sell the car, can you help me with the papers?"
    assert "event" in fired(told, "personal")
    assert judged("can you help me with the papers, I've decided to sell the car?").personal == 0.0


def test_a_question_about_an_action_is_no_action() -> None:
    assert judged("Have we decided to drop Python 3.9?").actionability == 0.0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def f(x):\n    pass", "definition"),
        ("x: int = 3", "type"),
        ("from os import path", "import"),
        ("def test_it() -> None: ...", "test"),
        ("/** Adds. */", "doc comment"),
    ],
)
def test_the_bones_of_code_are_seen(text: str, name: str) -> None:
    assert name in fired(text, "structure")


def test_specificity_counts_distinct_things_against_the_length() -> None:
    assert judged("my dog(s) and box(es) are old").specificity == 0.0
    one, two = judged("see a.py").specificity, judged("see a.py and b.py").specificity
    assert (one, two) == (pytest.approx(0.2), pytest.approx(0.4))
    assert judged("see a.py and a.py and a.py").specificity == pytest.approx(one)
    assert judged("a.py b.py c.py d.py e.py f.py").specificity == 1.0
    at_the_edge = "see a.py" + " la" * ((400 - 8) // 3 + 1)
    assert judged(at_the_edge[:400]).specificity == pytest.approx(0.2)
    assert judged("see a.py" + " la" * 264).specificity == pytest.approx(0.2 / 2.0)


GROWTH = """
    a . / a/ a. 0a < <a ` - " ( a( @ a@ E 1 1, 1.1. v1. # Aa ~ x: = é 我 我在 ? A_ http:// c:\\
    export public import set my i I
    """.split()
SPACED = [
    "my ",
    "i really ",
    "the x ",
    "My son ",
    "set x ",
    "10 ",
    "\nat ",
    "\nclass A",
    '\nFile "',
    "word. ",
    " ",
    "\n",
    "\t",
]


def read_for_all(text: str) -> None:
    views = read(text)
    for family, patterns in FAMILIES.items():
        density(family, patterns, views, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*GROWTH, *SPACED], ids=repr)
def test_reading_takes_time_in_proportion_to_the_length(seed: str) -> None:
    assert grows_with_length(read_for_all, seed, 10_000)


@pytest.mark.slow
def test_a_megabyte_of_mixed_text_is_read_in_proportion() -> None:
    paragraph = "We moved src/app.py to /opt/x on 3 May, my wife Anna prefers it; f(x) failed with E1234. What now? "
    assert grows_with_length(read_for_all, paragraph, 125_000)


def test_no_pattern_repeats_without_bound_inside_a_repeat() -> None:
    patterns: list[Pattern] = [pattern for family in FAMILIES.values() for pattern in family]
    for pattern in patterns:
        assert "+)" not in pattern.regex.pattern.replace("\\+)", "").replace("+])", ""), pattern.name
        assert ".*" not in pattern.regex.pattern, pattern.name
