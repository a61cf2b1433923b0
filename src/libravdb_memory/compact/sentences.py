"""Sentences of a text, in any script.

A line that is a list item, a heading, a table row, code or a place in it with what is there stands alone; wrapped lines
of prose run on. Inside a line a sentence ends at a mark of its script, unless the mark belongs to an abbreviation, an
initial, a number, a name with dots, stands for something left out of code, or inside a quotation, a parenthesis, a code
span or an address.

Laws: spans are ordered and disjoint, have no white space at their edges, and everything outside them is white space;
linear in the text.

Capitals are a hint only: people who chat begin sentences in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from libravdb_memory.compact.endings import (
    BEFORE_NUMBERS,
    BEFORE_ORDINALS,
    DAYS_AND_ZONES,
    MONTHS,
    NEVER_LAST,
    SELDOM_LAST,
    STARTERS,
)

Span: TypeAlias = tuple[int, int]
"""Start and end, the end exclusive."""

_LINE = re.compile(r"[^\n]+")
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_ALONE = re.compile(
    r"[ \t]*(?:[-*+•◦‣–—][ \t]|\d{1,3}[.)][ \t]|[A-Za-z][)][ \t]|#{1,6}[ \t]|[|>]|[-=*_]{3,}[ \t]*$|\$[ \t])"
)
_DIAGNOSTIC = re.compile(r"[^\s:]{1,200}:\d{1,7}:")
"""What grep, compilers and the like print: a place, and what is there."""
_MARKER = re.compile(r"[ \t]*(?:[-*+•◦‣–—][ \t]+)?(?:\d{1,3}|[A-Za-z])\.[ \t]")
_WRAPPED_FROM = 60
"""Characters from which a line may have been broken for its length."""

_FULL = "。！？｡．।॥؟۔։።፧။។‽"
_END = re.compile(rf"[.!?…]+|[{_FULL}]+|;(?=\s|$)|;")
_CLOSERS = re.compile(r"[ \u00a0]?»|[\"'”’“›」』）】》)\]}*_~`]")
_PROTECTED = re.compile(
    r"\([^()\n]{1,200}\)|（[^（）\n]{1,200}）|`[^`\n]{1,200}`|“[^“”\n]{1,200}”|„[^„“”\n]{1,200}[“”]|«[^«»\n]{1,200}»"
    r"|「[^「」\n]{1,200}」|『[^『』\n]{1,200}』|(?<![\w\"])\"(?=\S)[^\"\n]{1,200}(?<=\S)\"(?!\w)"
    r"|\b[a-z][a-z0-9+]{1,10}://[^\s<>\"'`]{1,300}"
)
_WORD_BEFORE = re.compile(r"[^\s\"“„«(\[{/=<>,;:]{1,24}$")
_WORD_AFTER = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_SPACED_ABBREVIATION = re.compile(r"(?:^|[\s(])[^\W\d_]\.[ \u00a0]?[^\W\d_]{1,2}$")
_GOES_ON = re.compile(r"[ \u00a0]?[^\W\d_]{1,2}\.")
_SYMBOL_BEFORE = re.compile(r"(?:(?<![^\W_])[A-Z_]{2,24}|[^\w\s.!?…\"'”’]|\d)[ \t]{0,2}$|[ \t]$")
_SYMBOL_AFTER = re.compile(r"[ \t]{1,2}(?:[A-Z_]{2,24}(?![^\W_])|[^\w\s\"'“‘]|\d)")
_ATTRIBUTION = re.compile(r"(?:と|って|[他她我你它们]{0,2}\w{0,2}[说說道问問喊答叫])")
_LOOK_BEHIND = 26


def sentence_spans(text: str) -> tuple[Span, ...]:
    return tuple(
        span
        for first, last, whole in _blocks(text)
        for span in (((first, last),) if whole else _sentences(text, first, last))
    )


def sentences(text: str) -> tuple[str, ...]:
    """
    >>> sentences("Dr. Lee set v1.2. Nobody asked why.")
    ('Dr. Lee set v1.2.', 'Nobody asked why.')
    """
    return tuple(text[start:end] for start, end in sentence_spans(text))


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Stretches that sentences do not cross, without white space around them, and whether they are one whole: a line of
    code or of a table."""
    block: Span | None = None
    for line, whole in _lines(text):
        if block is not None and not whole and _runs_on(text, block, line):
            block = (block[0], line[1])
            continue
        if block is not None:
            yield *block, False
        block = None if whole else line
        if whole:
            yield *line, True
    if block is not None:
        yield *block, False


def _lines(text: str) -> Iterator[tuple[Span, bool]]:
    """Lines that are not blank, trimmed, and whether they are code or a row of a table."""
    inside = False
    for found in _LINE.finditer(text):
        fence = _FENCE.match(found.group()) is not None
        line = _trimmed(text, *found.span())
        if line is not None:
            yield line, inside or fence or text[line[0]] == "|"
        inside ^= fence


def _runs_on(text: str, block: Span, line: Span) -> bool:
    """Whether a line continues the one above it."""
    above = text.rfind("\n", block[0], block[1]) + 1 or block[0]
    if text.count("\n", block[1], line[0]) != 1 or _begins_anew(text, *line):
        return False
    if text[above] == "#" or text[block[1] - 1] == ":":
        return False
    return block[1] - above >= _WRAPPED_FROM and not _is_code(text[above : block[1]])


def _begins_anew(text: str, first: int, last: int) -> bool:
    return any(begins.match(text, first, last) for begins in (_ALONE, _DIAGNOSTIC))


