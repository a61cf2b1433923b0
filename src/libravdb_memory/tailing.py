"""The newest turns of a session, as the store has them.

Law: what is read holds at least the tail that so many tokens could take, with the first bundle of the base tail whole;
a tool's result is not there without its call, unless that lies very far back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def newest_records(
    store: Store, counter: TokenCounter, collection: str, session: str, *, target: int, least: int
) -> tuple[Record, ...]:
    """Oldest first: more than `target` tokens of them, or all there are."""
    newest: list[Record] = []
    prices: list[int] = []
    cursor = None
    while True:
        page = store.page(collection, where=Equals("group", session), after=cursor, limit=_PAGE, newest_first=True)
        newest += page.records
        prices += [counter.count(record.text) for record in page.records]
        cursor = page.cursor
        if cursor is None or (sum(prices) > target and _holds_a_tail(newest[::-1], prices[::-1], least, target)):
            return tuple(reversed(newest))


def _holds_a_tail(records: Sequence[Record], prices: Sequence[int], least: int, target: int) -> bool:
    """Whether nothing before these could belong to it: no bundle of it is cut, and no result lacks its call."""
    turns = tail_turns(records)
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
    newest = newest_records(store, counter, collection, session, target=target, least=least)
    prices = [counter.count(record.text) for record in newest]
    return newest[recent_start(tail_turns(newest), prices, least, target) :]


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
