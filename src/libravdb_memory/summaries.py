"""A summary as it is stored: its text, what it covers, and how far it can be trusted.

Law: the text of a node is all that it says: the summary, and on a last line of its own the facts pinned to it. What it
covers is told by its edges; the metadata repeats only the ends, so that its place in the session is known without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from libravdb_memory.compact.passed_over import PassedOver
from libravdb_memory.identity import Json
from libravdb_memory.model import Draft, Record, Turn
from libravdb_memory.namespaces import summaries_of, summarised_namespace_of
from libravdb_memory.store.protocol import Key

SUMMARY = "summary"

_LINEAGE = "continuity_lineage"
_TOLD = ("source_turn_ids", "parent_summary_ids")
"""What follows from what a summary covers: told to whoever asks, never stored."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss certificate in figures: facts of the sources, those that the summary says, those pinned to it; and the
    names of some of those for which there was no room. Of the `characters` of very long sources some are `unread`:
    what is said there is not certified."""

    facts: int = 0
    kept: int = 0
    pinned: int = 0
    dropped: tuple[str, ...] = ()
    characters: int = 0
    unread: int = 0

    @property
    def share(self) -> float:
        """Of the facts, those that the node holds; what was not read counts as not held."""
        held = (self.kept + self.pinned) / self.facts if self.facts else 1.0
        return held * (1.0 - self.unread / self.characters) if self.unread else held


@dataclass(frozen=True, slots=True)
class Node:
    """A summary of turns (level 1) or of summaries. `children` are the ids that it covers directly, `turns` how many
    turns lie below it, `first` and `last` the ids of those at its ends. `source_tokens` is what its children cost,
    `tokens` what it costs itself. `prior` are the summaries that a model was shown before it wrote this one.
    `passed_over` says why a model that is configured did not write it; only the compaction that made it knows."""

    id: str
    namespace: str
    session: str
    text: str
    level: int
    children: tuple[str, ...]
    turns: int
    first: str
    last: str
    first_ts: int
    last_ts: int
    tokens: int
    source_tokens: int
    method: str
    engine: str
    confidence: float
    align: float
    cover: float
    compacted_at: int
    loss: Loss = field(default_factory=Loss)
    pins_at: int | None = None
    prior: tuple[str, ...] = ()
    passed_over: PassedOver | None = field(default=None, compare=False)

    @property
    def key(self) -> Key:
        return Key(summaries_of(self.namespace), self.id, self.session)

    @property
    def decay_rate(self) -> float:
        return 1.0 - self.confidence

    @property
    def parts(self) -> tuple[str, ...]:
        """The summary, and what is pinned to it."""
        if self.pins_at is None:
            return (self.text,)
        return self.text[: self.pins_at].rstrip("\n"), self.text[self.pins_at :]


def continuity(node: Node, children: Sequence[str], turns: Sequence[str]) -> dict[str, Json]:
    """What a summary comes from, by the ids under which whoever asks knows them: what it covers directly, and the turns
    below it."""
    return {
        "source_ids": list(children),
        "source_turn_ids": list(turns),
        "parent_summary_ids": [] if node.level == 1 else list(children),
        "source_ts_min": node.first_ts,
        "source_ts_max": node.last_ts,
        "compacted_at": node.compacted_at,
        "method": node.method,
        "confidence": node.confidence,
    }


def with_continuity(record: Record, turns: Sequence[str]) -> Mapping[str, Json]:
    """The metadata of a summary as an export tells it, with the turns below it."""
    stored, node = record.metadata.get(_LINEAGE), node_of(record)
    if not isinstance(stored, Mapping):
        return record.metadata
    whole = continuity(node, node.children, turns)
    return {**record.metadata, _LINEAGE: {**stored, **{name: whole[name] for name in _TOLD}}}


def without_continuity(metadata: Mapping[str, Json]) -> Mapping[str, Json]:
    """The metadata of a summary as it is stored."""
    told = metadata.get(_LINEAGE)
    return {**metadata, _LINEAGE: _stored(told)} if isinstance(told, Mapping) else metadata


def _stored(lineage: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in lineage.items() if name not in _TOLD}


def draft_of(node: Node) -> Draft:
    metadata: dict[str, Json] = {
        "type": SUMMARY,
        "role": SUMMARY,
        "level": node.level,
        "source_ids": list(node.children),
        "turns": node.turns,
        "first_turn": node.first,
        "last_turn": node.last,
        "token_count": node.tokens,
        "source_tokens": node.source_tokens,
        "method": node.method,
        "engine": node.engine,
        "confidence": node.confidence,
        "decay_rate": node.decay_rate,
        "align": node.align,
        "cover": node.cover,
        "compacted_at": node.compacted_at,
        _LINEAGE: _stored(continuity(node, node.children, ())),
        "certificate": {
            "facts": node.loss.facts,
            "kept": node.loss.kept,
            "pinned": node.loss.pinned,
            "dropped": list(node.loss.dropped),
            "characters": node.loss.characters,
            "unread": node.loss.unread,
        },
    }
    if node.pins_at is not None:
        metadata["pins_at"] = node.pins_at
    if node.prior:
        metadata["prior_ids"] = list(node.prior)
    return Draft(summaries_of(node.namespace), node.id, node.text, metadata, node.last_ts, node.session)


def spoken(node: Node) -> Turn:
    """A summary where turns are expected: said by nobody, when the last of its turns was."""
    told: dict[str, Json] = {
        "level": node.level,
        "turns": node.turns,
        "first_turn": node.first,
        "last_turn": node.last,
        "first_ts": node.first_ts,
        "confidence": node.confidence,
    }
    return Turn(node.id, node.text, node.namespace, node.session, SUMMARY, node.last_ts, metadata=told)


def is_summary(record: Record) -> bool:
    return summarised_namespace_of(record.collection) is not None


def node_of(record: Record) -> Node:
    meta = record.metadata
    lineage, loss = _object(meta.get(_LINEAGE)), _object(meta.get("certificate"))
    pins_at = meta.get("pins_at")
    return Node(
        id=record.id,
        namespace=summarised_namespace_of(record.collection) or "",
        session=record.group,
        text=record.text,
        level=_whole(meta.get("level"), 1),
        children=_texts(meta.get("source_ids")),
        turns=_whole(meta.get("turns")),
        first=_text(meta.get("first_turn")),
        last=_text(meta.get("last_turn")),
        first_ts=_whole(lineage.get("source_ts_min")),
        last_ts=_whole(lineage.get("source_ts_max")),
        tokens=_whole(meta.get("token_count")),
        source_tokens=_whole(meta.get("source_tokens")),
        method=_text(meta.get("method")),
        engine=_text(meta.get("engine")),
        confidence=_number(meta.get("confidence")),
        align=_number(meta.get("align")),
        cover=_number(meta.get("cover")),
        compacted_at=_whole(meta.get("compacted_at")),
        loss=Loss(
            facts=_whole(loss.get("facts")),
            kept=_whole(loss.get("kept")),
            pinned=_whole(loss.get("pinned")),
            dropped=_texts(loss.get("dropped")),
            characters=_whole(loss.get("characters")),
            unread=_whole(loss.get("unread")),
        ),
        pins_at=pins_at if isinstance(pins_at, int) else None,
        prior=_texts(meta.get("prior_ids")),
    )


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: Json) -> tuple[str, ...]:
    items = cast(Sequence[Json], value) if isinstance(value, list | tuple) else ()
    return tuple(item for item in items if isinstance(item, str))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Json, otherwise: int = 0) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
