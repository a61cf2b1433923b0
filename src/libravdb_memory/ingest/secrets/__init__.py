"""Secrets in what is said: found and masked before anything is kept, searched or shown.

Laws: pure and linear in the text; spans are ordered, disjoint and inside the text; masking leaves every character
outside them as it was, keeps no part of a secret, and masking again changes nothing. What counts is in the tables of
`forms`, `shapes`, `labelled` and `assignments`; what merely looks like a secret is told apart in `plausible`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .addresses import addressed
from .assignments import assigned
from .blocks import armoured
from .cards import cards
from .forms import formed
from .labelled import labelled
from .prose import told
from .shapes import shaped
from .view import FILL, Secret, blanked, opens

__all__ = ["Masked", "Secret", "find_secrets", "mask"]

_MARKER = re.compile(r"\[masked: [a-z0-9. ]{2,30}\]")
_PHASES: tuple[Callable[[str], Iterable[Secret]], ...] = (
    armoured,
    formed,
    shaped,
    labelled,
    addressed,
    assigned,
    told,
    cards,
)
_REPEATS = 64
"""Of so many different secrets, further places are looked for that no rule of their own finds."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and where they were in the original."""

    text: str
    found: tuple[Secret, ...]


def mask(text: str) -> Masked:
    """The text with a marker in the place of every secret.

    >>> mask("login with password = 'hunter2Blue' please").text
    "login with password = '[masked: password]' please"
    """
    found = find_secrets(text)
    pieces: list[str] = []
    position = 0
    for secret in found:
        pieces += (text[position : secret.start], f"[masked: {secret.kind}]")
        position = secret.end
    return Masked("".join((*pieces, text[position:])), found)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Every secret of a text, in order. The surest rules come first and take what they find from the later ones."""
    view = blanked(text, (marker.span() for marker in _MARKER.finditer(text)))
    found: list[Secret] = []
    for phase in _PHASES:
        new = _disjoint(phase(view))
        if new:
            view = blanked(view, ((secret.start, secret.end) for secret in new))
            found += new
    found += _disjoint(_repeated(text, view, found))
    return tuple(sorted(found, key=lambda secret: secret.start))


def _disjoint(secrets: Iterable[Secret]) -> list[Secret]:
    """In order of place; of those that overlap, the one that begins first, then the longer, then the one told first."""
    kept: list[Secret] = []
    for secret in sorted(secrets, key=lambda secret: (secret.start, -secret.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def _repeated(text: str, view: str, found: list[Secret]) -> Iterator[Secret]:
    """The same secrets again, where nothing but their sameness tells."""
    values = {text[secret.start : secret.end]: secret.kind for secret in reversed(found)}
    telling = [(value, kind) for value, kind in values.items() if _is_telling(value)]
    for value, kind in telling[-_REPEATS:]:
        place = view.find(value)
        while place >= 0:
            end = place + len(value)
            after = view[end : end + 1]
            if opens(view, place) and after != FILL and not after.isalnum():
                yield Secret(kind, place, end)
            place = view.find(value, end)


def _is_telling(value: str) -> bool:
    """Whether a value is odd enough that meeting it again is no chance."""
    return len(value) >= 6 and not value.isdigit() and not value.isalpha() and " " not in value
