"""What a dream diary promotes to memory.

An entry is a list item with figures in braces, in a section about deep sleep, promotion or dreams:

    ## Deep sleep
    - Ada reviews every migration by hand. {score=.82 recall=3 unique=2}

Law of promotion: the text has at least 16 bytes, score >= .6, recall >= 2 (how often it was recalled), unique >= 2 (by
how many different questions). Of equal texts the first is promoted. A section below another inherits its topic unless
its own heading says otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from libravdb_memory.ingest.markdown import Block, BlockKind, parse

LEAST_BYTES = 16
LEAST_SCORE = 0.6
LEAST_RECALLS = 2
LEAST_QUESTIONS = 2

_ABOUT = re.compile(r"\bdeep[ -]sleep\b|\bpromot(?:e[ds]?|ions?|ing)\b|\bdream", re.I)
_NOT_ABOUT = re.compile(
    r"\b(?:light|rem)[ -]sleep\b|\b(?:not|never|un)[ -]?promoted\b|\bno promotions?\b|\breject", re.I
)
_BULLET = re.compile(r"[ \t]{0,64}(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_FIGURES = re.compile(r"\{([^{}]{1,200})\}[ \t]*\Z")
_FIGURE = re.compile(r"(?<![\w.])(score|recall|unique) ?[=:] ?([0-9]{0,9}\.?[0-9]{1,9})(?![\w.])", re.I)
_MARKUP = re.compile(r"[ \t]{0,3}#{1,6}[ \t]*|[ \t]+#+[ \t]*\Z")
_UNDERLINE = re.compile(r"\n[ \t]*(=+|-+)[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """`line` counts from 1 in the diary; `section` is the heading it stands under."""

    text: str
    score: float
    recall: int
    unique: int
    section: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Rejected:
    entry: Entry
    reason: str


@dataclass(frozen=True, slots=True)
class Judgement:
    promoted: tuple[Entry, ...]
    rejected: tuple[Rejected, ...]


def read_diary(text: str) -> tuple[Entry, ...]:
    """The entries of the sections about dreams, in order. Items without figures are prose of the diary."""
    return tuple(_entries(parse(text.encode())))


def judge(entries: Iterable[Entry]) -> Judgement:
    """Which entries become memory, and why the others do not."""
    promoted: dict[str, Entry] = {}
    rejected: list[Rejected] = []
    for entry in entries:
        if reason := _objection(entry, promoted):
            rejected.append(Rejected(entry, reason))
        else:
            promoted[entry.text.strip()] = entry
    return Judgement(tuple(promoted.values()), tuple(rejected))


def _objection(entry: Entry, promoted: dict[str, Entry]) -> str:
    text = entry.text.strip()
    if (size := len(text.encode("utf-8", "surrogatepass"))) < LEAST_BYTES:
        return f"has {size} bytes, fewer than {LEAST_BYTES}"
    if not (math.isfinite(entry.score) and entry.score <= 1):
        return f"score {entry.score:g} does not lie between 0 and 1"
    if entry.score < LEAST_SCORE:
        return f"score {entry.score:g} is below {LEAST_SCORE:g}"
    if entry.recall < LEAST_RECALLS:
        return f"recall {entry.recall} is below {LEAST_RECALLS}"
    if entry.unique < LEAST_QUESTIONS:
        return f"unique {entry.unique} is below {LEAST_QUESTIONS}"
    if text in promoted:
        return "is there twice"
    return ""


@dataclass(frozen=True, slots=True)
class _Section:
    level: int
    title: str
    counts: bool


def _entries(blocks: Iterable[Block]) -> Iterator[Entry]:
    above: list[_Section] = []
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            level, title = _heading(block.text)
            while above and above[-1].level >= level:
                above.pop()
            above.append(_Section(level, title, _counts(title, above)))
        elif block.kind is BlockKind.LIST_ITEM and above and above[-1].counts:
            yield from _of_item(block, above[-1].title)


def _counts(title: str, above: list[_Section]) -> bool:
    if _NOT_ABOUT.search(title):
        return False
    return bool(_ABOUT.search(title)) or (bool(above) and above[-1].counts)


def _heading(text: str) -> tuple[int, str]:
    if underline := _UNDERLINE.search(text):
        return (1 if underline[1][0] == "=" else 2), text[: underline.start()].strip()
    level = len(text.lstrip()) - len(text.lstrip().lstrip("#"))
    return level, _MARKUP.sub("", text).strip()


def _of_item(block: Block, section: str) -> Iterator[Entry]:
    """An item and the items nested in it; lines without a bullet go on with the one above."""
    start, parts = block.line, list[str]()
    for number, line in enumerate(block.text.splitlines(), block.line):
        if bullet := _BULLET.match(line):
            yield from _entry(" ".join(parts), section, start)
            start, parts = number, [line[bullet.end() :].strip()]
        else:
            parts.append(line.strip())
    yield from _entry(" ".join(parts), section, start)


def _entry(text: str, section: str, line: int) -> Iterator[Entry]:
    text = text.strip()
    if not (braces := _FIGURES.search(text)):
        return
    figures = {name.lower(): float(value) for name, value in _FIGURE.findall(braces[1])}
    if "score" in figures:
        yield Entry(
            text[: braces.start()].strip(),
            figures["score"],
            int(figures.get("recall", 0)),
            int(figures.get("unique", 0)),
            section,
            line,
        )
