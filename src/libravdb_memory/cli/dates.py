"""Dates as people write them on a command line.

Law: a date without a time means the whole day, so `--until` takes its last millisecond; a time without a zone is local.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

import click

_ONE_MS = timedelta(milliseconds=1)


class Moment(click.ParamType[datetime]):
    """An ISO date or time. `day_end` makes a bare date its last millisecond instead of its first."""

    name = "date"

    def __init__(self, *, day_end: bool = False) -> None:
        self._day_end = day_end

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            return moment(str(value).strip(), day_end=self._day_end)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not an ISO date such as 2026-03-01 or 2026-03-01T14:30", param, ctx)


def moment(text: str, *, day_end: bool = False) -> datetime:
    """The zoned time that an ISO text means; ValueError when it is none."""
    if len(text) > len("2026-03-01"):
        return datetime.fromisoformat(text).astimezone()
    start = datetime.combine(date.fromisoformat(text), time())
    return (start + timedelta(days=1) - _ONE_MS if day_end else start).astimezone()


def local_span(first: int, last: int) -> str:
    """Two moments as local times; a day or a year that both have is told once."""
    begin, end = local_time(first), local_time(last)
    if begin == end:
        return begin
    shared = [part for part in (begin[:11], begin[:5]) if end.startswith(part) and not end.endswith(" ms")]
    return f"{begin} – {end.removeprefix(shared[0]) if shared else end}"


def local_time(ts: int) -> str:
    """Milliseconds as local wall-clock time; outside what the platform can show, as the number it is."""
    try:
        return datetime.fromtimestamp(ts / 1000).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return f"{ts} ms"
