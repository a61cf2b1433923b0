"""The deontic scanner: which clauses of a text oblige, forbid or permit.

Law: `scan` is a pure function of the text, linear in its length; marks are ordered, disjoint, inside the text and
without surrounding white space. What it recognises, and what it leaves alone, is listed in docs/deontic.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .blocks import Block, blocks
from .clause import Modality
from .rules import rules
from .tokens import sentences, tokenize

__all__ = ["Mark", "Modality", "Scan", "scan"]

BEFORE, AFTER = "*_~([\"“‘'", "*_~)]\"”’'"


@dataclass(frozen=True, slots=True)
class Mark:
    """One rule: its modality and its clause, as code point offsets into the scanned text."""

    modality: Modality
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scan:
    """All rules of a text, in order."""

    marks: tuple[Mark, ...]

    @property
    def promoted(self) -> bool:
        """Whether the text holds any rule."""
        return bool(self.marks)


def scan(text: str) -> Scan:
    """The rules of a text.

    >>> [mark.modality for mark in scan("Run the tests. Never force-push.").marks]
    ['obligatory', 'forbidden']
    """
    marks: list[Mark] = []
    for block in blocks(text):
        for modality, start, end in sorted(_found(text, block), key=lambda found: found[1]):
            floor = marks[-1].end if marks else 0
            if start >= floor:
                marks.append(_mark(text, modality, start, end, floor, block.end))
    return Scan(tuple(marks))


def _found(text: str, block: Block) -> Iterator[tuple[Modality, int, int]]:
    """The rules of a block; what stands in parentheses is read strictly: "dist/ (do not edit)"."""
    tokens, asides = tokenize(text, block.start, block.end)
    for sentence in sentences(tokens):
        yield from rules(sentence, strict=block.strict)
    for aside in asides:
        for sentence in sentences(aside):
            yield from rules(sentence, strict=True)


def _mark(text: str, modality: Modality, start: int, end: int, floor: int, ceiling: int) -> Mark:
    """Take the emphasis and brackets around a clause into its span."""
    while start > floor and text[start - 1] in BEFORE:
        start -= 1
    while end < ceiling and text[end] in AFTER:
        end += 1
    return Mark(modality, start, end)
