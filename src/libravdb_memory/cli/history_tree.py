"""The history of a session as a tree: summaries over summaries over turns, oldest first.

Law: a line is at most as wide as asked while the tree leaves room for words; nothing is left out without being counted.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

import click

from libravdb_memory.cli.compaction_report import certificate_of, heading_of, lost_by, node_form, summaries, turn_form
from libravdb_memory.cli.dates import local_span
from libravdb_memory.cli.figures import clip, width_of
from libravdb_memory.cli.render import in_one_line
from libravdb_memory.lineage import Branch, History
from libravdb_memory.model import Turn
from libravdb_memory.serve.bridge.lookup import own_part
from libravdb_memory.summaries import Node
from libravdb_memory.wording import counted

TurnsBelow: TypeAlias = Callable[[Node], Sequence[Turn]]
"""Gives the turns that a summary of level 1 covers."""
_FEWEST = 8
_LEAST_ROOM = 20
_WORDS_BESIDE_AN_ID = 24
_SHOWN_AT_ENDS = 2
_RULE = "  [rule kept]"


@dataclass(frozen=True, slots=True)
class Glyphs:
    fork: str
    last: str
    along: str
    fold: str


BOXES = Glyphs("├─ ", "└─ ", "│  ", "…")
ASCII = Glyphs("|- ", "`- ", "|  ", "...")
_IN_ASCII = str.maketrans({"…": "~", "→": ">", "–": "-"})


@dataclass(frozen=True, slots=True)
class Shown:
    """Without `turns_below`, turns below summaries are only counted and long runs of bare turns are folded. `ruled` are
    the turns whose rule is kept, `depth` the levels of summaries that are shown, all without one."""

    turns_below: TurnsBelow | None = None
    ruled: frozenset[str] = frozenset()
    depth: int | None = None


_WHOLE = Shown()


@dataclass(frozen=True, slots=True)
class _Item:
    """`lines` are made for the room that is left where it stands."""

    lines: Callable[[int], list[str]]
    below: tuple[_Item, ...] = ()


def glyphs_of_output() -> Glyphs:
    """Box drawing, where stdout can show it."""
    try:
        "├─└│…→–".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BOXES


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────


def render_history(history: History, width: int, glyphs: Glyphs = BOXES, shown: Shown = _WHOLE) -> str:
    items = tuple(_Reader(history, glyphs, shown).items())
    lines = [*_title(history, width), *_drawn(items, glyphs, "", width)]
    return "\n".join(lines if glyphs is BOXES else (line.translate(_IN_ASCII) for line in lines))


def _title(history: History, width: int) -> Iterator[str]:
    bare = sum(isinstance(entry, Turn) for entry in history.entries)
    roots, waiting = len(history.entries) - bare, bare - history.tail
    parts = [f"{history.turns - bare:,} below {summaries(roots)}"] if roots else []
    parts += [f"{waiting:,} not covered"] if waiting else []
    parts += [f"{history.tail:,} in the tail"]
    yield click.style(clip(f"{history.namespace} / {history.session}", width), bold=True)
    yield from textwrap.wrap(f"{counted(history.turns, 'turn')}: {', '.join(parts)}", width)


def _drawn(items: Sequence[_Item], glyphs: Glyphs, margin: str, width: int) -> Iterator[str]:
    for item in items:
        last = item is items[-1]
        below = margin + (" " * len(glyphs.along) if last else glyphs.along)
        first, *rest = item.lines(max(width - len(below), _LEAST_ROOM))
        yield click.style(margin + (glyphs.last if last else glyphs.fork), dim=True) + first
        yield from (click.style(below, dim=True) + line for line in rest)
        yield from _drawn(item.below, glyphs, below, width)


class _Reader:
    """Makes the items of a history."""

    def __init__(self, history: History, glyphs: Glyphs, shown: Shown) -> None:
        self._history = history
        self._glyphs = glyphs
        self._shown = shown
        roots = [entry for entry in history.entries if isinstance(entry, Branch)]
        self._shown_id = _length_that_tells_apart([own_part(node.id) for node in _nodes(roots)])

    def items(self) -> Iterator[_Item]:
        entries, tail = self._history.entries, self._history.tail
        before = entries[: len(entries) - tail]
        for bare, run in groupby(before, key=lambda entry: isinstance(entry, Turn)):
            if bare:
                turns = [entry for entry in run if isinstance(entry, Turn)]
                yield self._group("not covered", "yellow", turns)
            else:
                yield from (self._branch(entry, 1) for entry in run if isinstance(entry, Branch))
        if newest := [entry for entry in entries[len(entries) - tail :] if isinstance(entry, Turn)]:
            yield self._group("tail", "blue", newest)

    def _branch(self, branch: Branch, depth: int) -> _Item:
        return _Item(lambda room: _summary(branch.node, self._shown_id, room), tuple(self._below(branch, depth)))

    def _below(self, branch: Branch, depth: int) -> Iterator[_Item]:
        cut, turns_below = depth == self._shown.depth, self._shown.turns_below
        if cut and branch.below:
            yield self._folded(summaries(sum(1 for _ in _nodes(branch.below))))
        elif branch.node.level > 1:
            yield from (self._branch(child, depth + 1) for child in branch.below)
        elif turns_below is not None:
            yield from map(self._turn, turns_below(branch.node))

    def _folded(self, what: str) -> _Item:
        told = click.style(f"{self._glyphs.fold} {what}", dim=True)
        return _Item(lambda room: [told])

    def _group(self, title: str, colour: str, turns: Sequence[Turn]) -> _Item:
        told = f"{click.style(title, fg=colour)}: {counted(len(turns), 'turn')}"
        return _Item(lambda room: [told], tuple(self._run(turns)))

    def _run(self, turns: Sequence[Turn]) -> Iterator[_Item]:
        left_out = len(turns) - 2 * _SHOWN_AT_ENDS
        if self._shown.turns_below is not None or left_out < 2:
            yield from map(self._turn, turns)
            return
        yield from map(self._turn, turns[:_SHOWN_AT_ENDS])
        yield self._folded(counted(left_out, "turn"))
        yield from map(self._turn, turns[-_SHOWN_AT_ENDS:])

    def _turn(self, turn: Turn) -> _Item:
        name, who = in_one_line(turn.id), turn.speaker or turn.role
        rule = _RULE if turn.id in self._shown.ruled else ""

        def lines(room: int) -> list[str]:
            left = room - width_of(name) - len(rule) - 2
            if left < _WORDS_BESIDE_AN_ID:
                return [clip(f"{who}: {turn.text}", room), click.style(clip(turn.id + rule, room), dim=True)]
            named = click.style(name, dim=True) + click.style(rule, fg="magenta")
            return [f"{named}  {clip(f'{who}: {turn.text}', left)}"]

        return _Item(lines)


def _summary(node: Node, shown_id: int, room: int) -> list[str]:
    name = own_part(node.id)[:shown_id]
    figures = ", ".join([heading_of(node), certificate_of(node.loss)])
    told = "\xa0".join([name, "", *figures.split(" ")]).replace(",\xa0", ", ")  # a figure stays with its name
    first, *rest = [line.replace("\xa0", " ") for line in textwrap.wrap(told, room, break_on_hyphens=False)]
    head = click.style(name, fg="cyan", bold=True) + first.removeprefix(name)
    when = click.style(clip(local_span(node.first_ts, node.last_ts), room), dim=True)
    lost = [click.style(clip(f"lost: {', '.join(node.loss.dropped)}", room), fg="yellow")] if lost_by(node.loss) else []
    return [head, *rest, when, *lost, clip(node.text, room)]


def _nodes(branches: Sequence[Branch]) -> Iterator[Node]:
    waiting = list(branches)
    while waiting:
        branch = waiting.pop()
        yield branch.node
        waiting += branch.below


def _length_that_tells_apart(ids: Sequence[str]) -> int:
    """As few characters as name each summary of the session."""
    longest = max(map(len, ids), default=_FEWEST)
    return next((size for size in range(_FEWEST, longest) if len({name[:size] for name in ids}) == len(ids)), longest)


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def history_form(history: History, shown: Shown = _WHOLE) -> dict[str, Any]:
    tail_start = len(history.entries) - history.tail
    return {
        "user": history.namespace,
        "session": history.session,
        "turns": history.turns,
        "tail": history.tail,
        "entries": [
            {**_turn_form(entry, shown), "tail": at >= tail_start}
            if isinstance(entry, Turn)
            else _branch_form(entry, shown, 1)
            for at, entry in enumerate(history.entries)
        ],
    }


def _branch_form(branch: Branch, shown: Shown, depth: int) -> dict[str, Any]:
    below = [] if depth == shown.depth else [_branch_form(child, shown, depth + 1) for child in branch.below]
    if shown.turns_below is not None and branch.node.level <= 1:
        below = [_turn_form(turn, shown) for turn in shown.turns_below(branch.node)]
    return {**node_form(branch.node), "below": below}


def _turn_form(turn: Turn, shown: Shown) -> dict[str, Any]:
    return {**turn_form(turn), "rule": turn.id in shown.ruled}
