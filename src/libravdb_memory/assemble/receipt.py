"""The receipt of an assembly: what went in, what stayed out, and by how much.

Law: the tokens of the tiers add up to the tokens of the text; every candidate that was offered stands either among the
items or among the rejections.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from libravdb_memory.assemble.render import Tier
from libravdb_memory.wording import counted, two_digits

Reason: TypeAlias = Literal["budget", "visible", "in the tail", "duplicate", "below the similarity bound"]


@dataclass(frozen=True, slots=True)
class Item:
    """Something injected. `start` is its place in the text, in characters."""

    tier: Tier
    id: str
    tokens: int
    start: int
    session: str = ""
    score: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class Rejection:
    """Something offered and left out. `margin` is by how much it failed: tokens over for "budget", similarity missing
    for the similarity bound, 0 otherwise."""

    tier: Tier
    id: str
    reason: Reason
    margin: float
    session: str = ""
    score: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def words(self) -> str:
        """The reason and the margin, for people."""
        if self.reason == "budget":
            return f"{self.reason}, {counted(round(self.margin), 'token')} over"
        if not self.margin:
            return self.reason
        return f"{self.reason} by {two_digits(self.margin)}"


@dataclass(frozen=True, slots=True)
class TierUse:
    limit: int
    used: int


@dataclass(frozen=True, slots=True)
class Degraded:
    """No legal assembly: the mandatory parts alone exceed the budget. They are kept whole."""

    reason: str
    budget: int
    hard_tokens: int
    tail_tokens: int


@dataclass(frozen=True, slots=True)
class Assembly:
    text: str
    tokens: int
    budget: int
    tiers: Mapping[Tier, TierUse]
    items: tuple[Item, ...]
    rejections: tuple[Rejection, ...]
    tail_start: int
    degraded: Degraded | None = None
