"""Guidance that a user gave in conversation, on its way to a place above recall.

Laws: a rule is kept word by word, before its turn is covered by any summary, and with its turn's own address, so that
it is found again when the turn is erased. The scanner decides; the model may only add what it missed, and where it
fails the scanner's answer stands.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from libravdb_memory.compact.every_answer import concerns_every_answer
from libravdb_memory.compact.guidance import (
    PROTOTYPES,
    Evidence,
    Reason,
    hinted,
    needs_similarity,
    protection,
    shard_text,
)
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.standing import standing_rules
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.errors import EngineError
from libravdb_memory.identity import Json
from libravdb_memory.ingest.deontic import scan
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import guidance_of
from libravdb_memory.store.protocol import Key
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

_log = logging.getLogger(__name__)
EVERY_ANSWER = "for_every_answer"
"""Metadata of a rule that applies whatever a question is about."""
_ROLE_WEIGHT = {"user": 0.5, "assistant": 0.25}
_OTHER_WEIGHT = 0.2


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

    @property
    def for_every_answer(self) -> bool:
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
        if self.speaker:
            metadata["speaker"] = self.speaker
        return Draft(key.collection, key.id, self.text, metadata, self.ts, self.session)


def shard_key(namespace: str, session: str, turn_id: str) -> Key:
    return Key(guidance_of(namespace), f"guidance:{session}:{turn_id}", session)


class Elevation:
    def __init__(self, embedder: Embedder, counter: TokenCounter, settings: CompactionSettings) -> None:
        self._embedder = embedder
        self._counter = counter
        self._settings = settings
        self._prototypes: Rows | None = None

    def shards(self, records: Sequence[Record], scores: Mapping[int, float], vectors: Rows) -> tuple[Shard, ...]:
        """The rules among these turns. `scores` are the gate's, by ref; `vectors` has a row for each turn."""
        found = (self._shard(record, scores.get(record.ref, 0.0), vectors[row]) for row, record in enumerate(records))
        return tuple(shard for shard in found if shard is not None)

    def _shard(self, record: Record, score: float, vector: Rows) -> Shard | None:
        turn = turn_of(record)
        stability = max(_ROLE_WEIGHT.get(turn.role, _OTHER_WEIGHT), score)
        if stability < self._settings.guidance_stability:  # whatever it says: reading it would only take time
            return None
        marks = scan(turn.text).marks
        rules = standing_rules(turn.text, marks)
        evidence = Evidence(
            stability=stability,
            promoted=bool(marks),
            hinted=hinted(turn.text),
            standing=bool(rules),
        )
        if needs_similarity(evidence, self._settings):
            evidence = replace(evidence, similarity=self._similarity(vector))
        if (reason := protection(evidence, self._settings)) is None:
            return None
        text = shard_text(turn.text, rules, self._settings.guidance_tokens, self._counter)
        return Shard(turn.id, turn.session, text, turn.ts, evidence.stability, reason, turn.speaker)

    def _similarity(self, vector: Rows) -> float | None:
        from libravdb_memory.compact.preserve import unit_rows

        try:
            if self._prototypes is None:
                self._prototypes = self._embedder.embed_documents(PROTOTYPES)
        except EngineError as error:
            _log.warning("guidance is told by its wording only: %s", error)
            return None
        return float((unit_rows(self._prototypes) @ unit_rows(vector[None, :])[0]).max())
