"""What the methods that agents and the inspector use most tell, as types that schemas are made from."""

from __future__ import annotations

from typing import Literal, TypedDict

from libravdb_memory.identity import Json


class ToldTurn(TypedDict):
    """A turn, whole."""

    kind: Literal["turn"]
    id: str
    text: str
    userId: str
    sessionId: str
    role: str
    ts: int
    speaker: str | None
    metadata: dict[str, Json]
    masked: list[str]


class OneTurn(TypedDict):
    turn: ToldTurn


class Hit(ToldTurn):
    score: float
    parts: dict[str, float]


class Hits(TypedDict):
    """The best first; `degraded` says what was missing from the search."""

    results: list[Hit]
    degraded: list[str]


class Ingested(TypedDict):
    ok: bool
    id: str
    turn: ToldTurn
    masked: list[str]


class ContextItem(TypedDict):
    tier: str
    id: str
    tokens: int
    start: int
    sessionId: str
    score: float | None
    parts: dict[str, float]


class ContextTier(TypedDict):
    limit: int
    used: int


class BuiltContext(TypedDict):
    """What a model should see, and the receipt that explains it."""

    text: str
    messages: list[dict[str, Json]]
    kept: list[Json]
    tokens: int
    budget: int
    degraded: list[str]
    receiptId: str
    tiers: dict[str, ContextTier]
    items: list[ContextItem]


class ReceiptRow(TypedDict):
    id: str
    sessionId: str | None
    prompt: str
    createdMs: int


class Receipts(TypedDict):
    receipts: list[ReceiptRow]


class WhyNot(TypedDict):
    recordId: str
    reason: str
    sessionId: str | None
    rejection: dict[str, Json] | None


class Replayed(TypedDict):
    identical: bool
    reason: str
    text: str | None


class Erased(TypedDict):
    ok: bool
    records: int
    edges: int
    vectors: int


class Alive(TypedDict):
    ok: bool
    message: str
    version: str
    pid: int
