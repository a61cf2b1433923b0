"""A rule of a conversation as it is kept: word by word, at an address that follows from its turn's; and read again.

What takes back another rule says which by a mark, from which nobody can tell the address of a rule that was erased. To
who reads it, the mark is told as the id of that rule while it is kept, and not at all when it is not. What is kept for
taking back alone goes when nothing is left that it takes back.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from libravdb_memory.identity import Json
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import guidance_of, guided_namespace_of, history_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Key, Store

if TYPE_CHECKING:
    from libravdb_memory.compact.guidance import Reason

EVERY_ANSWER = "for_every_answer"
"""Metadata of a rule that applies whatever a question is about."""
TAKES_BACK = "takes_back"
"""Metadata of what takes back other rules: their marks."""

ONLY_TAKES_BACK: Reason = "takes back a rule"
"""Why that is kept which would not be for its own words."""

_NEIGHBOURS = 1000
"""The newest rules of a namespace, among which those are looked for that take back one another."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A rule of a turn, in the turn's own words."""

    turn: str
    session: str
    text: str
    ts: int
    stability: float
    reason: Reason
    speaker: str | None = None
    likeness: float | None = None
    """To known guidance, of what was not read as a rule."""
    takes_back: tuple[str, ...] = ()
    """The marks of the rules that it takes back."""

    @property
    def for_every_answer(self) -> bool:
        from libravdb_memory.compact.every_answer import concerns_every_answer  # its patterns take a while to make

        return concerns_every_answer(self.text)

    def draft(self, namespace: str) -> Draft:
        key = shard_key(namespace, self.session, self.turn)
        metadata: dict[str, Json] = {
            "type": "guidance_shard",
            "role": "user",
            "source_turn_id": self.turn,
            "stability_weight": self.stability,
            "provenance_class": "elevated_guidance",
            "protection_reason": self.reason,
        }
        if self.for_every_answer:
            metadata[EVERY_ANSWER] = True
        if self.takes_back:
            metadata[TAKES_BACK] = list(self.takes_back)
        if self.likeness is not None:
            metadata["guidance_likeness"] = round(self.likeness, 3)
        if self.speaker:
            metadata["speaker"] = self.speaker
        return Draft(key.collection, key.id, self.text, metadata, self.ts, self.session)


def shard_key(namespace: str, session: str, turn_id: str) -> Key:
    return Key(guidance_of(namespace), _begin(session) + turn_id, session)


def turn_of_rule(session: str, rule_id: str) -> str | None:
    """The id of the turn that states a rule; None of what is no rule of that session."""
    return rule_id.removeprefix(_begin(session)) if rule_id.startswith(_begin(session)) else None


def mark_of(rule_id: str) -> str:
    return hashlib.sha256(rule_id.encode()).hexdigest()[:16]


def rule_mark(record: Record) -> str:
    """The mark of a rule, or of the one that this turn states, if it states any."""
    is_rule = guided_namespace_of(record.collection) is not None
    return mark_of(record.id if is_rule else _begin(record.group) + record.id)


def taken_back_by(record: Record) -> frozenset[str]:
    """The marks of the rules that this one takes back."""
    marks = record.metadata.get(TAKES_BACK)
    return frozenset(mark for mark in marks if isinstance(mark, str)) if isinstance(marks, list) else frozenset()


def _begin(session: str) -> str:
    return f"guidance:{session}:"


