"""Suites that play the real programs this memory is made for: what each needs is fetched first, then it is played.

Laws: what cannot be had here (no browser, a registry that does not answer) makes a suite a visible skip with its
reason. Whatever else fails is a failure: an install that breaks, and every suite that could begin. Fetching runs in the
background beside the other checks, playing after them, because what is played is timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from running import Check, Ended

NOT_HERE = 77  # as test harnesses agree: skipped; the last line that was said is the reason
FETCHING_S, PLAYING_S = 600, 400
QUICK_PAGES = [".venv-browser/bin/python", "-m", "pytest", "-q", "-m", "quick", "tests/e2e/inspector"]


@dataclass(frozen=True)
class Suite:
    fetching: Check
    playing: Check


@dataclass(frozen=True)
class Outcome:
    """What a line of the summary tells; `skipped` is the reason where nothing was shown."""

    name: str
    passed: bool
    seconds: float
    output: str = ""
    skipped: str = ""


def suites(artefacts: Path) -> list[Suite]:
    return [
        Suite(
            _fetching("OpenClaw host", "tests.e2e.openclaw.run", "--install"),
            Check(
                "OpenClaw host",
                [sys.executable, "-m", "tests.e2e.openclaw.run", "--fast", "--logs", str(artefacts / "openclaw")],
                PLAYING_S,
            ),
        ),
        Suite(
            _fetching("inspector in chromium", "tests.e2e.inspector.fetch"),
            Check(
                "inspector in chromium",
                [*QUICK_PAGES, f"--junitxml={artefacts / 'junit-inspector.xml'}"],
                PLAYING_S,
                environment={"SCREENSHOTS": str(artefacts / "screenshots")},
            ),
        ),
    ]


def _fetching(name: str, *module: str) -> Check:
    return Check(f"{name}: fetching", [sys.executable, "-m", *module], FETCHING_S, in_background=True)


def plain(ended: Ended) -> Outcome:
    """Of a check that needs nothing fetched."""
    late = f"\nended after its {ended.check.limit_s:.0f} s" if ended.overdue else ""
    passed = ended.code == 0 and not ended.overdue
    return Outcome(ended.check.name, passed, ended.seconds, f"{ended.output}{late}")


def played(suite: Suite, fetched: Ended, play: Callable[[Check], Ended]) -> Outcome:
    """Plays a suite where what it needs is there."""
    name = suite.playing.name
    if fetched.overdue:
        return Outcome(name, True, 0, skipped=f"not fetched within {fetched.check.limit_s:.0f} s")
    if fetched.code == NOT_HERE:
        return Outcome(name, True, 0, skipped=fetched.last_line)
    if fetched.code != 0:
        return Outcome(name, False, fetched.seconds, fetched.output)
    return plain(play(suite.playing))
