"""What an erase would take: a turn, a session or a user, with everything made from it."""

from __future__ import annotations

from dataclasses import dataclass

from libravdb_memory.copies import collections_of, copies_of_session, copies_of_turn
from libravdb_memory.errors import NotFoundError
from libravdb_memory.forgetting import derived_from
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import given_session, guidance_of, history_of, resolve_namespace, summaries_of
from libravdb_memory.shards import Aftermath, aftermath, rule_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Key, Store
from libravdb_memory.wording import counted


@dataclass(frozen=True, slots=True)
class Stating:
    """The turn that states a rule."""

    turn: str
    session: str


@dataclass(frozen=True, slots=True)
class Census:
    """`pointless` rules go because they only took back what goes, and their turns stay; those `standing` again were
    taken back by what goes."""

    turns: int
    summaries: int
    rules: int
    copies: int = 0
    pointless: tuple[Stating, ...] = ()
    standing: tuple[Stating, ...] = ()

    @property
    def made(self) -> str:
        """In words, what goes beside the turns; empty when nothing does."""
        summaries = f"{self.summaries:,} {'summary' if self.summaries == 1 else 'summaries'}"
        copies = f"{self.copies:,} {'copy' if self.copies == 1 else 'copies'}"
        named = ((self.summaries, summaries), (self.rules, counted(self.rules, "rule")), (self.copies, copies))
        return " and ".join(words for number, words in named if number)


def census_of_turn(store: Store, turn: Turn) -> Census:
    record = store.get(Key(history_of(turn.user), turn.id, turn.session))
    if record is None:
        raise NotFoundError(turn.id)
    derived = derived_from(store, record)
    copies = sum(1 for _ in copies_of_turn(store, turn.user, turn.session, turn.id))
    return Census(1, len(derived.summaries), len(derived.rules), copies, *_told(derived.aftermath))


def census(store: Store, user: str | None, session: str | None) -> Census:
    namespace, name = resolve_namespace(user, session), given_session(session)
    collections = (history_of(namespace), summaries_of(namespace), guidance_of(namespace))
    turns, summaries, rules = (_count(store, collection, name) for collection in collections)
    left = Aftermath() if name is None else aftermath(store, namespace, lambda session, _: session == name)
    return Census(turns, summaries, rules, _count_copies(store, namespace, name), *_told(left))


def _told(left: Aftermath) -> tuple[tuple[Stating, ...], tuple[Stating, ...]]:
    pointless, standing = (
        tuple(Stating(rule_of(record).turn, record.group) for record in records)
        for records in (left.pointless, left.standing)
    )
    return pointless, standing


def _count_copies(store: Store, namespace: str, session: str | None) -> int:
    if session is None:
        return sum(_count(store, name, None) for name in collections_of(store, namespace))
    return sum(1 for _ in copies_of_session(store, namespace, session))


def _count(store: Store, collection: str, session: str | None) -> int:
    if session is None:
        return sum(info.count for info in store.collections(collection) if info.name == collection)
    return sum(1 for _ in every(store, collection, Equals("group", session)))
