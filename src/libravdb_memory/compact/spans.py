"""Facts that a summary must not lose: identifiers, numbers, dates, paths, addresses, names and negations.

Laws: spans lie inside the text and are what it says there, letter by letter; they are ordered and, negations aside,
disjoint; linear in the text. Two spans are the same fact when their keys are equal: capitals, the grouping of digits
and the spelling of units do not count ("60_000 ms" is "60,000 ms", "30 seconds" is "30s").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from libravdb_memory.compact.chatter import IDLE
from libravdb_memory.compact.sentences import sentence_spans
from libravdb_memory.compact.shapes import (
    DATE,
    ENDINGS,
    FILLERS,
    FOLDERS,
    NEGATION,
    NUMBER,
    PIECE,
    PLACE,
    PLEASANT_DENIALS,
    UNITS,
    URL,
    WORD,
)

Kind: TypeAlias = Literal["identifier", "path", "url", "date", "number", "name", "negation"]

_SCAN = re.compile(
    rf"`(?P<code>[^`\s]{{2,80}})`|(?<![\w/])(?P<place>{PLACE})|(?P<piece>(?<!\w){PIECE})|(?<![\w/])(?:(?P<url>{URL})|(?P<date>(?<![.:-]){DATE}))"
    rf"|(?<![\w.])(?P<number>{NUMBER})|(?P<word>{WORD})"
)
_LIST_NUMBER = re.compile(r"^[ \t]*(?:[-*+>][ \t]+)?(\d{1,3})[.)][ \t]", re.M)
_NAME_WORD = re.compile(r"@?[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_DIGIT_AND_LETTER = re.compile(r"\d.*[^\W\d_]|[^\W\d_].*\d")
_DOTTED = re.compile(r"\w{2,}(?:\.\w+)+|\w(?:\.\w+){0,3}\.\w{2,}(?:\.\w+)*|\d+(?:[.:]\d+){2,}")
_FLAG = re.compile(r"--[A-Za-z][\w-]*(?:=\S+)?")
_ASSIGNED = re.compile(r"\w=\S|\w::\w|\w->\w")
_FIGURES = re.compile(r"\d+(?:[.:]\d+)?")
_ORDINAL = re.compile(r"\d{1,4}(?:st|nd|rd|th|s|x)", re.I)
_ROOTED = re.compile(r"(?:~|\.{1,2})?/\w|[A-Za-z]:\\\w|~/|\.\.?/")
_GROUPING = re.compile(r"(?<=\d)[_, ](?=\d{3}(?!\d))")
_UNIT = re.compile(r"(?<=\d)[ -]?([^\W\d_]+|%|°\w?)$")
_NOT_NAMES = frozenset("I I'm I'd I'll I've I’m I’d I’ll I’ve OK Ok Yes No Not The A TODO FIXME".split())
_LISTED = re.compile(r"(?<!\S)(?:[-*+•◦‣–—>]|#{1,6}|\d{1,3}[.)]|[A-Za-z][.)]|=+|\[[ xX]\])[ \t]{1,3}$")
_OPENED = re.compile(r"(?:\w: |\s[-–—] |(?<!\S)[\"“„‘'«(\[*_]{1,3})$")
_LOOK_BEHIND = 12
_POSSESSIVE = re.compile(r"['’]s?$")
_ENOUGH_TO_TELL, _MOSTLY_CAPITALS = 8, 0.25
"""Where so many words have capitals (German, titles), one alone is no name."""


@dataclass(frozen=True, slots=True)
class Span:
    """A fact where it stands: `text` is what stands between `start` and `end`."""

    kind: Kind
    start: int
    end: int
    text: str

    @property
    def key(self) -> str:
        return _KEYS.get(self.kind, folded)(self.text)


def spans(text: str) -> tuple[Span, ...]:
    """Every fact of a text, in order."""
    numbering = {found.start(1) for found in _LIST_NUMBER.finditer(text)}
    found = [span for match in _SCAN.finditer(text) if match.start() not in numbering and (span := _span(match))]
    found += _names(text, found)
    found += filter(None, map(_negation, NEGATION.finditer(text)))
    return tuple(sorted(found, key=lambda span: (span.start, span.end)))


def folded(text: str) -> str:
    """The form in which texts are compared: without capitals, code marks and differences of white space."""
    return " ".join(unicodedata.normalize("NFKC", text).replace("`", "").casefold().split())


def holds(text: str, fact: str) -> bool:
    """Whether a text holds a fact as a whole, not as a part of a longer word or number. Both are folded."""
    place = text.find(fact) if fact else -1
    while place >= 0:
        end = place + len(fact)
        if not _continues(text[max(place - 2, 0) : place][::-1]) and not _continues(text[end : end + 2]):
            return True
        place = text.find(fact, place + 1)
    return False


def _continues(outward: str) -> bool:
    """Whether a word goes on with these characters, read away from it: a dot only counts between digits."""
    return outward[:1].isalnum() or outward[:1] == "_" or (outward[:1] in (".", ",") and outward[1:].isdigit())


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _span(match: re.Match[str]) -> Span | None:
    group = match.lastgroup or ""
    start = match.start(group)
    text = match.group(group)
    if group == "piece":
        return None
    if group == "word":
        if text.isalpha() and text.islower():
            return None
        start, text = _trimmed(start, text)
    elif group in ("url", "date", "code"):
        text = text.rstrip(".,;:!?)]}*'’" if group == "url" else ".,;:")
    kind = _kind(group, text)
    return Span(kind, start, start + len(text), text) if kind is not None else None


def _kind(group: str, text: str) -> Kind | None:
    match group:
        case "url":
            return "url"
        case "date":
            return "date"
        case "number":
            return "number"
        case "place":
            return "path"
        case "code":
            return _word_kind(text) or ("identifier" if any(map(str.isalnum, text)) else None)
        case _:
            return _word_kind(text)


def _trimmed(start: int, word: str) -> tuple[int, str]:
    word = word.rstrip(".:*=&+-~\\")
    kept = word.lstrip("*:=&%+" if not word.startswith("-") or _FLAG.fullmatch(word) else "*:=&%+-")
    return start + len(word) - len(kept), kept


def _word_kind(word: str) -> Kind | None:
    if _FIGURES.fullmatch(word) or _ORDINAL.fullmatch(word):
        return "number"
    if len(word) < 2:
        return None
    if _is_path(word):
        return "path"
    if word[0] == "@" and word[1:].replace("-", "").isalnum():
        return "name"
    return "identifier" if _is_identifier(word) else None


def _is_path(word: str) -> bool:
    if "/" not in word and "\\" not in word:
        stem, dot, ending = word.rpartition(".")
        return bool(dot and stem and ending.lower() in ENDINGS) or word in ("Makefile", "Dockerfile", ".env")
    if not any(map(str.isalpha, word)):
        return False
    parts = [part for part in re.split(r"[/\\]", word) if part]
    return bool(
        _ROOTED.match(word)
        or len(parts) > 2
        or any(not part.isalpha() for part in parts)
        or (parts and parts[0] in FOLDERS)
    )


def _is_identifier(word: str) -> bool:
    if word[0] == "#":
        return word[1:].isdigit()
    if not any(map(str.isalnum, word)):
        return False
    return bool(
        "_" in word.strip("_*")
        or _DIGIT_AND_LETTER.search(word)
        or _CAMEL.search(word)
        or _DOTTED.fullmatch(word)
        or _FLAG.fullmatch(word)
        or _ASSIGNED.search(word)
    )


def _names(text: str, found: Iterable[Span]) -> Iterator[Span]:
    """Words with a capital that nothing begins with, neighbours as one."""
    taken = [(span.start, span.end) for span in found]
    first = {start for start, _ in sentence_spans(text)}
    words = [match for match in _NAME_WORD.finditer(text) if not _begins(text, match, first)]
    capitals = [match for match in words if match.group()[0].isupper() and match.group() not in _NOT_NAMES]
    crowded = len(words) >= _ENOUGH_TO_TELL and len(capitals) > _MOSTLY_CAPITALS * len(words)
    for start, end in _outside(_joined(text, capitals), taken):
        name = _POSSESSIVE.sub("", text[start:end])
        if " " in name or (len(name) > 1 and not crowded and not _says_nothing(text, name, end)):
            yield Span("name", start, start + len(name), name)


def _says_nothing(text: str, name: str, end: int) -> bool:
    """Whether a word is called in code, or holds sentences together ("What", "How")."""
    return text[end : end + 1] == "(" or name.casefold() in IDLE


def _negation(match: re.Match[str]) -> Span | None:
    """With the words behind it, up to the last that says something; nothing where only kindness is denied."""
    negator, *words = match.group().rstrip(".").split(" ")
    while len(words) > 1 and words[-1].lower() in FILLERS:
        words.pop()
    text = " ".join((negator, *words))
    if _negation_key(text).removeprefix("not ") in PLEASANT_DENIALS:
        return None
    return Span("negation", match.start(), match.start() + len(text), text)


def _begins(text: str, word: re.Match[str], first: set[int]) -> bool:
    """Whether a sentence begins here, signs and the mark of a list before it aside; or something that is said behind a
    colon, a dash or an opening sign, which goes on in small letters."""
    place = word.start()
    if _OPENED.search(text, max(place - _LOOK_BEHIND, 0), place) and _goes_on(text[word.end() : word.end() + 2]):
        return True
    while place not in first and place > 0 and not text[place - 1].isalnum() and text[place - 1] not in " \t\n":
        place -= 1
    if place not in first and (marked := _LISTED.search(text, max(place - _LOOK_BEHIND, 0), place)):
        place = marked.start()
    return place in first


def _goes_on(behind: str) -> bool:
    return behind[:1] == " " and (behind[1:].islower() or behind[1:].isdigit())


def _joined(text: str, words: Iterable[re.Match[str]]) -> Iterator[tuple[int, int]]:
    current: tuple[int, int] | None = None
    for word in words:
        if current is not None and text[current[1] : word.start()] == " ":
            current = (current[0], word.end())
            continue
        if current is not None:
            yield current
        current = word.span()
    if current is not None:
        yield current


def _outside(candidates: Iterable[tuple[int, int]], taken: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those that touch none of the taken; both ascending."""
    position = 0
    for start, end in candidates:
        while position < len(taken) and taken[position][1] <= start:
            position += 1
        if position == len(taken) or taken[position][0] >= end:
            yield start, end


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _number_key(text: str) -> str:
    plain = _GROUPING.sub("", folded(text)).lstrip("~≈+").replace("–", "-")
    return _UNIT.sub(lambda unit: UNITS.get(unit[1], unit[1]), plain)


def _negation_key(text: str) -> str:
    """What is denied: the first word behind the negation that says something."""
    negator, *words = folded(text).split()
    told = next((word for word in words if word not in FILLERS), "")
    return f"not {told}" if told else f"not {negator}"


def _address_key(text: str) -> str:
    return folded(text).rstrip("/")


_KEYS: dict[Kind, Callable[[str], str]] = {
    "number": _number_key,
    "negation": _negation_key,
    "url": _address_key,
    "path": _address_key,
}
