"""Secrets in what is said: found and masked before anything is kept, searched or shown.

Laws: pure and linear in the text; spans are ordered, disjoint and inside the text; masking leaves every character
outside them as it was, keeps no part of a secret, and masking again changes nothing. What counts is in the tables of
`forms`, `shapes`, `labelled` and `assignments`; what merely looks like a secret is told apart in `plausible`. Facts,
where a name and its value stand apart, are masked in `facts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

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


def mask(text: str, known: Mapping[str, str] | None = None) -> Masked:
    """The text with a marker in the place of every secret. `known` are secrets from elsewhere, with their kinds: they
    are secrets here too.

    >>> mask("login with password = 'hunter2Blue' please").text
    "login with password = '[masked: password]' please"
    """
    return masked_at(text, find_secrets(text, known))


def masked_at(text: str, found: tuple[Secret, ...]) -> Masked:
    pieces: list[str] = []
    position = 0
    for secret in found:
        pieces += (text[position : secret.start], f"[masked: {secret.kind}]")
        position = secret.end
    return Masked("".join((*pieces, text[position:])), found)


def find_secrets(text: str, known: Mapping[str, str] | None = None) -> tuple[Secret, ...]:
    """Every secret of a text, in order. The surest rules come first and take what they find from the later ones."""
    view = blanked(text, (marker.span() for marker in _MARKER.finditer(text)))
    found: list[Secret] = []
    for phase in _PHASES:
        new = _disjoint(phase(view))
        if new:
            view = blanked(view, ((secret.start, secret.end) for secret in new))
            found += new
    if found or known:
        values = dict(islice(telling(text, found).items(), _REPEATS))
        found += _disjoint(_repeated(view, values | dict(known or {})))
    return tuple(sorted(found, key=lambda secret: secret.start))


def _disjoint(secrets: Iterable[Secret]) -> list[Secret]:
    """In order of place; of those that overlap, the one that begins first, then the longer, then the one told first."""
    kept: list[Secret] = []
    for secret in sorted(secrets, key=lambda secret: (secret.start, -secret.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def telling(text: str, found: Iterable[Secret]) -> dict[str, str]:
    """The secrets that are odd enough that meeting them again is no chance, each with its kind."""
    values: dict[str, str] = {}
    for secret in found:
        values.setdefault(text[secret.start : secret.end], secret.kind)
    return {value: kind for value, kind in values.items() if _is_telling(value)}


def _repeated(view: str, values: Mapping[str, str]) -> Iterator[Secret]:
    """The same secrets again, where nothing but their sameness tells."""
    for value, kind in values.items():
        place = view.find(value)
        while place >= 0:
            end = place + len(value)
            after = view[end : end + 1]
            if opens(view, place) and after != FILL and not after.isalnum():
                yield Secret(kind, place, end)
            place = view.find(value, end)


def _is_telling(value: str) -> bool:
    return len(value) >= 6 and not value.isdigit() and not value.isalpha() and " " not in value
