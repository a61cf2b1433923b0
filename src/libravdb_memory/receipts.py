"""Receipts in the store: what each prompt was made from, kept under a bound, and enough to make it again.

A receipt holds the whole offer (rules, turns, candidates with their scores), the settings, the counter's id and the
hash of the text, so that a replay calls the same pure function on the same values. Laws: a replay gives the same bytes
or says that it cannot; erasing a turn removes every receipt that quotes it. A receipt can be read at once and is on
disk soon after, off the path of the answer: a crash may lose the newest ones, never a turn. Those on disk go in the
commit that takes the turn, and none that quotes it is written after that, so that a crash leaves none at any moment.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
import threading
import time
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, cast

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.assemble.fill import Candidate, Offer, Rule, fill, same_text
from libravdb_memory.assemble.receipt import Assembly, Rejection
from libravdb_memory.assemble.tail import TailTurn
from libravdb_memory.errors import (
    AmbiguousIdError,
    NotFoundError,
    StoreClosedError,
    StoreFullError,
    StoreReadOnlyError,
)
from libravdb_memory.gate.echo import Fingerprint, fingerprint
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import history_of
from libravdb_memory.quoting import Erased, candidates
from libravdb_memory.shards import turn_of_rule
from libravdb_memory.store.forking import abandon_in_children
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Key, Problem, Put, Remove, Store, Verification
from libravdb_memory.tokens import TokenCounter

_PREFIX = "receipt:"
_ECHOES_FROM = 16
_MOST_WAITING = 32
_OF_TURNS = ("session", "history")
_REFUSED_WHOLE = (StoreFullError, StoreReadOnlyError, StoreClosedError)
"""What a store says only before it committed anything."""


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
        made_from = {"offer": _offer_form(self.offer), "settings": asdict(self.settings), "by": self.counter_id}
        return _hash(_encode(made_from))


@dataclass(frozen=True, slots=True)
class Replay:
    """`assembly` is None when it cannot be made again; `reason` then says why."""

    identical: bool
    assembly: Assembly | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a record is not in a prompt. `rejection` is None when it was never offered, or is in it after all. `session`
    is that of the record, empty when it has none or was not offered. `rule` says what became of the rule that was kept
    of the turn, where one was offered; `reason` ends with it."""

    record_id: str
    reason: str
    rejection: Rejection | None = None
    session: str = ""
    rule: str = ""


def why_not(assembly: Assembly, record: str, session: str | None = None) -> WhyNot:
    """`record` is an id or, where several sessions have that id, `session/id`."""
    rejections = {(each.session, each.id): each for each in reversed(assembly.rejections)}
    places = rejections.keys() | {(item.session, item.id) for item in assembly.items}
    rule = next((place for place in places if _is_rule_of(place, record, session)), None)
    kept = "" if rule is None else f"the rule kept of it {_fate(rejections.get(rule))}"
    behind = kept and f"; {kept}"
    offered = [place for place in places if _is_named(place, record, session)]
    if len(offered) > 1:
        raise AmbiguousIdError(record, len(offered), tuple(sorted(place[0] for place in offered)))
    if not offered:
        return WhyNot(record, f"it was not among the candidates of this question{behind}", rule=kept)
    of_session, record_id = offered[0]
    rejection = rejections.get(offered[0])
    reason = "it is in the prompt" if rejection is None else rejection.words
    return WhyNot(record_id, reason + behind, rejection, of_session, kept)


def _is_rule_of(place: tuple[str, str], record: str, session: str | None) -> bool:
    of_session, name = place
    turn = turn_of_rule(of_session, name)
    return turn is not None and _is_named((of_session, turn), record, session)


def _fate(rejection: Rejection | None) -> str:
    return "is in the prompt" if rejection is None else f"is not in the prompt: {rejection.words}"


def _is_named(place: tuple[str, str], record: str, session: str | None) -> bool:
    return session in (None, place[0]) and record in (place[1], "/".join(place))


def hash_of(text: str) -> str:
    return _hash(text)


