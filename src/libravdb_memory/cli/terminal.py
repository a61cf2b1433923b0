"""Where output goes: data to stdout, words and progress to stderr.

Colour and moving bars only on a terminal; NO_COLOR and a dumb terminal are honoured. Where nothing has moved for two
seconds, a terminal is told for how long, and nothing else is.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Protocol

import click

_BAR_CELLS = 28
_FRAME_S = 0.08
_STILL_S = 2.0
_BEAT_S = 0.5


class Counting(Protocol):
    """A Progress that may be told, too, how far what is at work is."""

    def __call__(self, done: int, total: int, within: str = "", /) -> None: ...


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
        asked = textwrap.fill(f"{question} [y/N]:", self.width - 2, break_on_hyphens=False)
        try:
            if click.confirm(asked, show_default=False, prompt_suffix=" ", err=True):
                return True
        except click.Abort:
            click.echo(err=True)  # the line of the question stands
            raise
        self.words("nothing was changed")
        return False

    @contextmanager
    def progress(
        self, label: str, unit: str = "", wait: Wait | None = None, *, told_always: bool = True, from_s: float = 0.0
    ) -> Generator[Counting, None, None]:
        """A bar that moves on a terminal; one line at the end; nothing when quiet, nor for programs that want only
        JSON from here. `unit` is what is counted, `wait` what is waited for where nothing moves; unless `told_always`,
        no line is left where nothing was counted. What ends within `from_s` seconds shows nothing at all."""
        if self.quiet or (self.for_programs and not sys.stderr.isatty()):
            yield lambda done, total, within="", /: None
            return
        moving = sys.stderr.isatty()
        bar = ProgressBar(label, unit, sys.stderr, moving=moving, wait=wait, told_always=told_always, from_s=from_s)
        try:
            with _beating(bar.beat, bar.moving):
                yield bar.update
        except BaseException:
            bar.finish(failed=True)
            raise
        bar.finish(failed=False)

    @contextmanager
    def waiting(self) -> Generator[Waiting, None, None]:
        """A line on a terminal for as long as something is waited for; none elsewhere, and none is left."""
        moving = not self.quiet and sys.stderr.isatty()
        line = Waiting(sys.stderr, moving=moving)
        try:
            with _beating(line.beat, moving):
                yield line
        finally:
            line.end()


@contextmanager
def _beating(beat: Callable[[], None], moving: bool) -> Generator[None, None, None]:
    """`beat` is called now and then, from a thread of its own."""
    if not moving:
        yield
        return
    over = threading.Event()

    def go_on() -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal may be gone
            while not over.wait(_BEAT_S):
                beat()

    thread = threading.Thread(target=go_on, name="libravdb-waiting", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@dataclass(frozen=True, slots=True)
class Wait:
    """What is waited for, and what ends it; either may be unknown."""

    thing: str = ""
    ending: str = ""

    def told(self, seconds: float) -> str:
        ending = f"; {self.ending}" if self.ending else ""
        begun = f"waiting for {self.thing}, " if self.thing else "nothing new for "
        return f"{begun}{seconds:.0f} s{ending}"


class Waiting:
    """What is waited for at the moment: `begin` says it, `end` takes it off the screen."""

    def __init__(self, stream: IO[str], *, moving: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._moving = moving
        self._clock = clock
        self._lock = threading.Lock()
        self._since = 0.0
        self._wait: Wait | None = None
        self._is_drawn = False

    def begin(self, wait: Wait) -> None:
        with self._lock:
            self._since, self._wait = self._clock(), wait

    def beat(self) -> None:
        with self._lock:
            seconds = self._clock() - self._since
            if self._moving and self._wait is not None and seconds >= _STILL_S:
                self._is_drawn = True
                self._write(_clipped(self._wait.told(seconds)))

    def end(self) -> None:
        with self._lock:
            self._wait = None
            if self._is_drawn:
                self._is_drawn = False
                self._write("")

    def _write(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()


class ProgressBar:
    def __init__(
        self,
        label: str,
        unit: str,
        stream: IO[str],
        *,
        moving: bool,
        wait: Wait | None = None,
        told_always: bool = True,
        from_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.moving = moving
        self._label = label
        self._unit = unit
        self._stream = stream
        self._wait = wait or Wait()
        self._told_always = told_always
        self._from_s = from_s
        self._clock = clock
        self._lock = threading.Lock()
        self._started = self._moved_at = clock()
        self._drawn_at = float("-inf")
        self._done: int | None = None
        self._total = 0
        self._within = ""
        if moving and not from_s:
            self._write(f"{label} …")

    def update(self, done: int, total: int, within: str = "", /) -> None:
        with self._lock:
            now = self._clock()
            if (done, total, within) != (self._done, self._total, self._within):
                self._moved_at = now
            self._done, self._total, self._within = done, total, within
            if self.moving and (now - self._drawn_at >= _FRAME_S or 0 < total <= done):
                self._draw(now)

    def beat(self) -> None:
        with self._lock:
            now = self._clock()
            if self.moving and now - self._moved_at >= _STILL_S and now - self._drawn_at >= _FRAME_S:
                self._draw(now)

    def finish(self, *, failed: bool) -> None:
        if self._is_early(self._clock()):
            return
        if not (self._told_always or self._done or failed):
            self._write("\r\x1b[K" if self.moving else "")
            return
        elapsed = self._clock() - self._started
        counts = self._unit and self._done is not None  # of a call that a daemon makes nothing is counted here
        count = _numbered(self._done or 0, self._unit) if counts else "done"
        outcome = f"stopped after {elapsed:.1f} s" if failed else f"{count} in {elapsed:.1f} s"
        self._write(("\r\x1b[K" if self.moving else "") + f"{self._label}: {outcome}\n")

    def _is_early(self, now: float) -> bool:
        return now - self._started < self._from_s

    def _draw(self, now: float) -> None:
        if self._is_early(now):
            return
        self._drawn_at = now
        still = now - self._moved_at
        is_still = still >= _STILL_S and not 0 < self._total <= (self._done or 0)
        picture = _clipped(f"{self._figures()}  {self._wait.told(still)}") if is_still else self._picture(now)
        self._write("\r\x1b[K" + picture)

    def _figures(self) -> str:
        """Without the bar, for which words that say why nothing moves leave no room."""
        if self._done is None:
            return f"{self._label} …"
        figures = f"{self._label}: {self._done:,}/{self._total:,}" if self._total > 0 else self._count(self._done)
        return f"{figures}{self._detail()}"

    def _detail(self) -> str:
        return f", {self._within}" if self._within else ""

    def _count(self, done: int) -> str:
        """Where nobody knows of how many."""
        return f"{self._label}: {_numbered(done, self._unit) if self._unit else f'{done:,}'}"

    def _picture(self, now: float) -> str:
        done = self._done or 0
        if self._total <= 0:
            return self._count(done)
        share = min(done / self._total, 1.0)
        figures = f" {share:4.0%}  {done:,}/{self._total:,}{self._detail()}{self._remaining(share, now)}"
        # A line that the terminal breaks cannot be taken back: the bar gives way to a narrow one.
        cells = max(min(_BAR_CELLS, _columns() - len(self._label) - len(figures) - 2), 0)
        filled = round(share * cells)
        return _clipped(f"{self._label} {'━' * filled}{'─' * (cells - filled)}{figures}")

    def _remaining(self, share: float, now: float) -> str:
        elapsed = now - self._started
        return f"  {elapsed / share - elapsed:.0f} s left" if 0 < share < 1 and elapsed > 2 else ""

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _numbered(number: int, unit: str) -> str:
    """`unit` is a plural."""
    one = f"{unit.removesuffix('ies')}y" if unit.endswith("ies") else unit.removesuffix("s")
    return f"{number:,} {one if number == 1 else unit}"


def _clipped(line: str) -> str:
    """A line that the terminal breaks cannot be taken back."""
    room = max(_columns() - 1, 1)
    return line if len(line) <= room else line[: room - 1] + "…"


def _columns() -> int:
    """Of the terminal, also when only the words go there and the data into a pager."""
    if not os.environ.get("COLUMNS"):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                return os.get_terminal_size(stream.fileno()).columns
    return shutil.get_terminal_size((100, 24)).columns


def _colourful(stream: IO[str]) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
