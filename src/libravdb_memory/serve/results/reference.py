"""What clients of the reference protocol are told: entries of collections, and what was done."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from libravdb_memory.identity import Json


class Entry(TypedDict):
    """One entry of a collection; `score` is 0 where nothing was searched for."""

    id: str
    score: float
    text: str
    metadata: dict[str, Json]
    version: int


class Entries(TypedDict):
    results: list[Entry]


class Exported(TypedDict):
    collection: str
    id: str
    text: str
    metadata: dict[str, Json]


class Export(TypedDict):
    records: list[Exported]


class SessionCompacted(TypedDict):
    """`summaryMethod` is there where summaries were made."""

    didCompact: bool
    clustersFormed: int
    clustersDeclined: int
    turnsRemoved: int
    meanConfidence: float
    summaryMethod: NotRequired[str]


class DreamsPromoted(TypedDict):
    promoted: int
    rejected: int


class Noted(TypedDict):
    ok: bool
    hook: str
    sessionId: str
    reason: str
