"""Dates and times in a text, and what relative ones mean.

Law: an expression is resolved against the moment its text was said, never against now; what cannot be resolved keeps
its words and has no days. One scan, linear in the text; English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TypeAlias

_MONTHS = (
    "january february march april may june july august september october november december".split(),
    "jan feb mar apr may jun jul aug sep oct nov dec".split(),
)
_MONTH_NUMBER = {name: index for names in _MONTHS for index, name in enumerate(names, start=1)} | {"sept": 9}
_DAYS: Sequence[str] = "monday tuesday wednesday thursday friday saturday sunday".split()
_COUNTS = {
    name: number for number, name in enumerate("zero one two three four five six seven eight nine ten".split())
} | {"a": 1, "an": 1, "couple of": 2, "few": 3, "several": 4, "dozen": 12}
_MONTH = rf"(?:{'|'.join(sorted(_MONTH_NUMBER, key=len, reverse=True))})\b\.?"
_WEEKDAY = rf"(?:{'|'.join(_DAYS)})"
_COUNT_WORDS = "|".join(sorted((name for name in _COUNTS if " " not in name), key=len, reverse=True))
_COUNT = rf"(?:\d{{1,3}}|(?:a )?couple of|(?:a )?few|{_COUNT_WORDS})"
_UNIT = r"(?:minute|hour|day|week|fortnight|month|year)s?"

_PATTERNS: Mapping[str, str] = {
    "iso": r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?",
    "day_month": rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}}\b)?",
    "month_day": rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?",
    "month_year": rf"{_MONTH},? \d{{4}}\b",
    "numeric": r"\d{1,2}[/.]\d{1,2}[/.]\d{4}\b",
    "near": r"(?:the )?day (?:before yesterday|after tomorrow)\b|yesterday\b|today\b|tonight\b|tomorrow\b|last night\b"
    r"|this (?:morning|afternoon|evening)\b",
    "ago": rf"{_COUNT} {_UNIT} ago\b",
    "ahead": rf"in {_COUNT} {_UNIT}\b",
    "relative_day": rf"(?:last|this|next|on|past|this past|coming) {_WEEKDAY}\b",
    "relative_unit": r"(?:last|this|next|the past|this past) (?:week|weekend|month|year)\b",
    "relative_month": rf"(?:last|this|next|in|since|until|by) {_MONTH}",
    "weekday": rf"{_WEEKDAY}s?\b",
    "year": r"(?:in|since|until|by|of|year) (?:19|20)\d{2}\b",
    "clock": r"\d{1,2}:\d{2}(?: ?[ap]m\b)?|\d{1,2} ?[ap]m\b",
    "duration": rf"(?:for |over )?{_COUNT} {_UNIT}\b",
}
_SCAN = re.compile("|".join(rf"(?P<{name}>\b(?:{pattern}))" for name, pattern in _PATTERNS.items()), re.I)
_DENSE = 3

Days: TypeAlias = tuple[date, date]


@dataclass(frozen=True, slots=True)
class Mention:
    """`first` and `last` are the days meant, both inclusive; None when the words name none (a clock time, a span)."""

    kind: str
    start: int
    end: int
    text: str
    first: date | None = None
    last: date | None = None


def mentions(text: str, said_at_ms: int = 0) -> tuple[Mention, ...]:
    """Every date or time expression, in order. Without a moment, relative ones stay unresolved."""
    said = datetime.fromtimestamp(said_at_ms / 1000, UTC).date() if said_at_ms else None
    return tuple(_mention(found, said) for found in _SCAN.finditer(text))


def anchor_density(text: str) -> float:
    """A(d) = min(distinct date or time expressions / 3, 1). Reads no further than the third."""
    distinct: set[str] = set()
    for found in _SCAN.finditer(text):
        distinct.add(" ".join(found.group().lower().split()))
        if len(distinct) == _DENSE:
            break
    return len(distinct) / _DENSE


def tells_time(text: str) -> bool:
    return _SCAN.search(text) is not None


def without_mentions(text: str, instead: str) -> str:
    return _SCAN.sub(lambda _: instead, text)


def _mention(found: re.Match[str], said: date | None) -> Mention:
    kind = found.lastgroup or ""
    words = " ".join(found.group().lower().replace(",", " ").replace(".", " ").split())
    resolve = _RESOLVERS.get(kind)
    days = None
    if resolve is not None:
        try:
            days = resolve(words, said)
        except (ValueError, OverflowError):  # the thirtieth of February, the year 12000
            days = None
    first, last = days or (None, None)
    return Mention(kind, found.start(), found.end(), found.group(), first, last)


# ── what the words mean, said on a day ───────────────────────────────────────────────────────────────────────────


def _iso(words: str, _: date | None) -> Days:
    day = date.fromisoformat(words[:10])
    return day, day


def _numeric(words: str, _: date | None) -> Days | None:
    """Day and month only where their order cannot be mistaken."""
    one, two, year = (int(part) for part in re.findall(r"\d+", words))
    if (one > 12) == (two > 12) and one != two:
        return None
    day = date(year, min(one, two) if one != two else one, max(one, two))
    return day, day


def _calendar_day(words: str, said: date | None) -> Days | None:
    numbers = [int(number) for number in re.findall(r"\d+", words)]
    month = _month_in(words)
    if len(numbers) > 1:
        day = date(numbers[1], month, numbers[0])
        return day, day
    if said is None:
        return None
    options = [option for year in range(said.year - 1, said.year + 2) if (option := _day_of(year, month, numbers[0]))]
    nearest = min(options, key=lambda option: abs(option - said))
    return nearest, nearest


def _day_of(year: int, month: int, day: int) -> date | None:
    """None for a day that this year does not have."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _calendar_month(words: str, _: date | None) -> Days:
    return _whole_month(int(words.split()[-1]), _month_in(words))


