"""Receipts in the store: what each prompt was made from, kept under a bound, and enough to make it again.

A receipt holds the whole offer (rules, turns, candidates with their scores), the settings, the counter's id and the
hash of the text, so that a replay calls the same pure function on the same values. Laws: a replay gives the same bytes
or says that it cannot; erasing a turn removes every receipt that quotes it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, cast

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.assemble.fill import Candidate, Offer, Rule, fill
from libravdb_memory.assemble.receipt import Assembly, Rejection
from libravdb_memory.assemble.tail import TailTurn
from libravdb_memory.errors import NotFoundError
from libravdb_memory.gate.echo import Fingerprint, fingerprint
from libravdb_memory.identity import canonical_json
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import namespace_of
from libravdb_memory.store.protocol import Key, Put, Remove, Selection, Store
from libravdb_memory.tokens import TokenCounter

_PREFIX = "receipt:"
_ECHOES_FROM = 16


@dataclass(frozen=True, slots=True)
class Receipt:
    """`inputs_hash` names everything the text was made from; `notes` say what recall could not use."""

    id: str
    namespace: str
    session: str
    prompt: str
    created_ms: int
    counter_id: str
    settings: AssemblySettings
    offer: Offer
    text_hash: str
    notes: tuple[str, ...] = ()

    @property
    def inputs_hash(self) -> str:
        return _hash(
            canonical_json({"offer": asdict(self.offer), "settings": asdict(self.settings), "by": self.counter_id})
        )


@dataclass(frozen=True, slots=True)
class Replay:
    """`assembly` is None when it cannot be made again; `reason` then says why."""

    identical: bool
    assembly: Assembly | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a record is not in a prompt. `rejection` is None when it was never offered, or is in it after all."""

    record_id: str
    reason: str
    rejection: Rejection | None = None


def why_not(assembly: Assembly, record_id: str) -> WhyNot:
    for rejection in assembly.rejections:
        if rejection.id == record_id:
            return WhyNot(record_id, f"{rejection.reason}, margin {rejection.margin:g}", rejection)
    if any(item.id == record_id for item in assembly.items):
        return WhyNot(record_id, "it is in the prompt")
    return WhyNot(record_id, "it was not among the candidates of this question")


def hash_of(text: str) -> str:
    return _hash(text)


