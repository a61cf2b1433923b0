"""What a question asks for, read from its words alone.

Laws: reading is deterministic and linear; a question without any of these cues asks for nothing special. English.

- A participant who is named is spoken of as "I" in the form handed to the model, a second one as "you": turns are in
  the first person, and a small model compares first persons far better than a name with an "I".
- Of a very long text (a pasted log, a file) the beginning and the end count: that is where one says what one wants, and
  what a question costs is bounded.
- Identifiers are what must be found letter by letter: codes, paths, versions, flags, names_with_underscores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from libravdb_memory.retrieve.query import EDGES, STOP_WORDS

Person: TypeAlias = Literal["first", "second", "other"]

_MONTHS: Sequence[str] = "january february march april may june july august september october november december".split()
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b", re.I)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|i'm|i've|myself)\b", re.I)
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours)\b", re.I)
_WHEN = re.compile(r"\b(?:when|how long|(?:what|which) (?:date|day|time|month|year|week))\b", re.I)
_PAST = re.compile(
    r"\b(?:did|was|were|had|before|originally|initially|first|used to|ago|when|earlier|previous(?:ly)?|history"
    r"|happened|went|came|decided|asked|said|told|wrong|caused|broke|failed|found)\b"
    r"|\bbetween\b|^\W*have\b",
    re.I,
)
"""Also spans between two moments, and what has ever happened: neither asks for one state."""
_PRESENT = re.compile(
    r"\b(?:is|are|do|does|has|have|can|should|must)\b|['’]s\b|^\W*(?:what|which|where|who|how)\b", re.I
)
_NOW = re.compile(
    r"\b(?:current(?:ly)?|now|latest|today|still|these days|nowadays|at the moment|as of|newest|most recent(?:ly)?)\b",
    re.I,
)
_NAME = re.compile(r"[^\W\d_]\w*")
"""A name begins with a letter; what is made by machines goes on with anything (SPEAKER_00, user42)."""
_POSSESSIVE = re.compile(r"['’]s$", re.I)
_JOINED = re.compile(r"\w(?:[._/:#@\\-]|::|:\\)\w|^[/~.]{1,2}/?\w*/|^--?\w|_|^[#.]\w")
_HYPHENATED_WORDS = re.compile(r"[^\W\d_]+(?:[-/][^\W\d_]+)+")
_CAMEL = re.compile(r"[a-z][A-Z]")
_DIGIT_AND_LETTER = re.compile(r"(?=.*\d)(?=.*[^\W\d_])")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)", re.I)
_LONG_NUMBER = re.compile(r"\d{3,}")
_ORDINARY = STOP_WORDS | {"may", "user", "assistant", "system", "tool"}
"""Words that name somebody only where a capital letter says so."""
_MOST_IDENTIFIERS = 8
READ_AT_EACH_END = 6_000
"""Characters. A small model reads the two ends in a dozen passes."""
_LONGEST_IDENTIFIER = 200


@dataclass(frozen=True, slots=True)
class Question:
    """`spoken` is the form for the model, `named` the participants in order of appearance (lower case). `months` are
    1..12. `wants_latest` rises from 0 (about the past) over .5 (about what is) to 1 (says "now"). `shortened`: what is
    asked was too long to be read as a whole, and `text` is what was read."""

    text: str
    spoken: str
    named: tuple[str, ...]
    person: Person
    months: frozenset[int]
    years: frozenset[int]
    asks_when: bool
    wants_latest: float
    identifiers: tuple[str, ...]
    shortened: bool = False


def read_question(text: str, participants: Iterable[str] = ()) -> Question:
    whole, text = text, what_counts(text)
    named = _named(text, participants)
    return Question(
        text=text,
        spoken=_spoken(text, named),
        named=tuple(dict.fromkeys(person for _, person in named)),
        person=_person(text),
        months=frozenset(_months(text)),
        years=frozenset(int(year) for year in _YEAR.findall(text)),
        asks_when=_WHEN.search(text) is not None,
        wants_latest=_wants_latest(text),
        identifiers=identifiers_of(text),
        shortened=text is not whole,
    )


def what_counts(text: str) -> str:
    """A text as far as it is read as a question: all of it, or its two ends."""
    if len(text) <= 2 * READ_AT_EACH_END + 1:
        return text
    return f"{text[:READ_AT_EACH_END]}\n{text[-READ_AT_EACH_END:]}"


def identifiers_of(text: str) -> tuple[str, ...]:
    """In order of appearance, without repeats, in lower case."""
    found: dict[str, None] = {}
    for chunk in text.split():
        word = _POSSESSIVE.sub("", chunk.lstrip(EDGES_OF_IDENTIFIERS).rstrip(EDGES_OF_IDENTIFIERS + "."))
        if 2 <= len(word) <= _LONGEST_IDENTIFIER and _is_identifier(word):
            found[word.lower()] = None
            if len(found) == _MOST_IDENTIFIERS:
                break
    return tuple(found)


EDGES_OF_IDENTIFIERS = EDGES.replace(".", "").replace("_", "") + "…"


def mentions_exactly(text: str, identifier: str) -> bool:
    """Whether a text (in lower case) holds the identifier as a whole, not as a part of a longer one."""
    start = text.find(identifier)
    while start >= 0:
        end = start + len(identifier)
        before, after = text[max(start - 2, 0) : start][::-1], text[end : end + 2]
        if not _continues(before[:1], before[1:]) and not _continues(after[:1], after[1:]):
            return True
        start = text.find(identifier, start + 1)
    return False


def _continues(character: str, beyond: str) -> bool:
    """Whether an identifier goes on with this character; a dot or dash only with a letter or digit behind it."""
    return character.isalnum() or character == "_" or (character in (".", "-") and beyond.isalnum())


def _is_identifier(word: str) -> bool:
    if _ORDINAL.fullmatch(word) or _HYPHENATED_WORDS.fullmatch(word) or _YEAR.fullmatch(word):
        return False
    return bool(
        _DIGIT_AND_LETTER.search(word) or _JOINED.search(word) or _CAMEL.search(word) or _LONG_NUMBER.fullmatch(word)
    )


def _named(text: str, participants: Iterable[str]) -> list[tuple[str, str]]:
    """How participants are called, with whom it means, in order: a full name, or the first word of one."""
    called: dict[str, list[str]] = {}
    for person in participants:
        if word := _NAME.search(person):  # before lowering, which takes some letters apart
            called.setdefault(word.group().lower(), []).append(person.lower())
    lowered = text.lower()
    found: dict[str, tuple[str, str] | None] = {}
    for place, word in enumerate(_NAME.findall(text) if called else ()):
        name = word.lower()
        if name not in found and name in called and (word.lower() not in _ORDINARY or (place and word[0].isupper())):
            found[name] = _meant(name, called[name], lowered)
    return [meant for meant in found.values() if meant is not None]


def _meant(word: str, people: Sequence[str], lowered: str) -> tuple[str, str] | None:
    """Whoever's full name is there, the longest one; else the only one who is called so."""
    in_full = [person for person in people if mentions_exactly(lowered, person)]
    if in_full:
        person = max(in_full, key=len)
        return person, person
    return (word, people[0]) if len(people) == 1 else None


