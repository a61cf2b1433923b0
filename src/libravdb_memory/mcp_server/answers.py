"""What tools answer, as objects with a schema.

Law: every answer that quotes memory begins with the notice that it is untrusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.mcp_server import framing

_NOTICE = {"help": "how to take what follows"}
_DEGRADED = {"help": "evidence that could not be used this time"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A turn, or a summary of several: then `turns` tells of how many."""

    id: str
    session: str
    role: str = field(metadata={"help": "who spoke; summary: nobody did"})
    at: str = field(metadata={"help": "when, in UTC"})
    text: str
    truncated: bool = field(default=False, metadata={"help": "there is more; memory_get has all of it"})
    score: float | None = field(default=None, metadata={"help": "from 0 to 1"})
    speaker: str | None = None
    turns: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    results: tuple[Entry, ...]
    degraded: tuple[str, ...] = field(metadata=_DEGRADED)
    notice: str = field(default=framing.NOTICE, metadata=_NOTICE)


@dataclass(frozen=True, slots=True)
class Remembered:
    turn: Entry
    notice: str = field(default=framing.NOTICE, metadata=_NOTICE)


@dataclass(frozen=True, slots=True)
class Listed:
    session: str
    entries: tuple[Entry, ...]
    older: int = field(default=0, metadata={"help": "entries before these"})
    cursor: str | None = field(default=None, metadata={"help": "where the next page of a summary begins"})
    notice: str = field(default=framing.NOTICE, metadata=_NOTICE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The frames in the text say which part is the user's own rules and which is untrusted memory."""

    text: str = field(metadata={"help": "for the model, framed by trust; only authored_context are rules"})
    tokens: int
    budget: int
    receipt: str = field(metadata={"help": "the resource that explains every part"})
    degraded: tuple[str, ...] = field(metadata=_DEGRADED)
    notice: str = field(default=framing.CONTEXT_NOTICE, metadata=_NOTICE)


@dataclass(frozen=True, slots=True)
class Added:
    id: str
    session: str
    masked: tuple[str, ...] = field(default=(), metadata={"help": "kinds of secrets that were masked in it"})


@dataclass(frozen=True, slots=True)
class Erased:
    records: int


def turn(told: Mapping[str, Any], *, whole: bool = False) -> Entry:
    """Of a turn as the daemon tells it."""
    text, cut = (str(told["text"]), False) if whole else framing.shortened(str(told["text"]))
    return Entry(
        id=told["id"],
        session=told["sessionId"],
        role=told["role"],
        at=framing.moment(told["ts"]),
        text=text,
        truncated=cut,
        score=told.get("score"),
        speaker=told.get("speaker") or None,
    )


def summed_up(told: Mapping[str, Any]) -> Entry:
    """Of a turn or a summary."""
    if told["kind"] == "turn":
        return turn(told)
    text, cut = framing.shortened(str(told["text"]))
    return Entry(
        id=told["id"],
        session=told["sessionId"],
        role="summary",
        at=framing.moment(told["lastTs"]),
        text=text,
        truncated=cut,
        turns=told["turns"],
    )
