"""Lines to blocks: which stretches of a Markdown-ish text are read as prose, and how strictly.

Law: blocks are ordered, disjoint ranges of the text; fenced code belongs to none of them. A heading or a table row is
read strictly: "## Run the tests" names a section, "## Never edit generated files" is still a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

QUOTED = re.compile(r"[ \t]*+(?:>[ \t]*+)*+")
BULLET = re.compile(r"(?:[-*+•‣◦·]|\d{1,4}[.)]|[A-Za-z][.)])[ \t]++(?:\[[ xX]\][ \t]++)?+")
FENCES = ("```", "~~~")
WRAPPED_LINE = 60
SHORT_LINE = 40
FRESH_STARTS = ("always", "never", "don't", "dont", "please", "pls", "you ", "also ", "do not")


@dataclass(frozen=True, slots=True)
class Block:
    start: int
    end: int
    strict: bool


def blocks(text: str) -> Iterator[Block]:
    """The readable blocks of a text, in order."""
    fence, last_line, position = "", "", 0
    opened: Block | None = None  # the paragraph under way
    for line in text.splitlines(keepends=True):
        begin, position = position, position + len(line)
        offset, is_item = _body_offset(line)
        content = line[offset:].strip()
        if fence or content.startswith(FENCES):
            fence, alone = _fence_after(fence, content), None
        elif not content or _stands_alone(content):
            alone = Block(begin + offset, position, strict=True)
        else:
            if opened and not (is_item or _starts_afresh(content, last_line)):
                opened = Block(opened.start, position, strict=False)
            else:
                if opened:
                    yield opened
                opened = Block(begin + offset, position, strict=False)
            last_line = content
            continue
        yield from (block for block in (opened, alone) if block)
        opened = None
    if opened:
        yield opened


def _body_offset(line: str) -> tuple[int, bool]:
    """Where the words of a line begin, and whether a list marker stands before them."""
    quoted = QUOTED.match(line)
    begin = quoted.end() if quoted else 0
    bullet = BULLET.match(line, begin)
    return (bullet.end(), True) if bullet else (begin, False)


def _fence_after(fence: str, content: str) -> str:
    """The fence that is open after this line: a fence closes with its own kind and nothing behind it."""
    if not fence:
        return content[:3]
    return "" if content.startswith(fence) and not content.strip("`~") else fence


def _stands_alone(content: str) -> bool:
    """Headings, table rows and rulers stand alone."""
    return (content.startswith(("#", "|")) and not content[1:2].isalnum()) or not any(map(str.isalnum, content))


def _starts_afresh(content: str, last_line: str) -> bool:
    """Whether a line begins a new block although no blank line precedes it."""
    if last_line.endswith(":"):
        return True
    if content[0].isupper() and len(last_line) < WRAPPED_LINE:
        return True
    return len(last_line) < SHORT_LINE and content.lower().startswith(FRESH_STARTS)
