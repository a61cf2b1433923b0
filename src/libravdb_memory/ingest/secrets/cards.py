"""Payment card numbers: a known issuer, its length, its grouping, and the check digit (Luhn).

Law: a number in groups stands for itself; one without is a card only with a word of payment nearby, because one in ten
long numbers passes the check by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .view import FILL, Secret, after, before

_NUMBER = re.compile(
    rf"(?<![\w.{FILL}+-])(?:\d{{13,16}}|\d{{4}}([ -])\d{{4}}\1\d{{4}}\1\d{{4}}|\d{{4}}([ -])\d{{6}}\2\d{{4,5}})"
    rf"(?![\w{FILL}]|[.-][\d{FILL}])",
    re.A,
)
_ISSUED = re.compile(
    r"4\d{12}(?:\d{3})?|(?:5[1-5]|2[3-6]|62|65)\d{14}|(?:222[1-9]|2720|6011)\d{12}|(?:22[3-9]|27[01]|64[4-9])\d{13}"
    r"|3[47]\d{13}|35(?:2[89]|[3-8]\d)\d{12}|(?:30[0-5]\d|3[689]\d\d)\d{10}"
)
_PAYMENT = re.compile(
    r"card|visa|master|amex|american express|credit|debit|payment|charge|cvv|cvc|expir"
    r"|\bexp\b|billing|\bpan\b|karte|tarjeta|carte"
)
_BEFORE, _AFTER = 100, 60


def cards(view: str) -> Iterator[Secret]:
    """Every card number."""
    match = _NUMBER.search(view)
    while match is not None:
        found = _is_card(view, match)
        if found:
            yield Secret("card number", match.start(), match.end())
        match = _NUMBER.search(view, match.end() if found else match.start() + 1)


def _is_card(view: str, match: re.Match[str]) -> bool:
    digits = match.group().replace(" ", "").replace("-", "")
    if not _ISSUED.fullmatch(digits) or len(set(digits)) < 2 or not checks(digits):
        return False
    return len(digits) < len(match.group()) or _paying(view, match)


def checks(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (Luhn).

    >>> checks("79927398713"), checks("79927398710")
    (True, False)
    """
    doubled = (int(digit) << (place & 1) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _paying(view: str, match: re.Match[str]) -> bool:
    return bool(
        _PAYMENT.search(before(view, match.start(), _BEFORE)) or _PAYMENT.search(after(view, match.end(), _AFTER))
    )
