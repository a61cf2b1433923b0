"""What a memory should hold, kept in plain dicts beside the real one.

The model knows every turn by its session in the order of arrival, every document by its rules, and for every summary
the turns that it covered on the day it was made. Nothing here asks the product what is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from libravdb_memory.identity import Json
from libravdb_memory.summaries import Node

Place = tuple[str, str]
"""A user and a session."""

TOKEN = re.compile(r"zq([a-z]+)\d+x")
"""A word that only one turn holds, and that tells whose it is."""


@dataclass(frozen=True)
class Said:
    """A turn as it was handed over."""

    id: str
    text: str
    role: str
    ts: int | None
    meta: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Document:
    hard: tuple[str, ...]
    soft: tuple[str, ...]
    lore: tuple[str, ...]
    hops: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        front = f"---\nhop_targets: [{', '.join(self.hops)}]\n---\n\n" if self.hops else ""
        blocks = ["\n".join(f"- {rule}" for rule in self.hard), *(f"> {rule}" for rule in self.soft), *self.lore]
        return front + "\n\n".join(filter(None, blocks)) + "\n"

    @property
    def needed(self) -> tuple[str, ...]:
        """What stands in every prompt, in order; of front matter, the line that names the hops."""
        front = (f"hop_targets: [{', '.join(self.hops)}]",) if self.hops else ()
        return (*front, *(f"- {rule}" for rule in self.hard))


@dataclass(frozen=True)
class Covering:
    """A summary: what it says, the ids below it in one step, the turns below it in all, and the summaries its writer
    was shown."""

    text: str
    level: int
    children: tuple[str, ...]
    turns: tuple[str, ...]
    prior: tuple[str, ...]


class Model:
    def __init__(self) -> None:
        self.turns: dict[Place, dict[str, Said]] = {}
        self.summaries: dict[Place, dict[str, Covering]] = {}
        self.guidance: dict[Place, dict[str, str]] = {}
        """What is kept of turns word by word."""
        self.documents: dict[str, Document] = {}
        self.refs: dict[tuple[Place, str], int] = {}

    def session(self, place: Place) -> list[Said]:
        return list(self.turns.get(place, {}).values())

    def tokens(self) -> set[str]:
        """The words of turns that are there."""
        return {found[0] for turn in self.every_turn() for found in TOKEN.finditer(turn.text)}

    def every_turn(self) -> Iterator[Said]:
        for turns in self.turns.values():
            yield from turns.values()

    def covered(self, place: Place) -> set[str]:
        return {turn for node in self.summaries.get(place, {}).values() for turn in node.turns}

    # ── what happens ─────────────────────────────────────────────────────────────────────────────────────────────

    def say(self, place: Place, turn: Said) -> None:
        self.turns.setdefault(place, {})[turn.id] = turn

    def compacted(self, place: Place, made: Iterable[Node], *, rebuilt: bool = False) -> None:
        nodes = self.summaries.setdefault(place, {})
        if rebuilt:
            nodes.clear()
        order = list(self.turns.get(place, {}))
        for node in made:
            below = tuple(sorted(self._below(nodes, node), key=order.index))
            nodes[node.id] = Covering(node.text, node.level, node.children, below, node.prior)

    def _below(self, nodes: Mapping[str, Covering], node: Node) -> list[str]:
        if node.level == 1:
            return list(node.children)
        return [turn for child in node.children for turn in nodes[child].turns]

    def erase_turn(self, place: Place, turn: str) -> None:
        del self.turns[place][turn]
        self.refs.pop((place, turn), None)
        self.guidance.get(place, {}).pop(turn, None)
        nodes = self.summaries.get(place, {})
        gone = {name for name, node in nodes.items() if turn in node.turns}
        while more := {name for name, node in nodes.items() if gone & {*node.prior, *node.children}} - gone:
            gone |= more
        self.summaries[place] = {name: node for name, node in nodes.items() if name not in gone}
        self._drop_empty(place)

    def erase_session(self, place: Place) -> None:
        for kept in (self.turns, self.summaries, self.guidance):
            kept.pop(place, None)
        self.refs = {key: ref for key, ref in self.refs.items() if key[0] != place}

    def erase_user(self, user: str) -> None:
        for place in [place for place in self.turns if place[0] == user]:
            self.erase_session(place)

    def _drop_empty(self, place: Place) -> None:
        if not self.turns[place]:
            self.erase_session(place)


# ── bundles and tails, by a reading of the contract of their own ─────────────────────────────────────────────────


def bundles(turns: Sequence[Said]) -> list[range]:
    """Runs that lose their meaning apart: whoever stands on a line between two that belong together crosses it."""
    joined = [False] * len(turns)
    for first, last in _pairs(turns):
        for index in range(first, last):
            joined[index] = True
    found: list[range] = []
    start = 0
    for index in range(len(turns)):
        if not joined[index]:
            found.append(range(start, index + 1))
            start = index + 1
    return found


def _pairs(turns: Sequence[Said]) -> Iterator[tuple[int, int]]:
    for index, turn in enumerate(turns):
        if index and turns[index - 1].role == "user" and turn.role == "assistant":
            yield index - 1, index
        if index and turn.meta.get("bundle") and turn.meta.get("bundle") == turns[index - 1].meta.get("bundle"):
            yield index - 1, index
        answered = turn.meta.get("tool_call_id")
        callers = [before for before in range(index) if answered in _calls(turns[before])]
        if callers:
            yield callers[-1], index


def _calls(turn: Said) -> Iterable[Json]:
    calls = turn.meta.get("tool_calls")
    return calls if isinstance(calls, list) else ()


def base_begins(turns: Sequence[Said], least: int) -> int:
    """The first of the turns that every prompt shows: the newest so many, the first bundle of them whole."""
    return tail_begins(turns, [0] * len(turns), least, -1)


def tail_begins(turns: Sequence[Said], prices: Sequence[int], least: int, target: int) -> int:
    """The first of the turns that a compaction must leave alone."""
    starts = [run.start for run in bundles(turns)]
    base = max((start for start in starts if start <= max(len(turns) - least, 0)), default=0)
    within = [start for start in starts if sum(prices[start:]) <= target]
    return min([base, *within]) if turns else 0
