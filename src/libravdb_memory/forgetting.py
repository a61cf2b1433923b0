"""Erasing for good: turns, and everything that was made from them.

Laws: with a turn go the summaries above it, those that a model wrote while it was shown one of these, the guidance
taken from it and what is kept only because it took back that, the copies that hosts made of it, and every receipt that
quotes it. With a session or a user go the notes that name them; nothing of another namespace goes. The other turns
below such a summary are uncovered again, and the next compaction covers them. What is being made meanwhile from the
erased words is never written. All that goes from disk goes in one commit: a crash leaves everything or nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from libravdb_memory import lineage, notes, sessions
from libravdb_memory.copies import collections_of, copies_of_session, copies_of_turn
from libravdb_memory.excluding import Excluding
from libravdb_memory.model import Record
from libravdb_memory.namespaces import (
    dreams_of,
    guidance_of,
    history_of,
    namespace_of,
    states_of,
    summaries_of,
    summarised_namespace_of,
)
from libravdb_memory.quoting import Erased
from libravdb_memory.receipts import ReceiptLog
from libravdb_memory.shards import Aftermath, aftermath, shard_key
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Erasure, Key, Selection, Store
from libravdb_memory.summaries import Node, node_of
from libravdb_memory.underway import UnderWay


@dataclass(frozen=True, slots=True)
class Doomed:
    """What goes, and the words by which receipts are found that quote it: the turns' own, and what was made of them."""

    selection: Selection
    said: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Derived:
    """What was made from a turn: the summaries above it and those told of them, and the rule taken from it; and what
    becomes of other rules without it."""

    summaries: tuple[Record, ...]
    rules: tuple[Record, ...]
    aftermath: Aftermath


def derived_from(store: Store, record: Record) -> Derived:
    namespace = namespace_of(record.collection) or ""
    above = lineage.ancestors(store, [Key(record.collection, record.id, record.group)])
    above |= _told_of(store, namespace, record.group, above)
    rule = store.get(shard_key(namespace, record.group, record.id))
    summaries = (store.get(key) for key in sorted(above, key=lambda key: key.id))
    left = aftermath(store, namespace, lambda session, turn: (session, turn) == (record.group, record.id))
    return Derived(tuple(found for found in summaries if found is not None), () if rule is None else (rule,), left)


def doomed_with(store: Store, record: Record, derived: Derived) -> Doomed:
    """What goes with a turn from which this was derived."""
    namespace = namespace_of(record.collection) or ""
    copied, pointless = tuple(copies_of_turn(store, namespace, record.group, record.id)), derived.aftermath.pointless
    keys = map(_key, (record, *derived.summaries, *copied, *pointless))
    shard = shard_key(namespace, record.group, record.id)
    said = tuple(found.text for found in (record, *derived.rules, *copied))
    return Doomed(Selection(keys=(shard, *keys)), said, tuple(found.text for found in derived.summaries))


def text_of(store: Store, key: Key) -> str | None:
    record = store.get(key)
    return None if record is None else record.text


