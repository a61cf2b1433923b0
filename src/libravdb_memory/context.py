"""A prompt's memory, assembled by law: rules and tail by structure, guidance and recall by rank, all under one budget.

This module gathers what may enter (from documents, session and recall) and hands it to the pure stage `assemble`, which
decides. Every assembly leaves a receipt, and the receipt holds no secret of the prompt or of the host's messages.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from libravdb_memory import lineage
from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.assemble.fill import Candidate, Offer, fill
from libravdb_memory.assemble.messages import MESSAGE_OVERHEAD, Message, keep_recent, plain_text
from libravdb_memory.assemble.receipt import Assembly
from libravdb_memory.assemble.tail import TailTurn
from libravdb_memory.authored import VARIANT, AuthoredDocuments
from libravdb_memory.beside import Beside
from libravdb_memory.gathering import Source
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.masking import Masking
from libravdb_memory.model import Record
from libravdb_memory.namespaces import GLOBAL, dreams_of, guidance_of, history_of, summaries_of
from libravdb_memory.recall import SHORTENED, Recall, Recalled, Remembered
from libravdb_memory.receipts import Receipt, ReceiptLog, hash_of
from libravdb_memory.retrieve import temporal
from libravdb_memory.retrieve.dates import anchor_density
from libravdb_memory.retrieve.hops import hop_scores
from libravdb_memory.retrieve.query import keyword_share
from libravdb_memory.retrieve.question import what_counts
from libravdb_memory.retrieve.recovery import Standing, recovery_signals
from libravdb_memory.retrieve.route import asks_for_the_whole, is_about_dreams
from libravdb_memory.shards import EVERY_ANSWER, TAKES_BACK, rule_mark, taken_back_by
from libravdb_memory.store.protocol import AllOf, Covered, Equals, Filter, Key, Not, Store
from libravdb_memory.summaries import is_summary, node_of
from libravdb_memory.tailing import newest_records, tail_turns
from libravdb_memory.tokens import TokenCounter, share_of

Mode: TypeAlias = Literal["augment", "own"]
_Refs: TypeAlias = Mapping[tuple[str, str], int]
"""By session and id."""

_RECALLED_TIERS = frozenset({"elevated", "recalled", "recovered"})
_RECALLED, _MOST_RECALLED, _TOKENS_EACH = 48, 128, 60
_RECOVERED = 10
_GUIDANCE = 64
_CHANGES = 256
"""Of what takes rules back: it comes with its rule, whatever a prompt is about."""
_MASKED_AT_EACH_END = 50_000
"""Characters of a prompt too long to be looked through for secrets as a whole. Far more than are kept of it, so that
none is cut in two where it is kept."""
_KEYWORDS, _EVERY_ANSWER, _JUST_ABOVE = 0.3, 0.1, 0.001
_COVERING = 8
_LORE_PER_HOP = 4
_LORE = Source(VARIANT, "document", "global")


@dataclass(frozen=True, slots=True)
class Request:
    """The budget is for memory's frames alone in mode `augment`, for frames, messages and prompt in mode `own`."""

    prompt: str
    namespace: str
    session: str
    budget: int
    now_ms: int
    messages: tuple[Message, ...] = ()
    mode: Mode = "augment"


@dataclass(frozen=True, slots=True)
class Context:
    """`text` are the frames to add to the prompt, `messages` the host's messages that stay. `tokens` is the price of
    the frames, and in mode `own` of messages and prompt too. `degraded` says in words what could not be kept or used;
    empty when nothing is missing."""

    text: str
    messages: tuple[Message, ...]
    tokens: int
    degraded: tuple[str, ...]
    receipt: Receipt
    assembly: Assembly
    used: tuple[int, ...] = ()
    """The store's refs of what was recalled into it."""
    kept: tuple[int, ...] = ()
    """The places of `messages` in the host's list."""


@dataclass(frozen=True, slots=True)
class _Window:
    """What the host's messages leave for memory: the budget of the frames, and what stays beside them."""

    frames: int
    messages: tuple[Message, ...]
    tokens: int = 0
    notes: tuple[str, ...] = ()
    kept: frozenset[int] = frozenset()