class ReceiptLog:
    def __init__(self, store: Store, counter: TokenCounter, keep: int) -> None:
        self._store = store
        self._counter = counter
        self._keep = keep
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: dict[str, Receipt] = {}
        self._counts: dict[str, int] = {}
        self._injected: dict[str, list[_Injected]] = {}
        self._erased: list[Erased] = []
        abandon_in_children(self)

    def abandon(self) -> None:
        """In a forked child: what waits is the parent's to write."""
        self._lock, self._writing, self._waiting = threading.Lock(), threading.Lock(), {}

    def add(self, receipt: Receipt, assembly: Assembly) -> None:
        """Keep a receipt; the oldest of its namespace goes when there are too many."""
        with self._lock:
            self._waiting[receipt.id] = receipt
            known = self._injected.get(receipt.namespace)
            if known is not None:
                known.append(_injected(receipt, assembly))
                del known[:-_ECHOES_FROM]
            crowded = len(self._waiting) >= _MOST_WAITING
        if crowded:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        with self._writing:
            waiting = self._waiting_without(self._erased)
            for namespace in dict.fromkeys(receipt.namespace for receipt in waiting):
                self._write(namespace, [receipt for receipt in waiting if receipt.namespace == namespace])

    def get(self, receipt_id: str) -> Receipt:
        with self._lock:
            waiting = self._waiting.get(receipt_id)
        if waiting is not None:
            return waiting
        for record in self._store.find(receipt_id):
            if record.collection.startswith(_PREFIX):
                return _unpacked(record)
        raise NotFoundError(receipt_id)

    def recent(self, namespace: str, limit: int, session: str | None = None) -> tuple[Receipt, ...]:
        """Newest first, of all sessions or of one."""
        self.flush()
        if session is None:
            return self._newest(namespace, limit)
        of_session = (receipt for receipt in self._all(namespace, newest_first=True) if receipt.session == session)
        return tuple(islice(of_session, limit))

    def replay(self, receipt: Receipt) -> Replay:
        if receipt.counter_id != self._counter.id:
            reason = f"tokens were counted by {receipt.counter_id}; now {self._counter.id} is configured"
            return Replay(False, None, reason)
        assembly = fill(receipt.offer, self._counter, receipt.settings)
        if hash_of(assembly.text) == receipt.text_hash:
            return Replay(True, assembly)
        return Replay(False, assembly, "the same inputs gave another text: this version assembles otherwise")

    def echoes(self, namespace: str, said: str) -> Fingerprint:
        """Fingerprints of what memory injected lately, so that it is not taken for news when it comes back. What was
        injected for `said` itself came after it was said and cannot have been repeated in it."""
        with self._lock:
            known = self._injected.get(namespace)
            waiting = [receipt for receipt in self._waiting.values() if receipt.namespace == namespace]
        if known is None:
            stored = reversed(self._newest(namespace, _ECHOES_FROM))
            latest = {receipt.id: receipt for receipt in (*stored, *waiting)}
            known = [self._injected_by(receipt) for receipt in list(latest.values())[-_ECHOES_FROM:]]
            with self._lock:
                known = self._injected.setdefault(namespace, known)
        own = same_text(said)
        return frozenset[int]().union(*(each.fingerprint() for each in tuple(known) if each.prompt != own))

    def foreseen(self, erased: Erased, patience_s: float) -> tuple[int, bool]:
        """How many would go, as far as they could be read in that time, and whether all were."""
        found, until = 0, time.monotonic() + patience_s
        self.flush()
        for key in self._stored(erased):
            found += key is not None
            if time.monotonic() > until:
                return found, False
        return found, True

    @contextmanager
    def losing(self, erased: Erased) -> Generator[tuple[Key, ...]]:
        """The stored receipts that quote it, to be erased with it inside. From here on none that does is written, until
        `lost`, or the store refuses the erasure whole; for good where it is broken off otherwise, as nobody knows by
        then how far it came."""
        with self._writing:
            quoting = tuple(key for key in self._stored(erased) if key is not None)
            self._erased.append(erased)
            try:
                yield quoting
            except _REFUSED_WHOLE:
                self._erased.remove(erased)
                raise
            finally:
                self._forget({key.collection.removeprefix(_PREFIX) for key in quoting})

    def lost(self, erased: Erased) -> None:
        """It is gone from the store, and so is everybody who may have read it there."""
        with self._writing:
            self._waiting_without([erased])
            self._erased.remove(erased)

    def _stored(self, erased: Erased) -> Iterator[Key | None]:
        """Of each receipt on disk of those who lose something, the newest first: its key if it quotes that, else None.
        Each is read once, whatever goes."""
        everybody = [info.name.removeprefix(_PREFIX) for info in self._store.collections(_PREFIX)]
        for namespace in erased.losing(everybody):
            for receipt in self._all(namespace, newest_first=True):
                yield Key(_PREFIX + namespace, receipt.id) if erased.is_quoted_by(receipt) else None

    def _waiting_without(self, erased: Sequence[Erased]) -> list[Receipt]:
        """What waits, when what quotes any of this was dropped."""
        with self._lock:
            waiting = list(self._waiting.values())
        quoting = {receipt.id for receipt in waiting if any(each.is_quoted_by(receipt) for each in erased)}
        with self._lock:
            for name in quoting:
                del self._waiting[name]
        self._forget({receipt.namespace for receipt in waiting if receipt.id in quoting})
        return [receipt for receipt in waiting if receipt.id not in quoting]

    def _forget(self, namespaces: Iterable[str]) -> None:
        """Receipts of these are gone."""
        with self._lock:
            for namespace in namespaces:
                self._counts.pop(_PREFIX + namespace, None)
                self._injected.pop(namespace, None)

    def _write(self, namespace: str, receipts: list[Receipt]) -> None:
        collection = _PREFIX + namespace
        puts = [
            Put(Draft(collection, receipt.id, _packed(receipt), ts=receipt.created_ms), searchable=False)
            for receipt in receipts[-self._keep :]
            if self._keep
        ]
        count = self._count(collection) + len(puts)
        surplus = self._oldest(collection, count - self._keep)
        self._store.commit([*map(Remove, surplus), *puts])
        with self._lock:
            self._counts[collection] = count - len(surplus)
            for receipt in receipts:
                self._waiting.pop(receipt.id, None)

    def _newest(self, namespace: str, limit: int) -> tuple[Receipt, ...]:
        page = self._store.page(_PREFIX + namespace, limit=limit, newest_first=True)
        return tuple(map(_unpacked, page.records))

    def _all(self, namespace: str, *, newest_first: bool = False) -> Iterator[Receipt]:
        cursor: str | None = None
        while True:
            page = self._store.page(_PREFIX + namespace, after=cursor, limit=20, newest_first=newest_first)
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

    def _injected_by(self, receipt: Receipt) -> _Injected:
        return _injected(receipt, fill(receipt.offer, self._counter, receipt.settings))


