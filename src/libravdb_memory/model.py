"""The nouns every part shares: what is stored, what is found.

All values are frozen. Times are integer milliseconds since 1970 (UTC). A *namespace* is whose memory it is; a
*session* is one conversation inside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from libravdb_memory.identity import Json


@dataclass(frozen=True, slots=True)
class Draft:
    """A record as a caller hands it to the store."""

    collection: str
    id: str
    text: str
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    ts: int = 0
    group: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A record as the store holds it. `ref` is the store's own handle: unique, and ascending in order of arrival
    inside a collection."""

    ref: int
    collection: str
    group: str
    id: str
    ts: int
    text: str
    metadata: Mapping[str, Json]
    hash: str
    version: int


@dataclass(frozen=True, slots=True)
class Document:
    """An authored document as it is handed over. `core` None: its name decides. `lore`: nothing in it is a rule, all of
    it may be recalled. `source` says where it was read."""

    name: str
    text: str
    core: bool | None = None
    lore: bool = False
    source: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of a conversation, exactly as it was said but for its secrets. `masked` are the kinds of these, in
    turns that come from `ingest`, `get` or `search`; it is no part of the turn."""

    id: str
    text: str
    user: str
    session: str
    role: str
    ts: int
    speaker: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    masked: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """A turn that answers a query. `score` lies in [0, 1]; `parts` are its addends and what they were made from."""

    id: str
    text: str
    score: float
    parts: Mapping[str, float]
    turn: Turn


@dataclass(frozen=True, slots=True)
class Hits(Sequence[Hit]):
    """The answer to a search, best first.

    `degraded` says in words what was missing from the search (a model still loading, records not yet embedded);
    empty when nothing was.
    """

    items: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.items)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.items[index]
