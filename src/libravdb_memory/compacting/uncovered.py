"""The turns of a session that no summary covers yet, and which of them belong together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from libravdb_memory import lineage
from libravdb_memory.assemble.tail import TailTurn, bundle_starts
from libravdb_memory.compacting.parts import Parts
from libravdb_memory.model import Record
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals
from libravdb_memory.tailing import tail_of, tail_turns


@dataclass(frozen=True, slots=True)
class Uncovered:
    """The turns of a session that nothing covers, oldest first, and the tail from `tail_start` on. `breaks` are the
    places before which others lie."""

    records: tuple[Record, ...]
    tail_start: int
    breaks: frozenset[int]


def uncovered_turns(parts: Parts, namespace: str, session: str, anew: frozenset[str] | None = None) -> Uncovered:
    """`anew` are the turns that count as covered where those that the store knows of do not."""
    history = history_of(namespace)
    tail = tail_of(parts.store, parts.counter, parts.assembly, history, session)
    ends_before = tail[0].ref if tail else math.inf
    if anew is None:
        found = lineage.uncovered(parts.store, history, session)
    else:
        whole = every(parts.store, history, Equals("group", session))
        found = (record for record in whole if record.id not in anew)
    older = [record for record in found if record.ref < ends_before]
    row = [*older, *tail[:1]]
    places = parts.store.places([record.ref for record in row])
    breaks = frozenset(
        index
        for index, (before, record) in enumerate(pairwise(row), start=1)
        if record.ref in places and places[record.ref].before != before.ref
    )
    return Uncovered((*older, *tail), len(older), breaks)


def starts_of_bundles(turns: Uncovered) -> tuple[int, ...]:
    """For each turn, the place at which its bundle begins. Something stands for the others at a break: who comes after
    them answers nobody before them, but the result of a tool call belongs to it across them."""
    spread: list[TailTurn] = []
    places: list[int] = []
    for index, turn in enumerate(tail_turns(turns.records)):
        spread += [TailTurn("", "", "")] if index in turns.breaks else []
        places.append(len(spread))
        spread.append(turn)
    starts, index_at = bundle_starts(spread), {place: index for index, place in enumerate(places)}
    return tuple(index_at[starts[place]] for place in places)