def _is_code(line: str) -> bool:
    return line[-1] in "{};\\" or line.startswith(("$ ", "    ", "at ")) or _DIAGNOSTIC.match(line) is not None


# ── marks ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _sentences(text: str, first: int, last: int) -> Iterator[Span]:
    start = first
    regions = _Regions(found.span() for found in _PROTECTED.finditer(text, first, last))
    marker = _MARKER.match(text, first, last)
    after_marker = marker.end() if marker else first
    for mark in _END.finditer(text, after_marker, last):
        end = _past_closers(text, mark.end(), last)
        if end >= last:
            break
        if regions.hold(end) or not _ends(text, start, mark, end):
            continue
        if span := _trimmed(text, start, end):
            yield span
        start = end
    if span := _trimmed(text, start, last):
        yield span


class _Regions:
    """Stretches within which nothing ends, asked in ascending order."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = iter(spans)
        self._current: Span | None = next(self._spans, None)

    def hold(self, place: int) -> bool:
        while self._current is not None and self._current[1] <= place:
            self._current = next(self._spans, None)
        return self._current is not None and self._current[0] < place


def _past_closers(text: str, place: int, last: int) -> int:
    while found := _CLOSERS.match(text, place, last):
        place = found.end()
    return place


def _ends(text: str, start: int, mark: re.Match[str], end: int) -> bool:
    """Whether the mark ends a sentence; `end` is behind the quotes and brackets that close with it."""
    sign, quoted = mark.group(), text[mark.end() : end].strip("*_~` ")
    following = text[end]
    if sign[0] in _FULL:
        return not (quoted and _ATTRIBUTION.match(text, end))
    if sign == ";":
        return _is_greek(text[mark.start() - 1]) and following.isspace()
    if not following.isspace():
        return _ends_without_space(text, mark, end)
    after = _first_behind(text, end)
    if after in "—–" or (quoted and after.islower()):
        return False
    if sign == ".":
        return _stop_ends(text, start, mark.start(), end)
    return not (sign in _ELLIPSES and (after.islower() or _leaves_out(text, mark, end)))


_ELLIPSES = ("...", "…", "..", "....", "……")


def _leaves_out(text: str, mark: re.Match[str], end: int) -> bool:
    """ "INSERT ... ON CONFLICT", "1 ... 9": the mark stands for something, between signs or words in capitals."""
    before = _SYMBOL_BEFORE.search(text, max(mark.start() - _LOOK_BEHIND, 0), mark.start())
    return before is not None and _SYMBOL_AFTER.match(text, end) is not None


def _ends_without_space(text: str, mark: re.Match[str], end: int) -> bool:
    """ "Really?Yes!" and the dense scripts, which need no space."""
    following = text[end]
    if mark.group()[-1] in "!?":
        return (following.isupper() and text[mark.start() - 1].isalpha()) or _is_dense(following)
    if mark.group() in _ELLIPSES:
        return _is_dense(following)
    return mark.group() == "." and _is_dense(following) and _is_dense(text[mark.start() - 1])


def _stop_ends(text: str, start: int, stop: int, end: int) -> bool:
    before = _WORD_BEFORE.search(text, max(start, stop - _LOOK_BEHIND), stop)
    word = before.group().lstrip("*_~`'’‘”") if before else ""
    after = _first_behind(text, end)
    found = _WORD_AFTER.match(text, text.index(after, end)) if after else None
    following = found.group().lower() if found else ""
    if word.isdigit():
        return not _is_ordinal(text, start, stop - len(word), word, following)
    if (verdict := _by_list(text, stop, word.lower(), after, following)) is not None:
        return verdict
    begins = following in STARTERS and not after.islower()
    if _SPACED_ABBREVIATION.search(text, max(start, stop - 8), stop) or _ACRONYM.fullmatch(word):
        return begins
    if len(word) == 1 and word.isalpha():
        return (word.islower() or begins) and not _GOES_ON.match(text, end)
    return True


def _by_list(text: str, stop: int, word: str, after: str, following: str) -> bool | None:
    """What the lists of abbreviations say, if anything."""
    if word in NEVER_LAST or (word == "г" and not text[max(stop - 3, 0) : stop - 1].rstrip()[-1:].isdigit()):
        return False
    if word in SELDOM_LAST:
        return not (after.islower() or after.isdigit() or following in DAYS_AND_ZONES or following in MONTHS)
    if word in BEFORE_NUMBERS and after.isdigit():
        return False
    return None


def _is_ordinal(text: str, start: int, place: int, digits: str, following: str) -> bool:
    if len(digits) > 2:
        return False
    if following in MONTHS:
        return True
    words = text[max(start, place - _LOOK_BEHIND) : place].split()
    return bool(words) and words[-1].lower() in BEFORE_ORDINALS


def _first_behind(text: str, place: int) -> str:
    """The next character that is neither white space nor an opening sign."""
    while place < len(text) and (text[place].isspace() or text[place] in "\"'“‘„«([{*_~`¿¡"):
        place += 1
    return text[place : place + 1]


def _is_dense(character: str) -> bool:
    return "\u0900" <= character <= "\u097f" or "\u3040" <= character <= "\u9fff"


def _is_greek(character: str) -> bool:
    return "\u0370" <= character <= "\u03ff" or "\u1f00" <= character <= "\u1fff"


def _trimmed(text: str, start: int, end: int) -> Span | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def turn_sentences(texts: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """The sentences of several texts, each with the number of its text."""
    return tuple((number, sentence) for number, text in enumerate(texts) for sentence in sentences(text))
