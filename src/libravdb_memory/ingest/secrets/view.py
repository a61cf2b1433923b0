"""What the rules read: the text with everything already masked blanked out, place by place.

Law: a rule matches no blanked character and nothing that touches one, so blanking can only take matches away. That is
why one pass is enough: what is left after masking holds nothing that a second pass would find.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

FILL = "\uffa0"
"""Stands for masked characters: a letter that no pattern of a secret names."""

JOINS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-" + FILL)
"""Characters that, directly before a token, make it the end of something longer."""

_ESCAPED = re.compile(r"(?:\\[nrt]|%[0-9A-Fa-f]{2}|\\u00[0-9a-f]{2})$")


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret: what it is, and where, as code point offsets."""

    kind: str
    start: int
    end: int


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with these spans, ascending and disjoint, filled."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces += (text[position:start], FILL * (end - start))
        position = end
    return "".join((*pieces, text[position:]))


def lowered(text: str) -> str:
    """The text in small letters, every character in its place (only İ becomes longer)."""
    return text.replace("İ", "I").lower()


def opens(view: str, start: int) -> bool:
    """Whether a token can begin here: at the text's start, after a sign, or after an escape such as \\n or %3D."""
    return start == 0 or view[start - 1] not in JOINS or bool(_ESCAPED.search(view, max(start - 6, 0), start))


def before(view: str, place: int, reach: int) -> str:
    """What stands before a place, in small letters, back to the last character that was masked."""
    found = view[max(place - reach, 0) : place]
    return lowered(found[max(found.rfind(FILL), 0) :])


def after(view: str, place: int, reach: int) -> str:
    """What stands behind a place, in small letters, up to the first character that was masked."""
    found = view[place : place + reach]
    filled = found.find(FILL)
    return lowered(found if filled < 0 else found[: filled + 1])
