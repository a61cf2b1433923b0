"""Summaries, what they cover, and what compaction did."""

from __future__ import annotations

from typing import Literal, TypedDict

from libravdb_memory.compact.passed_over import Reason
from libravdb_memory.identity import Json
from libravdb_memory.serve.results.turns import Tail, ToldTurn


class Certificate(TypedDict):
    """Which facts of the turns a summary still tells."""

    facts: int
    kept: int
    pinned: int
    dropped: list[Json]
    characters: int
    unread: int
    share: float


class NodeRow(TypedDict):
    """A summary."""

    id: str
    level: int
    turns: int
    tokens: int
    sourceTokens: int
    confidence: float
    align: float
    cover: float
    method: str
    engine: str
    compactedAt: int
    children: list[str]
    firstTs: int
    lastTs: int
    certificate: Certificate
    firstTurn: str
    lastTurn: str
    parent: str | None
    preview: str


class Boundary(TypedDict):
    turn: str
    ts: int


class SessionGraph(TypedDict):
    userId: str
    sessionId: str
    turns: int
    tail: Tail
    boundary: Boundary | None
    nodes: list[NodeRow]
    cursor: str | None


class Summary(TypedDict):
    """A summary, whole; `first` and `last` are the ids of turns."""

    kind: Literal["summary"]
    id: str
    userId: str
    sessionId: str
    text: str
    level: int
    children: list[str]
    turns: int
    first: str
    last: str
    firstTs: int
    lastTs: int
    tokens: int
    sourceTokens: int
    method: str
    engine: str
    confidence: float
    align: float
    cover: float
    compactedAt: int
    prior: list[str]
    decayRate: float
    certificate: Certificate


class Branch(Summary):
    """A summary with what it covers."""

    below: list[ToldTurn | Branch]


class History(TypedDict):
    """From the oldest to the newest; `tail` is how many turns at the end are in every prompt."""

    userId: str
    sessionId: str
    turns: int
    tail: int
    entries: list[ToldTurn | Branch]


class Expansion(TypedDict):
    summary: Summary
    items: list[ToldTurn | Summary]
    cursor: str | None


class KeptRule(TypedDict):
    """A rule in the words of its turn. `likeness` tells how like known guidance it is, where that is the reason.
    `takesBack` and `takenBackBy` are ids of rules that are still kept."""

    id: str
    userId: str
    sessionId: str
    turn: str
    text: str
    ts: int
    reason: str
    likeness: float | None
    forEveryAnswer: bool
    speaker: str | None
    takesBack: list[str]
    takenBackBy: list[str]


class Guidance(TypedDict):
    """In the order in which they were kept; `total` counts those of all pages."""

    rules: list[KeptRule]
    cursor: str | None
    total: int


class Declined(TypedDict):
    """Turns that were not summarised, or summaries that were not folded, and why."""

    first: str
    last: str
    count: int
    tokens: int
    reason: str
    ofSummaries: bool


class PassedOver(TypedDict):
    """Why a model that is configured did not write a summary: what was measured, what it should have kept to, and what
    the engine said of its failure."""

    model: str
    reason: Reason
    figure: float | None
    bound: float | None
    detail: str


class Extracts(TypedDict):
    """How many summaries a model did not write for one reason; the figures lie between `least` and `most`."""

    model: str
    reason: Reason
    count: int
    least: float | None
    most: float | None
    bound: float | None
    detail: str


class Spent(TypedDict):
    """Calls of a model that summarises, whatever came of them, and the tokens that it read and wrote: by its own
    account, estimated where it gives none, and none where no answer came."""

    calls: int
    tokensIn: int
    tokensOut: int


class MadeSummary(Summary):
    passedOver: PassedOver | None


class Compacted(TypedDict):
    """`reason` says why nothing was done, where nothing was; `extracts` why a model that is configured did not write
    all summaries."""

    userId: str
    sessionId: str
    turns: int
    sourceTokens: int
    tokens: int
    summaries: list[MadeSummary]
    folds: list[MadeSummary]
    extracts: list[Extracts]
    spent: Spent
    guidance: int
    declined: list[Declined]
    reason: str
