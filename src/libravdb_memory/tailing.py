"""The newest turns of a session, as the store has them.

Law: what is read holds at least the tail that so many tokens could take, with the first bundle of the base tail whole;
a tool's result is not there without its call, unless that lies very far back. Reading takes as long as what is read,
however long a bundle is: no turn is looked at more than a few times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.assemble.tail import TailTurn, base_start, recent_start
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.model import Record
from libravdb_memory.store.protocol import Equals, Store
from libravdb_memory.tokens import TokenCounter, share_of

_PAGE = 24
_FARTHEST = 240
"""Turns among which the call of a tool's result is looked for."""
_GROWTH = 2
"""Farther back, each page is the so manyth part of what was read: what lies behind a page is looked at anew with it."""


@dataclass(frozen=True, slots=True)
class _Newest:
    """Oldest first: each with its price, and as the tail sees it."""

    records: tuple[Record, ...]
    prices: tuple[int, ...]
    turns: tuple[TailTurn, ...]


def newest_records(
    store: Store, counter: TokenCounter, collection: str, session: str, *, target: int, least: int
) -> tuple[Record, ...]:
    """Oldest first: more than `target` tokens of them, or all there are."""
    return _newest(store, counter, collection, session, target, least).records


def _newest(store: Store, counter: TokenCounter, collection: str, session: str, target: int, least: int) -> _Newest:
    newest: list[Record] = []
    prices: list[int] = []
    turns: list[TailTurn] = []
    cursor = None
    while True:
        limit = _PAGE if len(newest) < _FARTHEST else len(newest) // _GROWTH
        page = store.page(collection, where=Equals("group", session), after=cursor, limit=limit, newest_first=True)
        newest += page.records
        prices += [counter.count(record.text) for record in page.records]
        turns += tail_turns(page.records)
        cursor = page.cursor
        if cursor is None or (sum(prices) > target and _holds_a_tail(turns[::-1], prices[::-1], least, target)):
            return _Newest(tuple(newest[::-1]), tuple(prices[::-1]), tuple(turns[::-1]))


def _holds_a_tail(turns: Sequence[TailTurn], prices: Sequence[int], least: int, target: int) -> bool:
    """Whether nothing before these could belong to it: no bundle of it is cut, and no result lacks its call."""
    if base_start(turns, least) == 0:
        return False
    tail = turns[recent_start(turns, prices, least, target) :]
    called = {call for turn in tail for call in turn.calls}
    return len(turns) >= _FARTHEST or all(call in called for turn in tail for call in turn.answers)


def tail_of(
    store: Store, counter: TokenCounter, settings: AssemblySettings, collection: str, session: str
) -> tuple[Record, ...]:
    """The turns that stay as they are: the tail that a prompt of the start-up budget may show, at the most. (Texts
    alone are counted here, a prompt counts their frames too.)"""
    target, least = share_of(settings.startup_budget, settings.tail_share), settings.tail_turns
    newest = _newest(store, counter, collection, session, target, least)
    return newest.records[recent_start(newest.turns, newest.prices, least, target) :]


def tail_turns(records: Iterable[Record]) -> tuple[TailTurn, ...]:
    return tuple(map(_tail_turn, records))


def _tail_turn(record: Record) -> TailTurn:
    turn = turn_of(record)
    return TailTurn(
        id=turn.id,
        role=turn.role,
        text=turn.text,
        ts=turn.ts,
        speaker=turn.speaker,
        session=turn.session,
        bundle=_text(turn.metadata.get("bundle")),
        calls=tuple(_ids(turn.metadata.get("tool_calls"))),
        answers=tuple(_ids(turn.metadata.get("tool_call_id"))),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _ids(value: object) -> Iterable[str]:
    """One id, or several; calls may be given whole, as chat endpoints have them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast(list[object], value):
            named = cast(dict[str, object], item).get("id") if isinstance(item, dict) else item
            yield from (named,) if isinstance(named, str) else ()