class ContextBuilder:
    def __init__(
        self,
        store: Store,
        documents: AuthoredDocuments,
        recall: Recall,
        receipts: ReceiptLog,
        counter: TokenCounter,
        settings: AssemblySettings,
        masking: Masking,
        beside: Beside,
    ) -> None:
        self._store = store
        self._documents = documents
        self._recall = recall
        self._receipts = receipts
        self._counter = counter
        self._settings = settings
        self._masking = masking
        self._beside = beside

    def build(self, request: Request) -> Context:
        window = self._window(request)
        whole = len(request.prompt) <= 2 * _MASKED_AT_EACH_END
        request = replace(request, prompt=self._masked(request.prompt, whole))  # it was priced as the host has it
        offer, refs, notes = self._offer(request, window)
        notes = notes if whole else (*notes, SHORTENED)
        assembly = fill(offer, self._counter, self._settings)
        reasons = (assembly.degraded.reason,) if assembly.degraded else ()
        return Context(
            text=assembly.text,
            messages=window.messages,
            tokens=assembly.tokens + window.tokens,
            degraded=(*reasons, *window.notes, *notes),
            receipt=self._receipt(request, offer, assembly, notes),
            assembly=assembly,
            used=tuple(refs[item.session, item.id] for item in assembly.items if item.tier in _RECALLED_TIERS),
            kept=tuple(sorted(window.kept)) if request.mode == "own" else tuple(range(len(request.messages))),
        )

    def dropped(self, request: Request) -> tuple[Message, ...]:
        """The messages that will leave the prompt; they must be stored before they do."""
        kept = self._window(request).kept
        return tuple(message for index, message in enumerate(request.messages) if index not in kept)

    def _masked(self, prompt: str, whole: bool) -> str:
        if whole:
            return self._masking.text(prompt)
        ends = prompt[:_MASKED_AT_EACH_END], prompt[-_MASKED_AT_EACH_END:]
        return what_counts("\n".join(map(self._masking.text, ends)))

    # ── what the host leaves for memory ──────────────────────────────────────────────────────────────────────────

    def _window(self, request: Request) -> _Window:
        if request.mode == "augment":
            return _Window(request.budget, request.messages)
        frames = share_of(request.budget, self._settings.token_budget_fraction)
        prompt = self._counter.count(request.prompt) + MESSAGE_OVERHEAD
        limit = request.budget - frames - prompt
        kept = keep_recent(request.messages, limit, self._settings.tail_turns, self._counter)
        notes = (f"the newest messages alone exceed the window by {kept.over} tokens",) if kept.over else ()
        messages = tuple(request.messages[index] for index in kept.indices)
        return _Window(frames, messages, kept.tokens + prompt, notes, frozenset(kept.indices))

    # ── what may enter ───────────────────────────────────────────────────────────────────────────────────────────

    def _offer(self, request: Request, window: _Window) -> tuple[Offer, _Refs, tuple[str, ...]]:
        rules = self._documents.rulebook()
        asked = what_counts(request.prompt)
        sources, wanted = _sources(request, asked), _wanted(window.frames)
        k = wanted + _RECOVERED
        question = self._recall.read(request.prompt, sources)
        beside = self._beside.start(
            lambda: (self._recall.by_wording(question, sources, k), self._tail(request, window.frames))
        )
        recalled = self._recall.ranked(question, sources, k, request.now_ms, lambda: beside()[0])
        turns = beside()[1]
        ranked = self._with_hops(self._ordered_for_time(asked, recalled), rules.hops)
        if asks_for_the_whole(asked):
            ranked = self._overview_first(request, ranked)
        standing = [Standing(item.score, _confidence(item.record)) for item in ranked]
        weak = recovery_signals(standing, len(turns))
        guidance = self._guidance(request, asked, recalled, ranked)
        shown_texts = [self._masking.text(text) for message in window.messages if (text := plain_text(message))]
        visible = frozenset((request.prompt, *shown_texts))
        shown = self._covering_visible(ranked, visible)
        changes = _changes_by_mark(guidance)

        def offered(items: Iterable[Remembered]) -> tuple[Candidate, ...]:
            return tuple(_candidate(item, request.session, item.record.ref in shown, changes) for item in items)

        offer = Offer(
            budget=window.frames,
            hard=rules.hard,
            soft=rules.soft,
            turns=() if request.mode == "own" and window.messages else turns,  # there the kept messages are the tail
            elevated=offered(guidance),
            recalled=offered(ranked[:wanted]),
            recovered=offered(ranked[wanted:]) if weak else (),
            visible=visible,
        )
        refs = {(item.record.group, item.record.id): item.record.ref for item in (*guidance, *ranked)}
        return offer, refs, recalled.degraded

    def _covering_visible(self, items: Iterable[Remembered], visible: frozenset[str]) -> frozenset[int]:
        """The refs of summaries whose turns the host still shows, from the first of them on."""
        nodes = {item.record.ref: node_of(item.record) for item in items if is_summary(item.record)}
        first = {
            ref: self._store.get(Key(history_of(node.namespace), node.first, node.session))
            for ref, node in nodes.items()
        }
        return frozenset(ref for ref, turn in first.items() if turn is not None and turn.text in visible)

    def _tail(self, request: Request, budget: int) -> tuple[TailTurn, ...]:
        """The newest turns of the session, oldest first: at least as many as the tail could hold, and the first bundle
        of the base tail whole."""
        newest = newest_records(
            self._store,
            self._counter,
            history_of(request.namespace),
            request.session,
            target=share_of(budget, self._settings.tail_share),
            least=self._settings.tail_turns,
        )
        return tail_turns(newest)

    def _guidance(
        self, request: Request, asked: str, recalled: Recalled, ranked: Iterable[Remembered]
    ) -> tuple[Remembered, ...]:
        """The nearest rules, those for every answer, and what takes any of them back, or what a recalled turn says."""
        collection, vector, scores = guidance_of(request.namespace), recalled.vector, dict[int, float]()
        if vector is not None:
            scores = {hit.ref: hit.score for hit in self._store.search_vectors(collection, vector, _GUIDANCE).hits}
        lasting = self._store.page(
            collection, where=Equals(f"metadata.{EVERY_ANSWER}", True), limit=_GUIDANCE, newest_first=True
        )
        rules = dict(self._store.fetch([*scores, *(each.ref for each in lasting.records)]))
        rules |= self._taking_back(collection, [*rules.values(), *(item.record for item in ranked)])
        lacking = [ref for ref in rules if ref not in scores]
        scores |= dict.fromkeys(lacking, 0.0)
        if vector is not None:
            scores |= self._store.similarities(collection, vector, lacking)
        source = Source(collection, "guidance", "user")
        found = [
            Remembered(record, source, *self._guidance_score(asked, record, scores[ref]))
            for ref, record in rules.items()
        ]
        return tuple(sorted(found, key=lambda item: (-item.score, -item.record.ref)))

    def _taking_back(self, collection: str, said: Iterable[Record]) -> dict[int, Record]:
        """What takes back any of these rules and turns, and what takes that back, by ref."""
        are_changes = Not(Equals(f"metadata.{TAKES_BACK}", None))
        changes = self._store.page(collection, where=are_changes, limit=_CHANGES, newest_first=True).records
        found: dict[int, Record] = {}
        marks = set(map(rule_mark, said)) if changes else set[str]()
        while fresh := [each for each in changes if each.ref not in found and marks & taken_back_by(each)]:
            found |= {each.ref: each for each in fresh}
            marks |= set(map(rule_mark, fresh))
        return found

    def _guidance_score(self, prompt: str, record: Record, cosine: float) -> tuple[float, dict[str, float]]:
        """Similarity, raised by the prompt's keywords that a rule holds, and where it applies to every answer: then it
        is never below the bound."""
        shared, general = keyword_share(prompt, record.text), record.metadata.get(EVERY_ANSWER) is True
        score = min(cosine + _KEYWORDS * shared + _EVERY_ANSWER * general, 1.0)
        least = self._settings.guidance_similarity + _JUST_ABOVE if general else 0.0
        return max(score, least), {"cosine": cosine, "keywords": shared, "every_answer": float(general)}

    def _ordered_for_time(self, prompt: str, recalled: Recalled) -> tuple[Remembered, ...]:
        """A question about time wants a set that covers its events; any other keeps its ranking exactly."""
        strength = temporal.temporal_strength(prompt)
        if strength < temporal.ACTIVE_FROM or recalled.vector is None:
            return recalled.items
        similar = self._recall.similarities(temporal.event_slots(prompt), [item.record.ref for item in recalled.items])
        picks = temporal.select(
            [
                temporal.Pickable(item.score, anchor_density(item.record.text), similar.get(item.record.ref, ()))
                for item in recalled.items
            ],
            strength,
            _COVERING,
        )
        return tuple(
            replace(item, score=pick.score, parts={**item.parts, "temporal": strength, "coverage": pick.gain})
            for pick in picks
            for item in (recalled.items[pick.index],)
        )

    def _overview_first(self, request: Request, ranked: tuple[Remembered, ...]) -> tuple[Remembered, ...]:
        """The summaries that stand for the older part of the session before all else, the newest first."""
        records = lineage.root_records(self._store, request.namespace, request.session)[::-1]
        source, best = _summaries(request), max((item.score for item in ranked), default=0.0)
        above = [best + (1.0 - best) * (len(records) - place) / (len(records) + 1) for place in range(len(records))]
        overview = [
            Remembered(record, source, score, {"overview": score}) for record, score in zip(records, above, strict=True)
        ]
        refs = {record.ref for record in records}
        return (*overview, *(item for item in ranked if item.record.ref not in refs))

    def _with_hops(
        self, ranked: tuple[Remembered, ...], graph: Mapping[str, tuple[str, ...]]
    ) -> tuple[Remembered, ...]:
        """The lore that recalled documents point to, at half their score."""
        parents: dict[str, float] = {}
        for item in ranked:
            if item.source == _LORE:
                parents[item.record.group] = max(parents.get(item.record.group, 0.0), item.score)
        hops = [
            Remembered(record, _LORE, score, {"hop": score})
            for target, score in hop_scores(parents, graph).items()
            for record in self._documents.lore(target, _LORE_PER_HOP)
        ]
        if not hops:
            return ranked
        best: dict[int, Remembered] = {}
        for item in (*ranked, *hops):
            if item.record.ref not in best or item.score > best[item.record.ref].score:
                best[item.record.ref] = item
        return tuple(sorted(best.values(), key=lambda item: -item.score))

    def _receipt(self, request: Request, offer: Offer, assembly: Assembly, notes: tuple[str, ...]) -> Receipt:
        receipt = Receipt(
            id=f"rcpt-{request.now_ms:012x}{secrets.token_hex(4)}",
            namespace=request.namespace,
            session=request.session,
            prompt=request.prompt,
            created_ms=request.now_ms,
            counter_id=self._counter.id,
            settings=self._settings,
            offer=offer,
            text_hash=hash_of(assembly.text),
            notes=notes,
        )
        self._receipts.add(receipt, assembly)
        return receipt