class Forgetting:
    def __init__(self, store: Store, receipts: ReceiptLog, excluding: Excluding, building: UnderWay) -> None:
        self._store = store
        self._receipts = receipts
        self._excluding = excluding
        self._building = building

    def turn(self, record: Record) -> Erasure:
        """One turn, with what was made from it and the copies of it."""
        with self._excluding.erasing():
            return self._erase(doomed_with(self._store, record, derived_from(self._store, record)))

    def left(self, namespace: str, session: str, turn_id: str) -> Erasure:
        """What is left of a turn that is not there itself: what hosts copied from it, and a receipt that quotes it."""
        with self._excluding.erasing():
            copied = tuple(copies_of_turn(self._store, namespace, session, turn_id))
            doomed = Doomed(Selection(keys=tuple(map(_key, copied))), tuple(record.text for record in copied))
            if any(record.group == session for record in self._store.find(turn_id)):
                return self._erase(doomed)  # the id is that of something else
            keys = (Key(history_of(namespace), turn_id, session), shard_key(namespace, session, turn_id))
            gone, receipts = self._taken(replace(doomed, selection=Selection(keys=(*doomed.selection.keys, *keys))))
            return replace(gone, records=gone.records + receipts)

    def beside(self, record: Record) -> Erasure:
        """What is no turn: a rule, a dream, what a host put there; or a summary, with all above it and those told of
        it. The turns that they were made from stay."""
        with self._excluding.erasing():
            namespace = summarised_namespace_of(record.collection)
            if namespace is None:
                return self._erase(Doomed(Selection(keys=(_key(record),)), (record.text,)))
            above = lineage.ancestors(self._store, [_key(record)]) | {_key(record)}
            keys = above | _told_of(self._store, namespace, record.group, above)
            gone = [found for key in keys if (found := self._store.get(key)) is not None]
            return self._erase(Doomed(Selection(keys=tuple(keys)), made=tuple(each.text for each in gone)))

    def session(self, namespace: str, session: str) -> Erasure:
        collections = (history_of(namespace), summaries_of(namespace), guidance_of(namespace), states_of(namespace))
        with self._excluding.erasing():
            said, made = (
                tuple(self._texts(names, session))
                for names in ((history_of(namespace), guidance_of(namespace)), (summaries_of(namespace),))
            )
            groups = tuple((collection, session) for collection in collections)
            copied = tuple(copies_of_session(self._store, namespace, session))
            pointless = aftermath(self._store, namespace, lambda name, _: name == session).pointless
            named = notes.of_session(self._store, namespace, session)
            sessions.forget_where_shared(self._store, namespace, [session])
            selection = Selection((*map(_key, (*copied, *pointless)), *named), groups)
            said = (*said, *(record.text for record in copied))
            return self._erase(Doomed(selection, said, made), notes=len(named))

    def namespace(self, namespace: str) -> Erasure:
        made = (summaries_of(namespace), guidance_of(namespace), states_of(namespace), dreams_of(namespace))
        with self._excluding.erasing():
            copied = collections_of(self._store, namespace)
            named = notes.of_namespace(self._store, namespace)
            of_theirs = sessions.sessions_of(self._store, namespace)
            sessions.forget_where_shared(self._store, namespace, of_theirs)
            selection = Selection(named, collections=(history_of(namespace), *made, *copied))
            return self._erase(Doomed(selection), notes=len(named))

    def _texts(self, collections: Iterable[str], session: str) -> Iterable[str]:
        for collection in collections:
            yield from (record.text for record in every(self._store, collection, Equals("group", session)))

    def _erase(self, doomed: Doomed, notes: int = 0) -> Erasure:
        """What went, notes and receipts aside: they say nothing that anybody stored."""
        gone, _ = self._taken(doomed)
        return replace(gone, records=gone.records - notes)

    def _taken(self, doomed: Doomed) -> tuple[Erasure, int]:
        """What went, and how many receipts with it."""
        erased = Erased(doomed.selection, doomed.said, doomed.made, partial(text_of, self._store))
        with self._receipts.losing(erased) as quoting:
            keys = (*doomed.selection.keys, *quoting)
            gone = self._store.erase(replace(doomed.selection, keys=keys))
        # A context under way may have read the words before they went; its receipt is not kept either.
        self._building.wait_for_those_under_way()
        self._receipts.lost(erased)
        return replace(gone, records=gone.records - len(quoting)), len(quoting)


def _key(record: Record) -> Key:
    return Key(record.collection, record.id, record.group)


def _told_of(store: Store, namespace: str, session: str, gone: set[Key]) -> set[Key]:
    """Summaries that a model wrote after it had been shown one that goes, and all above them, and so on."""
    nodes = [node_of(record) for record in every(store, summaries_of(namespace), Equals("group", session))]
    told = [node for node in nodes if node.prior]
    found: set[Key] = set()
    names = {key.id for key in gone}
    while fresh := [node for node in told if node.key not in found | gone and not names.isdisjoint(node.prior)]:
        found |= _and_above(store, fresh)
        names |= {key.id for key in found}
    return found - gone


def _and_above(store: Store, nodes: Iterable[Node]) -> set[Key]:
    keys = {node.key for node in nodes}
    return keys | lineage.ancestors(store, keys)
