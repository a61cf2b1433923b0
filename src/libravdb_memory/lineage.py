"""Reading the continuity graph: a summary covers turns or summaries, down to the exact turns.

Laws: what lies below a summary comes back whole, exact and in order, never from another session: an edge that leads out
of its session, which only a damaged store has, is not followed, down or up. What several summaries cover, which is
damage too, is shown once, where it comes first. Reading is bounded: by a number of levels, each of which holds a record
once, and by pages whose cursors stay valid while turns come and go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from libravdb_memory.errors import InvalidInputError, NotFoundError, StoreCorruptError
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.model import Record, Turn
from libravdb_memory.namespaces import history_of, may_cover, namespace_of, summaries_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import AllOf, Covered, Equals, Key, Not, Store
from libravdb_memory.summaries import Node, is_summary, node_of

DEEPEST = 64
"""Levels after which a graph is taken for damaged: each level needs at least two summaries of the one below."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """What lies below a summary, in order: turns, or summaries where the depth asked for ends at them. `cursor` goes
    on where this page ends; None on the last."""

    node: Node
    items: tuple[Turn | Node, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class Branch:
    """A summary with the summaries below it; the turns below those of level 1 are not read."""

    node: Node
    below: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """A session from its oldest turn to its newest: summaries, and the turns that nothing covers. `tail` counts those
    of the newest turns that are never compacted; `turns` counts all, covered or not."""

    namespace: str
    session: str
    turns: int
    entries: tuple[Branch | Turn, ...]
    tail: int


_Placed: TypeAlias = tuple[int, Record]
"""A record, and the ref of the first turn below it."""


def uncovered(store: Store, collection: str, session: str) -> Iterator[Record]:
    """The turns or summaries of a session that nothing covers, in order of arrival."""
    return every(store, collection, AllOf((Equals("group", session), Not(Covered()))))


def roots(store: Store, namespace: str, session: str) -> list[Node]:
    """The summaries that no other covers, in the order of what they cover."""
    return [node_of(record) for record in root_records(store, namespace, session)]


def root_records(store: Store, namespace: str, session: str) -> list[Record]:
    placed = _in_order(store, namespace, uncovered(store, summaries_of(namespace), session))
    return [record for _, record in placed]


def children(store: Store, key: Key) -> list[Record]:
    """What a summary covers directly."""
    return [record for record in store.children(key) if _may_cover(key, _key(record))]


def parents(store: Store, key: Key) -> list[Record]:
    """The summaries that cover a turn or summary directly; a sound store has one at most."""
    return [record for record in store.parents(key) if _may_cover(_key(record), key)]


def ancestors(store: Store, keys: Iterable[Key]) -> set[Key]:
    """Every summary above these records."""
    above: set[Key] = set()
    waiting = list(keys)
    while waiting:
        fresh = set(map(_key, parents(store, waiting.pop()))) - above
        waiting += fresh
        above |= fresh
    return above


def expand(
    store: Store, node: Node, *, depth: int | None = None, limit: int = 200, after: str | None = None
) -> Expansion:
    """The turns below a summary; or, with a depth, what lies so many levels below it."""
    below = _below(store, node, DEEPEST if depth is None else depth)
    start = _start(after, below)
    found = below[start:]
    page = found[:limit]
    items = tuple(node_of(record) if is_summary(record) else turn_of(record) for _, record in page)
    return Expansion(node, items, str(page[-1][0]) if len(found) > len(page) else None)


def find_summary(store: Store, summary_id: str, namespace: str | None, session: str | None) -> Node:
    found = [record for record in store.find(summary_id) if session in (None, record.group)]
    for node in map(node_of, filter(is_summary, found)):
        if namespace in (None, node.namespace):
            return node
    owners = {namespace_of(record.collection) for record in found}  # of turns
    if owners - {None} if namespace is None else namespace in owners:
        raise NotFoundError(summary_id, f"{summary_id!r} is a turn, not a summary")
    raise NotFoundError(summary_id, f"there is no summary {summary_id!r}")


def history(store: Store, namespace: str, session: str, tail: Sequence[Record]) -> History:
    collection = history_of(namespace)
    placed_before = set[int]()
    branches = [
        (place, _branch(store, node_of(record), DEEPEST, placed_before))
        for place, record in _in_order(store, namespace, uncovered(store, summaries_of(namespace), session))
    ]
    bare = list(uncovered(store, collection, session))
    shown = {record.ref for record in bare}
    inside = [record for record in tail if record.ref in shown]
    turns = len(bare) + sum(branch.node.turns for _, branch in branches)
    placed: list[tuple[int, Branch | Turn]] = [*branches, *((record.ref, turn_of(record)) for record in bare)]
    placed.sort(key=lambda item: item[0])
    return History(namespace, session, turns, tuple(entry for _, entry in placed), len(inside))


def _branch(store: Store, node: Node, levels: int, placed_before: set[int]) -> Branch:
    """Without what is in a branch by now, to which this one is added."""
    if levels <= 0:
        raise _too_deep(store)
    if node.level <= 1:
        return Branch(node)
    summaries = [record for record in children(store, node.key) if is_summary(record)]
    below: list[Branch] = []
    for _, record in _in_order(store, node.namespace, summaries):
        if record.ref not in placed_before:
            placed_before.add(record.ref)
            below.append(_branch(store, node_of(record), levels - 1, placed_before))
    return Branch(node, tuple(below))


def _below(store: Store, node: Node, depth: int) -> list[_Placed]:
    """What lies at that depth, in order; turns wherever they are met."""
    level = children(store, node.key)
    for _ in range(depth - 1):
        deeper = [record for record in level if is_summary(record)]
        if not deeper:
            break
        turns = [record for record in level if not is_summary(record)]
        found = (child for record in deeper for child in children(store, _key(record)))
        level = list({record.ref: record for record in (*turns, *found)}.values())
    else:
        if depth >= DEEPEST and any(map(is_summary, level)):
            raise _too_deep(store)
    return _in_order(store, node.namespace, level)


def _in_order(store: Store, namespace: str, records: Iterable[Record]) -> list[_Placed]:
    """By the first turn below each, and once however many ways lead to it."""
    placed: dict[int, _Placed] = {}
    for record in records:
        first = record
        if is_summary(record):
            first = store.get(Key(history_of(namespace), node_of(record).first, record.group)) or record
        placed[record.ref] = (first.ref, record)
    return sorted(placed.values(), key=lambda item: (item[0], item[1].ref))


def _key(record: Record) -> Key:
    return Key(record.collection, record.id, record.group)


def _may_cover(parent: Key, child: Key) -> bool:
    return may_cover((parent.collection, parent.group), (child.collection, child.group))


def _start(after: str | None, below: Sequence[_Placed]) -> int:
    """How many of these the pages before held. A cursor names the last of them, and there is more behind it."""
    if after is None:
        return 0
    places = [str(place) for place, _ in below[:-1]]
    if after not in places:
        raise InvalidInputError("after", f"{after!r} is no cursor of this expansion")
    return places.index(after) + 1


def _too_deep(store: Store) -> StoreCorruptError:
    return StoreCorruptError(store.path, f"summaries lie more than {DEEPEST} levels deep")
