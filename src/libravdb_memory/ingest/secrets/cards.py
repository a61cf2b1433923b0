"""Payment card numbers: a known issuer, its length, its grouping, and the check digit (Luhn).

Law: a number in groups stands for itself; one without is a card only with a word of payment nearby, because one in ten
long numbers passes the check by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .view import FILL, Secret, lowered

_NUMBER = re.compile(
    rf"(?<![\w.{FILL}+-])(?:\d{{13,16}}|\d{{4}}([ -])\d{{4}}\1\d{{4}}\1\d{{4}}|\d{{4}}([ -])\d{{6}}\2\d{{4,5}})"
    rf"(?![\w{FILL}]|[.-]\d| \d{{3}})",
    re.A,
)
_ISSUERS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"4", (13, 16)),
    (r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720", (16,)),
    (r"3[47]", (15,)),
    (r"6011|65|64[4-9]|622|62", (16,)),
    (r"35(?:2[89]|[3-8])", (16,)),
    (r"30[0-5]|3[689]", (14,)),
)
_PAYMENT = re.compile(
    r"card|visa|master|amex|american express|credit|debit|payment|charge|cvv|cvc|expir"
    r"|\bexp\b|billing|\bpan\b|karte|tarjeta|carte"
)
_BEFORE, _AFTER = 100, 60


def cards(view: str) -> Iterator[Secret]:
    """Every card number."""
    for match in _NUMBER.finditer(view):
        digits = re.sub(r"[ -]", "", match.group())
        grouped = len(digits) < len(match.group())
        if _issued(digits) and checks(digits) and len(set(digits)) > 1 and (grouped or _paying(view, match)):
            yield Secret("card number", match.start(), match.end())


def checks(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (Luhn).

    >>> checks("79927398713"), checks("79927398710")
    (True, False)
    """
    doubled = (int(digit) << (place & 1) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _issued(digits: str) -> bool:
    return any(len(digits) in lengths and re.match(first, digits) for first, lengths in _ISSUERS)


def _paying(view: str, match: re.Match[str]) -> bool:
    before = view[max(match.start() - _BEFORE, 0) : match.start()].rpartition(FILL)[2]
    after = view[match.end() : match.end() + _AFTER].partition(FILL)[0]
    return bool(_PAYMENT.search(lowered(before)) or _PAYMENT.search(lowered(after)))
