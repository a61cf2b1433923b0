"""Where output goes: data to stdout, words and progress to stderr.

Colour and moving bars only on a terminal; NO_COLOR and a dumb terminal are honoured.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import click

if TYPE_CHECKING:
    from libravdb_memory.store.protocol import Progress

_BAR_CELLS = 28
_FRAME_S = 0.08


class Terminal:
    def __init__(self) -> None:
        self.quiet = False
        self.for_programs = False

    @property
    def width(self) -> int:
        """Columns to fill; long lines are hard to read, so at most 110 even on a wide terminal."""
        return max(40, min(_columns(), 110))

    def data(self, text: str) -> None:
        """Rendered text: its colours are taken out where they are not wanted."""
        click.echo(text, color=_colourful(sys.stdout))

    def exact(self, text: str) -> None:
        """A stored text or id, character for character (`data` would take escape sequences for colours)."""
        sys.stdout.write(text + "\n")

    def verbatim(self, text: str) -> None:
        """A text and nothing else, not even a line ending; only a terminal gets one, for the prompt that follows."""
        sys.stdout.write(text + ("\n" if sys.stdout.isatty() else ""))

    def json(self, value: object) -> None:
        click.echo(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))

    def words(self, text: str) -> None:
        if text and not self.quiet:
            click.echo(text, err=True, color=_colourful(sys.stderr))

    def confirmed(self, question: str) -> bool:
        """Ask before something that cannot be taken back. Without a terminal nobody can answer: a usage error."""
        if not sys.stdin.isatty():
            raise click.UsageError(f"{question} There is no terminal to ask on; add --yes.")
        try:
            if click.confirm(question, err=True):
                return True
        except click.Abort:
            click.echo(err=True)  # the line of the question stands
            raise
        self.words("nothing was changed")
        return False

    @contextmanager
    def progress(self, label: str, unit: str = "") -> Generator[Progress, None, None]:
        """A bar that moves on a terminal; one line at the end; nothing when quiet, nor for programs that want only
        JSON from here. `unit` is what is counted."""
        if self.quiet or (self.for_programs and not sys.stderr.isatty()):
            yield lambda done, total: None
            return
        bar = ProgressBar(label, unit, sys.stderr, moving=sys.stderr.isatty())
        try:
            yield bar.update
        except BaseException:
            bar.finish(failed=True)
            raise
        bar.finish(failed=False)


class ProgressBar:
    def __init__(self, label: str, unit: str, stream: IO[str], *, moving: bool) -> None:
        self._label = label
        self._unit = unit
        self._stream = stream
        self._moving = moving
        self._started = time.monotonic()
        self._drawn_at = float("-inf")
        self._done: int | None = None
        self._total = 0
        if moving:
            self._write(f"{label} …")

    def update(self, done: int, total: int) -> None:
        self._done, self._total = done, total
        now = time.monotonic()
        if self._moving and (now - self._drawn_at >= _FRAME_S or 0 < total <= done):
            self._drawn_at = now
            self._write("\r\x1b[K" + self._picture())

    def finish(self, *, failed: bool) -> None:
        elapsed = time.monotonic() - self._started
        counts = self._unit and self._done is not None  # of a call that a daemon makes nothing is counted here
        count = _numbered(self._done or 0, self._unit) if counts else "done"
        outcome = f"stopped after {elapsed:.1f} s" if failed else f"{count} in {elapsed:.1f} s"
        self._write(("\r\x1b[K" if self._moving else "") + f"{self._label}: {outcome}\n")

    def _picture(self) -> str:
        done = self._done or 0
        if self._total <= 0:
            return f"{self._label}: {done:,}"
        share = min(done / self._total, 1.0)
        figures = f" {share:4.0%}  {done:,}/{self._total:,}{self._remaining(share)}"
        # A line that the terminal breaks cannot be taken back: the bar gives way to a narrow one.
        cells = max(min(_BAR_CELLS, _columns() - len(self._label) - len(figures) - 2), 0)
        filled = round(share * cells)
        return f"{self._label} {'━' * filled}{'─' * (cells - filled)}{figures}"

    def _remaining(self, share: float) -> str:
        elapsed = time.monotonic() - self._started
        return f"  {elapsed / share - elapsed:.0f} s left" if 0 < share < 1 and elapsed > 2 else ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _numbered(number: int, unit: str) -> str:
    """`unit` is a plural."""
    one = f"{unit.removesuffix('ies')}y" if unit.endswith("ies") else unit.removesuffix("s")
    return f"{number:,} {one if number == 1 else unit}"


def _columns() -> int:
    """Of the terminal, also when only the words go there and the data into a pager."""
    if not os.environ.get("COLUMNS"):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                return os.get_terminal_size(stream.fileno()).columns
    return shutil.get_terminal_size((100, 24)).columns


def _colourful(stream: IO[str]) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