# ── when turns are erased ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What becomes of other rules when turns go: those that are `pointless`, because they only took back what goes, and
    those that are `standing` again, because nothing that stays takes them back."""

    pointless: tuple[Record, ...] = ()
    standing: tuple[Record, ...] = ()


def aftermath(store: Store, namespace: str, goes: Callable[[str, str], bool]) -> Aftermath:
    """Where the turns go of which `goes` says so, by session and id. What takes back a turn that stays keeps its point,
    also where that turn's rule is not kept."""
    rules = list(every(store, guidance_of(namespace)))
    gone = [rule for rule in rules if goes(rule.group, rule_of(rule).turn)]
    lost = {mark_of(rule.id) for rule in gone}
    stay = {rule.ref: rule for rule in rules} if lost else {}
    for rule in gone:
        del stay[rule.ref]
    pointless: list[Record] = []
    marks_that_stay = cache(lambda: _marks_that_stay(store, namespace, goes))  # it reads every turn of the user
    for rule in tuple(stay.values()):
        meant = taken_back_by(rule)
        if rule_of(rule).reason == ONLY_TAKES_BACK and not lost.isdisjoint(meant):
            others = meant - lost
            if not others or others.isdisjoint(marks_that_stay()):
                pointless.append(stay.pop(rule.ref))
    freed = {mark for rule in gone for mark in taken_back_by(rule)}
    bound = {mark for rule in stay.values() for mark in taken_back_by(rule)}
    return Aftermath(tuple(pointless), tuple(each for each in stay.values() if mark_of(each.id) in freed - bound))


def _marks_that_stay(store: Store, namespace: str, goes: Callable[[str, str], bool]) -> set[str]:
    turns = every(store, history_of(namespace))
    return {rule_mark(turn) for turn in turns if not goes(turn.group, turn.id)}


# ── read again ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class KeptRule:
    """A rule as the store has it. `turn` is the id of the turn that states it, `reason` why it is kept, `likeness` how
    much it is like known guidance, where that was the reason. `takes_back` and `taken_back_by` are ids of rules, in the
    order in which they were kept: of those on the same page, and of the newest thousand of the user."""

    id: str
    user: str
    session: str
    turn: str
    text: str
    ts: int
    reason: str
    likeness: float | None
    for_every_answer: bool
    speaker: str | None
    takes_back: tuple[str, ...] = ()
    taken_back_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guidance:
    """A page of rules, in the order in which they were kept. `cursor` goes on where it ends; None on the last. `total`
    counts those of all pages."""

    rules: tuple[KeptRule, ...]
    cursor: str | None
    total: int


def guidance(store: Store, namespace: str, session: str | None, *, limit: int, after: str | None) -> Guidance:
    collection = guidance_of(namespace)
    where = None if session is None else Equals("group", session)
    page = store.page(collection, where=where, after=after, limit=limit)
    is_all = where is None and after is None and page.cursor is None
    others = () if is_all else store.page(collection, limit=_NEIGHBOURS, newest_first=True).records
    return Guidance(
        tuple(_linked(page.records, others)),
        page.cursor,
        len(page.records) if is_all else _count(store, collection, session),
    )


def _count(store: Store, collection: str, session: str | None) -> int:
    if session is not None:
        return sum(group.count for group in store.groups(collection, name=session).groups)
    return sum(info.count for info in store.collections(collection) if info.name == collection)


def _linked(records: Sequence[Record], others: Iterable[Record]) -> Iterator[KeptRule]:
    """The rules of these records, with what they take back and what takes them back among these and others."""
    known = sorted({each.ref: each for each in (*others, *records)}.items())
    marks = {mark_of(each.id): each.id for _, each in known}
    changes: dict[str, list[str]] = defaultdict(list)
    for _, each in known:
        for mark in taken_back_by(each):
            changes[mark].append(each.id)
    for record in records:
        meant = taken_back_by(record)
        yield replace(
            rule_of(record),
            takes_back=tuple(name for mark, name in marks.items() if mark in meant) if meant else (),
            taken_back_by=tuple(changes.get(mark_of(record.id), ())),
        )


def rule_of(record: Record) -> KeptRule:
    meta = record.metadata
    turn, reason, speaker = (meta.get(name) for name in ("source_turn_id", "protection_reason", "speaker"))
    likeness = meta.get("guidance_likeness")
    return KeptRule(
        id=record.id,
        user=guided_namespace_of(record.collection) or "",
        session=record.group,
        turn=turn if isinstance(turn, str) else "",
        text=record.text,
        ts=record.ts,
        reason=reason if isinstance(reason, str) else "",
        likeness=float(likeness) if isinstance(likeness, int | float) else None,
        for_every_answer=meta.get(EVERY_ANSWER) is True,
        speaker=speaker if isinstance(speaker, str) else None,
    )