def _near(words: str, said: date | None) -> Days | None:
    if said is None:
        return None
    offsets = {"day before yesterday": -2, "day after tomorrow": 2, "yesterday": -1, "last night": -1, "tomorrow": 1}
    offset = next((days for name, days in offsets.items() if name in words), 0)
    return said + timedelta(offset), said + timedelta(offset)


def _ago(words: str, said: date | None) -> Days | None:
    return None if said is None else _away(words.removesuffix(" ago"), said, -1)


def _ahead(words: str, said: date | None) -> Days | None:
    return None if said is None else _away(words.removeprefix("in "), said, 1)


def _away(words: str, said: date, direction: int) -> Days:
    """A count of units away: exact in days, the surrounding week, month or year beyond."""
    amount, _, unit = words.rpartition(" ")
    count = direction * _count(amount)
    match unit.rstrip("s"):
        case "minute" | "hour":
            return said, said
        case "day":
            return said + timedelta(count), said + timedelta(count)
        case "week" | "fortnight" as name:
            middle = said + timedelta(count * (7 if name == "week" else 14))
            return middle - timedelta(3), middle + timedelta(3)
        case "month":
            months = said.year * 12 + said.month - 1 + count
            return _whole_month(months // 12, months % 12 + 1)
        case _:
            return date(said.year + count, 1, 1), date(said.year + count, 12, 31)


def _relative_day(words: str, said: date | None) -> Days | None:
    *which, name = words.split()
    if said is None or which == ["on"]:
        return None
    ahead = (_DAYS.index(name) - said.weekday()) % 7
    if which[-1] in ("last", "past"):
        day = said - timedelta(7 - ahead if ahead else 7)
    else:
        day = said + timedelta(ahead or (0 if which == ["this"] else 7))
    return day, day


def _relative_unit(words: str, said: date | None) -> Days | None:
    if said is None:
        return None
    *which, unit = words.split()
    if which == ["the", "past"]:
        days = {"week": 7, "weekend": 7, "month": 31, "year": 366}[unit]
        return said - timedelta(days), said
    step = {"last": -1, "past": -1, "next": 1}.get(which[-1], 0)
    monday = said - timedelta(said.weekday()) + timedelta(7 * step)
    if unit == "week":
        return monday, monday + timedelta(6)
    if unit == "weekend":
        return monday + timedelta(5), monday + timedelta(6)
    if unit == "month":
        months = said.year * 12 + said.month - 1 + step
        return _whole_month(months // 12, months % 12 + 1)
    return date(said.year + step, 1, 1), date(said.year + step, 12, 31)


def _relative_month(words: str, said: date | None) -> Days | None:
    if said is None:
        return None
    which, month = words.split()[0], _month_in(words)
    year = said.year
    if which in ("last", "since"):
        year -= month >= said.month
    elif which in ("next", "until", "by"):
        year += month <= said.month
    elif which == "in":
        year += (said.month - month > 6) - (month - said.month > 6)
    return _whole_month(year, month)


def _year(words: str, _: date | None) -> Days:
    year = int(words[-4:])
    return date(year, 1, 1), date(year, 12, 31)


def _whole_month(year: int, month: int) -> Days:
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), following - timedelta(1)


def _month_in(words: str) -> int:
    return next(_MONTH_NUMBER[word] for word in re.findall(r"[a-z]+", words) if word in _MONTH_NUMBER)


def _count(amount: str) -> int:
    amount = amount.removeprefix("a ") if amount not in _COUNTS else amount
    return int(amount) if amount.isdigit() else _COUNTS[amount]


_RESOLVERS: Mapping[str, Callable[[str, date | None], Days | None]] = {
    "iso": _iso,
    "numeric": _numeric,
    "day_month": _calendar_day,
    "month_day": _calendar_day,
    "month_year": _calendar_month,
    "near": _near,
    "ago": _ago,
    "ahead": _ahead,
    "relative_day": _relative_day,
    "relative_unit": _relative_unit,
    "relative_month": _relative_month,
    "year": _year,
}
