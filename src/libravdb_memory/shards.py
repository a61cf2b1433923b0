"""A rule of a conversation as it is kept: word by word, at an address that follows from its turn's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from libravdb_memory.identity import Json
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import guidance_of
from libravdb_memory.store.protocol import Key

if TYPE_CHECKING:
    from libravdb_memory.compact.guidance import Reason

EVERY_ANSWER = "for_every_answer"
"""Metadata of a rule that applies whatever a question is about."""


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
        if self.likeness is not None:
            metadata["guidance_likeness"] = round(self.likeness, 3)
        if self.speaker:
            metadata["speaker"] = self.speaker
        return Draft(key.collection, key.id, self.text, metadata, self.ts, self.session)


def shard_key(namespace: str, session: str, turn_id: str) -> Key:
    return Key(guidance_of(namespace), f"guidance:{session}:{turn_id}", session)
