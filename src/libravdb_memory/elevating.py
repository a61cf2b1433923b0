"""Guidance that a user gave in conversation, on its way to a place above recall.

Laws: a rule is kept word by word, before its turn is covered by any summary, and with its turn's own address, so that
it is found again when the turn is erased. The words decide; the model may only add what they do not show, and where it
fails their answer stands. What was not read as a rule but is like one says so, and how much.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from libravdb_memory.compact.clauses import clause_spans
from libravdb_memory.compact.guidance import (
    PROTOTYPES,
    Evidence,
    Reason,
    hinted,
    is_plain,
    needs_similarity,
    protection,
    shard_text,
)
from libravdb_memory.compact.one_case import speaks_of_one_case
from libravdb_memory.compact.sentences import Span
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.standing import CHARACTERS_READ, read
from libravdb_memory.compact.taking_back import ENOUGH, SAME_MEANING, Change, changes_in, contrary, shared, subject
from libravdb_memory.compact.weighing import (
    AGAINST,
    ALONE,
    HINT,
    Weights,
    WordWeights,
    can_be_weighed,
    chance,
    likeness,
    together,
)
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.errors import CallCancelledError, EngineError
from libravdb_memory.ingest.deontic import scan
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.model import Record, Turn
from libravdb_memory.namespaces import namespace_of
from libravdb_memory.shards import Shard, mark_of, shard_key, taken_back_by
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

_log = logging.getLogger(__name__)
_ROLE_WEIGHT = {"user": 0.5, "assistant": 0.25}
_OTHER_WEIGHT = 0.2
_READ_BY_CHANCE = 3.0
"""How much more a sentence that was read as a rule owes to chance than one that is only worded like one: its patterns
were made for turns that say one thing."""
_COMPARED = 8
"""Rules of few words in common with a change whose meaning is compared with it."""
_MOST_CHANGES = 3
"""Of one rule, by turns that say that something changed, and not that it is free again."""
_TAKES_BACK: Reason = "takes back a rule"
_BY_LIKENESS: tuple[Reason, ...] = ("worded like a rule", "like known guidance")


@cache
def bundled_weights() -> Weights:
    """What was learned about the wording of rules; made by tools/train_guidance.py."""
    import numpy as np

    with files("libravdb_memory.compact").joinpath("weights.npz").open("rb") as file:
        made = np.load(file, allow_pickle=False)
        words = WordWeights(made["hashes"], made["weights"])
        words_bias, vector_bias = made["biases"].tolist()
        return Weights(words, words_bias, tuple(made["vector"].tolist()), vector_bias, str(made["space"]))


@dataclass(frozen=True, slots=True)
class _Known:
    """A rule that is kept already, or will be; `only_takes_back`, by their marks, other rules and is none itself. Of
    rules of one moment `place` tells which was kept first."""

    id: str
    ts: int
    text: str
    only_takes_back: frozenset[str] = frozenset()
    place: float = math.inf


def _known(rule: Record) -> _Known:
    is_one = rule.metadata.get("protection_reason") != _TAKES_BACK
    return _Known(rule.id, rule.ts, rule.text, frozenset() if is_one else taken_back_by(rule), rule.ref)


def _kept_before(ts: int, own_id: str, rules: Sequence[_Known], but: AbstractSet[str]) -> list[_Known]:
    """The rules that were given before one, which may be among them: whatever is made anew is there already."""
    own = next((rule.place for rule in rules if rule.id == own_id), math.inf)
    known = [rule for rule in rules if rule.id != own_id and rule.id not in but]
    return [rule for rule in known if (rule.ts, rule.place) < (ts, own)]


@lru_cache(maxsize=512)
def _stated(rule: str) -> str:
    """The sentences that state a rule, where any can be read."""
    stated = read(rule, scan(rule).marks).rules
    return " ".join(rule[slice(*span)] for span in stated) or rule


@lru_cache(maxsize=512)
def _subject(rule: str) -> frozenset[str]:
    """What a rule is about: the words of the sentences that state it."""
    return subject(_stated(rule))


@dataclass(frozen=True, slots=True)
class _Read:
    """A turn as it was read: the sentences that are kept for sure, and with their weight those that may be."""

    turn: Turn
    evidence: Evidence
    kept: tuple[Span, ...]
    maybe: Mapping[Span, float] = field(default_factory=dict[Span, float])
    likeness: float | None = None
    by_chance: float = 0.0

    def said(self, span: Span) -> str:
        return self.turn.text[slice(*span)]

    def boosted(self, likenesses: Mapping[Span, float], bound: float) -> _Read:
        """With what a model says of the sentences that may be rules."""
        if not likenesses:
            return self
        most = max(likenesses.values())
        known = self.evidence.similarity
        evidence = replace(self.evidence, similarity=most if known is None else max(most, known))
        like = _narrowest([span for span, likeness in likenesses.items() if likeness >= bound])
        return replace(self, evidence=evidence, kept=like, likeness=evidence.similarity)


def _weighed(text: str, sentences: Sequence[Span], weights: Weights) -> dict[Span, float]:
    """Sentences and their clauses with the weight of their words, as far as they have enough of them."""
    spans = dict.fromkeys(span for each in sentences for span in (each, *clause_spans(text, each)))
    said = {span: text[slice(*span)] for span in spans}
    return {span: weights.of_words(words) for span, words in said.items() if can_be_weighed(words)}


def _narrowest(spans: Sequence[Span]) -> tuple[Span, ...]:
    """In order, without a sentence of which a clause is there."""
    found: list[Span] = []
    for start, end in sorted(set(spans), key=lambda span: (span[0], -span[1])):
        if found and found[-1][1] >= end:
            found.pop()
        found.append((start, end))
    return tuple(found)


def _within(span: Span, sentences: Sequence[Span]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in sentences)


class Elevation:
    """`sentence_vectors` is asked for vectors of sentences; who has them at hand need not make them again. `rules_of`
    gives the newest rules that are kept of a namespace."""

    def __init__(
        self,
        embedder: Embedder,
        counter: TokenCounter,
        settings: CompactionSettings,
        sentence_vectors: Callable[[Sequence[str]], Rows] | None = None,
        rules_of: Callable[[str], Sequence[Record]] = lambda _: (),
    ) -> None:
        self._embedder = embedder
        self._counter = counter
        self._settings = settings
        self._sentence_vectors = sentence_vectors or embedder.embed_documents
        self._rules_of = rules_of
        self._prototypes: Rows | None = None

    def shards(
        self,
        records: Sequence[Record],
        scores: Mapping[int, float],
        vectors: Rows,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[Shard, ...]:
        """The rules among these turns. `scores` are the gate's, by ref; `vectors` has a row for each turn."""
        turns: list[_Read] = []
        for row, record in enumerate(records):
            if cancelled():
                raise CallCancelledError("compaction")
            if (each := self._read(record, scores.get(record.ref, 0.0), vectors[row])) is not None:
                turns.append(each)
        kept = {each.turn.id: self._shard(each) for each in self._boosted(turns)}
        return tuple(shard for shard in self._with_changes(records, kept) if shard is not None)

    def _read(self, record: Record, score: float, vector: Rows) -> _Read | None:
        turn = turn_of(record)
        stability = max(_ROLE_WEIGHT.get(turn.role, _OTHER_WEIGHT), score)
        if stability < self._settings.guidance_stability:  # whatever it says: reading it would only take time
            return None
        begins = turn.text[:CHARACTERS_READ]
        marks = scan(begins).marks
        reading, weights = read(begins, marks), bundled_weights()
        unread, found = (_weighed(turn.text, spans, weights) for spans in (reading.open, reading.rules))
        one_case = [span for span in reading.open if speaks_of_one_case(turn.text[slice(*span)])]
        by_chance = chance(len(unread) + len(found))
        sums = {span: weight - by_chance for span, weight in unread.items() if not _within(span, one_case)}
        worded = [span for span, weight in sums.items() if likeness(weight) >= ALONE]
        maybe = {span: weight for span, weight in sums.items() if likeness(weight) >= HINT}
        found = {span: weight - _READ_BY_CHANCE * by_chance for span, weight in found.items()}
        rules = [span for rule in reading.rules for span in self._worded_enough(turn.text, rule, found)]
        hint = hinted(begins)
        evidence = Evidence(
            stability=stability,
            promoted=bool(marks),
            hinted=hint or bool(maybe),
            standing=bool(rules),
            worded=bool(worded),
        )
        kept = _narrowest((*rules, *worded))
        if needs_similarity(evidence, self._settings):
            evidence = replace(evidence, similarity=self._similarity(vector) if hint else None)
            return _Read(turn, evidence, kept, maybe, evidence.similarity, by_chance)
        by_words = None if rules else max(map(likeness, sums.values()), default=None)
        return _Read(turn, evidence, kept, likeness=by_words)

    def _worded_enough(self, text: str, rule: Span, weights: Mapping[Span, float]) -> Sequence[Span]:
        """What is kept of a sentence that was read as a rule: nothing where its words speak against that, but clauses
        that begin as nothing but a rule does; where it is long, the clauses that are worded like one, or else the one
        that is most."""
        inside = dict.fromkeys((rule, *clause_spans(text, rule)))
        sums = {span: likeness(weights[span]) for span in inside if span in weights}
        if sums and max(sums.values()) < AGAINST and not is_plain(text[slice(*rule)]):
            return [span for span in inside if is_plain(text[slice(*span)])]
        clauses = {span: how for span, how in sums.items() if span != rule}
        if not clauses or self._counter.count(text[slice(*rule)]) <= self._settings.guidance_tokens:
            return [rule]
        return [span for span, how in clauses.items() if how >= HINT] or [max(clauses, key=clauses.__getitem__)]

    def _shard(self, each: _Read) -> Shard | None:
        turn = each.turn
        if (reason := protection(each.evidence, self._settings)) is None:
            return None
        text = shard_text(turn.text, each.kept, self._settings.guidance_tokens, self._counter, alone=True)
        told = each.likeness if reason in _BY_LIKENESS else None
        return Shard(turn.id, turn.session, text, turn.ts, each.evidence.stability, reason, turn.speaker, told)

    # ── what takes back a rule ───────────────────────────────────────────────────────────────────────────────────

    def _with_changes(self, records: Sequence[Record], kept: Mapping[str, Shard | None]) -> Iterator[Shard | None]:
        """What was kept of the turns that were read, in order, and what takes any of it back, or an older rule."""
        before: list[_Known] | None = None
        here: list[_Known] = []
        for record in records:
            shard = kept.get(record.id)
            namespace = namespace_of(record.collection) or ""
            own_id = shard_key(namespace, record.group, record.id).id
            if record.id in kept and (found := changes_in(turn_of(record).text)):
                if before is None:
                    before = list(map(_known, self._rules_of(namespace)))
                earlier = _kept_before(record.ts, own_id, before, {rule.id for rule in here})
                shard = self._taking_back(turn_of(record), shard, found, [*earlier, *here])
            if shard is not None:
                marks = frozenset(shard.takes_back if shard.reason == _TAKES_BACK else ())
                here.append(_Known(own_id, shard.ts, shard.text, marks))
            yield shard

    def _taking_back(
        self, turn: Turn, shard: Shard | None, found: Sequence[Change], rules: Sequence[_Known]
    ) -> Shard | None:
        """What is kept of a turn that may change earlier rules. One that states a rule too stays as it is, and says
        which it takes back, and what takes back that. Of what is said to have changed time and again nothing more is
        kept: that reports."""
        stated = [rule for rule in rules if shard is not None or not rule.only_takes_back]
        often = Counter(mark for rule in rules for mark in rule.only_takes_back)
        seldom = [rule for rule in stated if often[mark_of(rule.id)] < _MOST_CHANGES]
        about: dict[Span, Sequence[_Known]] = {}
        for change in (clause for each in found for clause in self._by_clause(turn.text, each)):
            among = seldom if shard is None and change.sign != "freed" else stated
            subjects = [_subject(rule.text) for rule in among]
            said = turn.text[slice(*change.span)]
            meant = self._rules_meant(said, change, among, subjects)
            if shard is not None and change.sign == "begun":
                meant = [rule for rule in meant if contrary(said, _stated(rule.text))]
            about[change.span] = meant
        spans = [span for span, meant in about.items() if meant]
        if not spans:
            return shard
        marks = tuple(sorted({mark_of(rule.id) for meant in about.values() for rule in meant}))
        if shard is not None:
            return replace(shard, takes_back=marks)
        text = shard_text(turn.text, spans, self._settings.guidance_tokens, self._counter)
        stability = _ROLE_WEIGHT["user"]
        return Shard(turn.id, turn.session, text, turn.ts, stability, _TAKES_BACK, turn.speaker, takes_back=marks)

    def _by_clause(self, text: str, change: Change) -> Sequence[Change]:
        """Of a long sentence the clauses that change something, each by its own words: all of them together share some
        with any rule."""
        if self._counter.count(text[slice(*change.span)]) <= self._settings.guidance_tokens:
            return [change]
        return [
            replace(found, span=(start + found.span[0], start + found.span[1]))
            for start, end in clause_spans(text, change.span)
            for found in changes_in(text[start:end])
        ]

    def _rules_meant(
        self, said: str, change: Change, rules: Sequence[_Known], subjects: Sequence[frozenset[str]]
    ) -> Sequence[_Known]:
        """The rules that a change is about: by its words, or else by its meaning."""
        shares = list(zip(rules, shared(change, subjects), strict=True))
        if by_words := [rule for rule, share in shares if share >= ENOUGH]:
            return by_words
        maybe = [rule for rule, share in shares if share > 0.0][-_COMPARED:]
        if not maybe:
            return ()
        from libravdb_memory.compact.preserve import unit_rows

        try:
            rows = unit_rows(self._sentence_vectors([said, *(rule.text for rule in maybe)]))
        except EngineError as error:
            _log.warning("what takes back a rule is told by its wording only: %s", error)
            return ()
        alike = rows[1:] @ rows[0]
        return [rule for rule, cosine in zip(maybe, alike, strict=True) if cosine >= SAME_MEANING]

    # ── what a model adds ────────────────────────────────────────────────────────────────────────────────────────

    def _boosted(self, turns: Sequence[_Read]) -> Sequence[_Read]:
        """Sentences whose words hint at a rule, judged by their meaning too; in one go, for the model's sake."""
        weights = bundled_weights()
        asked = [(each.said(span), weight, each.by_chance) for each in turns for span, weight in each.maybe.items()]
        if not asked or self._embedder.space.fingerprint != weights.space:
            return turns
        try:
            rows = self._sentence_vectors([said for said, _, _ in asked])
        except EngineError as error:
            _log.warning("guidance is told by its wording only: %s", error)
            return turns
        sums = (
            together(weight, weights.of_vector(row) - by_chance)
            for (_, weight, by_chance), row in zip(asked, rows, strict=True)
        )
        bound = self._settings.guidance_prototype
        return [each.boosted({span: likeness(next(sums)) for span in each.maybe}, bound) for each in turns]

    def _similarity(self, vector: Rows) -> float | None:
        from libravdb_memory.compact.preserve import unit_rows

        try:
            if self._prototypes is None:
                self._prototypes = self._embedder.embed_documents(PROTOTYPES)
        except EngineError as error:
            _log.warning("guidance is told by its wording only: %s", error)
            return None
        return float((unit_rows(self._prototypes) @ unit_rows(vector[None, :])[0]).max())