def _wanted(budget: int) -> int:
    """As many candidates as may fill a budget, within bounds: each costs time."""
    return min(max(_RECALLED, budget // _TOKENS_EACH), _MOST_RECALLED)


def _sources(request: Request, asked: str) -> Sequence[Source]:
    if is_about_dreams(asked):
        return (Source(dreams_of(request.namespace), "dream", "user"),)
    return (
        Source(history_of(request.namespace), "history", "user"),
        Source(GLOBAL, "global", "global"),
        _LORE,
        _summaries(request),
    )


def _summaries(request: Request) -> Source:
    return Source(summaries_of(request.namespace), "summary", "session", _active_summaries(request.session))


def _active_summaries(session: str) -> Filter:
    """Those of this session that no other summary covers: its active view, together with the bare turns."""
    return AllOf((Equals("group", session), Not(Covered())))


def _candidate(
    item: Remembered, session: str, covers_visible: bool, changes: Mapping[str, tuple[str, ...]]
) -> Candidate:
    turn = turn_of(item.record)
    source = "session" if item.source.name == "history" and turn.session == session else item.source.name
    return Candidate(
        id=turn.id,
        text=turn.text,
        score=item.score,
        role=turn.role or "note",
        source=source,
        ts=turn.ts,
        speaker=turn.speaker,
        session=turn.session,
        parts=item.parts,
        covers_from=node_of(item.record).first if is_summary(item.record) else "",
        covers_visible=covers_visible,
        place=item.record.ref,
        taken_back_by=changes.get(rule_mark(item.record), ()) if changes else (),
    )


def _changes_by_mark(guidance: Iterable[Remembered]) -> Mapping[str, tuple[str, ...]]:
    """For the mark of a rule the ids of what takes it back."""
    found: dict[str, tuple[str, ...]] = {}
    for item in guidance:
        for mark in taken_back_by(item.record):
            found[mark] = (*found.get(mark, ()), item.record.id)
    return found


def _confidence(record: Record) -> float | None:
    confidence = record.metadata.get("confidence")
    return float(confidence) if isinstance(confidence, int | float) else None