class ReceiptLog:
    def __init__(self, store: Store, counter: TokenCounter, keep: int) -> None:
        self._store = store
        self._counter = counter
        self._keep = keep
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._echoes: dict[str, tuple[Fingerprint, ...]] = {}

    def add(self, receipt: Receipt) -> None:
        """Keep a receipt; the oldest of its namespace goes when there are too many."""
        collection = _PREFIX + receipt.namespace
        draft = Draft(collection, receipt.id, _packed(receipt), ts=receipt.created_ms)
        with self._lock:
            count = self._count(collection) + 1
            surplus = self._oldest(collection, count - self._keep)
            self._store.commit([Put(draft, searchable=False), *map(Remove, surplus)])
            self._counts[collection] = count - len(surplus)
            known = self._known_echoes(receipt.namespace)
            self._echoes[receipt.namespace] = (*known, _echo_of(receipt))[-_ECHOES_FROM:]

    def get(self, receipt_id: str) -> Receipt:
        for record in self._store.find(receipt_id):
            if record.collection.startswith(_PREFIX):
                return _unpacked(record)
        raise NotFoundError(receipt_id)

    def recent(self, namespace: str, limit: int) -> tuple[Receipt, ...]:
        """Newest first."""
        page = self._store.page(_PREFIX + namespace, limit=limit, newest_first=True)
        return tuple(map(_unpacked, page.records))

    def replay(self, receipt: Receipt) -> Replay:
        if receipt.counter_id != self._counter.id:
            reason = f"tokens were counted by {receipt.counter_id}; now {self._counter.id} is configured"
            return Replay(False, None, reason)
        assembly = fill(receipt.offer, self._counter, receipt.settings)
        if hash_of(assembly.text) == receipt.text_hash:
            return Replay(True, assembly)
        return Replay(False, assembly, "the same inputs gave another text: this version assembles otherwise")

    def echoes(self, namespace: str) -> Fingerprint:
        """Fingerprints of what memory injected lately, so that it is not taken for news when it comes back."""
        with self._lock:
            return frozenset[int]().union(*self._known_echoes(namespace))

    def forget(self, erased: Selection) -> None:
        """Remove the receipts that quote a turn of what was erased."""
        for key in erased.keys:
            self._forget(key.collection, key.group, key.id)
        for collection, group in erased.groups:
            self._forget(collection, session=group)
        for collection in erased.collections:
            self._forget(collection)

    def _forget(self, collection: str, session: str | None = None, turn_id: str | None = None) -> None:
        namespace = namespace_of(collection)
        if namespace is None:
            return
        with self._lock:
            keys = [
                Key(_PREFIX + namespace, receipt.id)
                for receipt in self._all(namespace)
                if any(session in (None, group) and turn_id in (None, name) for group, name in _quoted(receipt.offer))
            ]
            self._store.commit([Remove(key) for key in keys])
            self._counts.pop(_PREFIX + namespace, None)
            self._echoes.pop(namespace, None)

    def _all(self, namespace: str) -> Iterator[Receipt]:
        cursor: str | None = None
        while True:
            page = self._store.page(_PREFIX + namespace, after=cursor, limit=100)
            yield from map(_unpacked, page.records)
            if (cursor := page.cursor) is None:
                return

    def _count(self, collection: str) -> int:
        if collection not in self._counts:
            known = (info.count for info in self._store.collections(collection) if info.name == collection)
            self._counts[collection] = next(known, 0)
        return self._counts[collection]

    def _oldest(self, collection: str, surplus: int) -> list[Key]:
        if surplus <= 0:
            return []
        return [Key(collection, record.id) for record in self._store.page(collection, limit=surplus).records]

    def _known_echoes(self, namespace: str) -> tuple[Fingerprint, ...]:
        if namespace not in self._echoes:
            recent = self.recent(namespace, _ECHOES_FROM)
            self._echoes[namespace] = tuple(_echo_of(receipt) for receipt in reversed(recent))
        return self._echoes[namespace]


def _echo_of(receipt: Receipt) -> Fingerprint:
    """Everything recalled counts, offered or injected: an echo of either would not be news."""
    offer = receipt.offer
    return fingerprint("\n\n".join(item.text for item in (*offer.elevated, *offer.recalled, *offer.recovered)))


def _quoted(offer: Offer) -> set[tuple[str, str]]:
    candidates = (*offer.elevated, *offer.recalled, *offer.recovered)
    return {(turn.session, turn.id) for turn in offer.turns} | {(item.session, item.id) for item in candidates}


# ── the stored form ──────────────────────────────────────────────────────────────────────────────────────────────


def _packed(receipt: Receipt) -> str:
    form = asdict(receipt)
    form["offer"]["visible"] = sorted(receipt.offer.visible)
    return base64.b85encode(zlib.compress(canonical_json(form).encode(), 6)).decode()


def _unpacked(record: Record) -> Receipt:
    form: dict[str, Any] = json.loads(zlib.decompress(base64.b85decode(record.text)))
    return Receipt(
        **{
            name: form[name]
            for name in ("id", "namespace", "session", "prompt", "created_ms", "counter_id", "text_hash")
        },
        settings=AssemblySettings(**form["settings"]),
        offer=_offer(form["offer"]),
        notes=tuple(form["notes"]),
    )


def _offer(form: dict[str, Any]) -> Offer:
    def candidates(name: str) -> tuple[Candidate, ...]:
        return tuple(Candidate(**item) for item in cast(list[dict[str, Any]], form[name]))

    def rules(name: str) -> tuple[Rule, ...]:
        return tuple(Rule(**item) for item in cast(list[dict[str, Any]], form[name]))

    return Offer(
        budget=form["budget"],
        hard=rules("hard"),
        soft=rules("soft"),
        turns=tuple(_turn(item) for item in form["turns"]),
        elevated=candidates("elevated"),
        recalled=candidates("recalled"),
        recovered=candidates("recovered"),
        visible=frozenset(form["visible"]),
    )


def _turn(form: dict[str, Any]) -> TailTurn:
    values: dict[str, Any] = form | {"calls": tuple(form["calls"]), "answers": tuple(form["answers"])}
    return TailTurn(**values)


def _hash(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