@dataclass(slots=True)
class _Injected:
    """What memory put into one prompt; the fingerprint is made when it is first asked for."""

    prompt: str
    text: str
    _fingerprint: Fingerprint | None = None

    def fingerprint(self) -> Fingerprint:
        if self._fingerprint is None:
            self._fingerprint = fingerprint(self.text)
        return self._fingerprint


def _injected(receipt: Receipt, assembly: Assembly) -> _Injected:
    taken = {(item.session, item.id) for item in assembly.items if item.tier in ("elevated", "recalled", "recovered")}
    texts = [item.text for item in candidates(receipt.offer) if (item.session, item.id) in taken]
    return _Injected(same_text(receipt.prompt), "\n\n".join(texts))


# ── verification ─────────────────────────────────────────────────────────────────────────────────────────────────


def verified(store: Store, found: Verification) -> Verification:
    """The same with the receipts that quote turns which are gone, and how many were looked at. Turns only ever go by
    being erased; what else a receipt quotes may have been replaced since."""
    count, problems = 0, list(found.problems)
    for info in store.collections(_PREFIX):
        namespace = info.name.removeprefix(_PREFIX)
        there: dict[Key, bool] = {}
        for record in every(store, info.name):
            count += 1
            keys = _turns_of(record, namespace)
            there |= {key: store.get(key) is not None for key in keys if key not in there}
            gone = next((key for key in keys if not there[key]), None)
            if gone is not None and store.get(Key(info.name, record.id)) is not None:  # else both went meanwhile
                detail = f"quotes the turn {gone.id!r} of session {gone.group!r}, which is gone"
                command = ["libravdb", "erase", "--user", namespace, f"--session={gone.group}", "--", gone.id]
                problems.append(Problem("receipt", f"receipt {record.id!r}", detail, shlex.join(command)))
    return Verification({**found.checked, "receipts": count}, tuple(problems))


def _turns_of(record: Record, namespace: str) -> list[Key]:
    """What a receipt quotes of the turns of a user, and of the rules that are kept of these."""
    try:
        offer = _unpacked(record).offer
    except (ValueError, KeyError, TypeError, zlib.error):
        return []  # its hash is wrong, which is told
    places = [(turn.session, turn.id) for turn in offer.turns]
    places += [(item.session, item.id) for item in candidates(offer) if item.source in _OF_TURNS]
    rules = ((item.session, turn_of_rule(item.session, item.id)) for item in offer.elevated)
    places += [(session, turn) for session, turn in rules if turn is not None]
    return [Key(history_of(namespace), turn, session) for session, turn in dict.fromkeys(places)]


# ── the stored form ──────────────────────────────────────────────────────────────────────────────────────────────

# Escapes keep even half of a surrogate pair, which a host's message may hold, and which UTF-8 cannot say.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _packed(receipt: Receipt) -> str:
    form = _fields(receipt) | {"offer": _offer_form(receipt.offer), "settings": asdict(receipt.settings)}
    # The lightest compression: it takes a fifth of the time of the usual one and an eighth more room.
    return base64.b64encode(zlib.compress(_encode(form).encode(), 1)).decode()


def _offer_form(offer: Offer) -> dict[str, Any]:
    form = _fields(offer)
    for name in ("hard", "soft", "turns", "elevated", "recalled", "recovered"):
        form[name] = [_fields(item) for item in form[name]]
    return form | {"visible": sorted(offer.visible)}


def _fields(value: Any) -> dict[str, Any]:
    """The fields as they are; `asdict` would copy every text and number in depth."""
    return {name: getattr(value, name) for name in value.__slots__}


def _unpacked(record: Record) -> Receipt:
    form: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(record.text)))
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
        return tuple(map(_candidate, cast(list[dict[str, Any]], form[name])))

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


def _candidate(form: dict[str, Any]) -> Candidate:
    values: dict[str, Any] = form | {"taken_back_by": tuple(form.get("taken_back_by", ()))}
    return Candidate(**values)


def _turn(form: dict[str, Any]) -> TailTurn:
    values: dict[str, Any] = form | {"calls": tuple(form["calls"]), "answers": tuple(form["answers"])}
    return TailTurn(**values)


def _hash(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
