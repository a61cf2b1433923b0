"""Turns: whole, as they are listed, and as they are found; whose they are, and in which sessions."""

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


class Judgement(TypedDict):
    """What the gate made of a turn."""

    score: float
    durable: bool
    echo: bool
    signals: dict[str, Json]


class TurnRow(TypedDict):
    """A turn as it is listed; a text may be cut, `length` is that of the whole."""

    id: str
    userId: str
    sessionId: str
    role: str
    speaker: str | None
    ts: int
    text: str
    length: int
    truncated: bool
    tokens: int
    masked: list[str]
    gate: Judgement | None
    regretted: bool
    coveredBy: str | None
    cursor: str


class FoundRow(TurnRow):
    """`bar` are the addends of the score."""

    score: float
    parts: dict[str, float]
    bar: dict[str, float]


class Tail(TypedDict):
    count: int
    firstTurn: str | None
    firstTs: int | None


class LatestTurns(TypedDict):
    turns: list[TurnRow]
    sequence: int


class TurnsPage(TypedDict):
    turns: list[TurnRow]
    cursor: str | None
    tail: Tail


class Found(TypedDict):
    """`total` is how many were ranked, at most 200."""

    results: list[FoundRow]
    total: int
    cursor: str | None
    degraded: list[str]
    tookMs: float


class NamespaceRow(TypedDict):
    userId: str
    turns: int
    sessions: int
    summaries: int
    lastTs: int | None


class NamespacesPage(TypedDict):
    namespaces: list[NamespaceRow]
    total: int
    cursor: str | None


class SessionRow(TypedDict):
    """`tokens` is an estimate by length."""

    sessionId: str
    turns: int
    tokens: int
    firstTs: int
    lastTs: int
    summaries: int


class SessionsPage(TypedDict):
    userId: str
    sessions: list[SessionRow]
    total: int
    cursor: str | None
