"""What hosts are told while people talk."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from libravdb_memory.serve.results.turns import ToldTurn


class Done(TypedDict):
    """It is done, and on disk."""

    ok: bool


class Begun(TypedDict):
    """`documents` are the blocks of each document of rules; `linked` is there where a link led to this memory."""

    ok: bool
    userId: str
    sessionId: str
    resumed: bool
    documents: dict[str, int]
    linked: NotRequired[bool]


class Ingested(TypedDict):
    ok: bool
    id: str
    turn: ToldTurn
    masked: list[str]


class Delivered(TypedDict):
    """`fresh` is how many were not stored before; `ids` are told for a delivery with a key."""

    ok: bool
    stored: int
    fresh: int
    masked: list[str]
    ids: NotRequired[list[str]]


class Reset(TypedDict):
    """`sessionId` is the name that the conversation goes on under."""

    ok: bool
    userId: str
    sessionId: str


class Shared(TypedDict):
    ok: bool
    userId: str


class RejectedEntry(TypedDict):
    text: str
    reason: str


class PromotedDiary(TypedDict):
    ok: bool
    promoted: int
    rejected: list[RejectedEntry]
    changed: bool