def _spoken(text: str, named: list[tuple[str, str]]) -> str:
    if not named:
        return text
    (first, _), *others = named
    spoken = _replaced(text, first, "I", "my")
    for called, _ in others:
        spoken = _replaced(spoken, called, "you", "your")
    if others:
        return spoken
    spoken = re.sub(r"\b(?:he|she)\b", "I", spoken, flags=re.I)
    return re.sub(r"\b(?:his|her)\b", "my", spoken, flags=re.I)


def _replaced(text: str, name: str, subject: str, possessive: str) -> str:
    name = re.escape(name)
    text = re.sub(rf"\b{name}(?:['’]s|s['’]|(?<=s)['’])", possessive, text, flags=re.I)
    return re.sub(rf"\b{name}\b", subject, text, flags=re.I)


def _person(text: str) -> Person:
    if _SECOND_PERSON.search(text):
        return "second"
    return "first" if _FIRST_PERSON.search(text) else "other"


def _months(text: str) -> Iterable[int]:
    for found in _MONTH.finditer(text):
        name = found.group()
        if name.lower() != "may" or name[0] == "M":  # "may" is a verb far more often
            yield _MONTHS.index(name.lower()) + 1


def _wants_latest(text: str) -> float:
    if _NOW.search(text):
        return 1.0
    return 0.5 if _PRESENT.search(text) and not _PAST.search(text) else 0.0
