"""Records as clients of the reference protocol read them: ids and metadata under the names they know.

Law: what a client stored with a record it finds again; beside it stands what memory knows of the record by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from libravdb_memory import lineage
from libravdb_memory.authored import DOCUMENTS
from libravdb_memory.copies import apart
from libravdb_memory.gating import JUDGED
from libravdb_memory.identity import Json
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.model import Record, Turn
from libravdb_memory.namespaces import guided_namespace_of, namespace_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Key, OneOf, Store
from libravdb_memory.summaries import Node, continuity, node_of
from libravdb_memory.tokens import EstimatingCounter
from libravdb_memory.usage import USE

GIVEN_ID = "wire_id"
"""Metadata of a turn whose host gave it an id of another form than `<session>:<turn>`."""
_OF_DOCUMENTS = ("core", "partition", "lore")
"""What is known of a document and of no use to a client; the rest is where it came from."""

SESSION_TURN, DURABLE_MEMORY = "session_turn", "durable_user_memory"
_WEIGHTS = {"user": 0.5, "assistant": 0.25}
_OTHER_WEIGHT = 0.2
_GATING = ("t", "h", "r", "d", "p", "a", "dtech", "gconv", "gtech")
_counter = EstimatingCounter()


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a public collection. `record` is what the store has behind it, where it has one."""

    collection: str
    id: str
    text: str
    metadata: Mapping[str, Json]
    version: int = 1
    record: Record | None = None

    @property
    def facts(self) -> dict[str, Json]:
        return {"access_count": 0, **self.metadata, "text": self.text, "collection": self.collection}

    def form(self, score: float = 0.0) -> dict[str, Json]:
        return {"id": self.id, "score": score, "text": self.text, "metadata": self.facts, "version": self.version}


Show: TypeAlias = Callable[[Store, Sequence[Record]], list[Item]]


# ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────


def spoken_id(turn: Turn) -> str:
    """The id of a turn in the collections of its session."""
    given = turn.metadata.get(GIVEN_ID)
    return given if isinstance(given, str) else f"{turn.session}:{turn.id}"


def session_turns(collection: str, *, raw: bool = False) -> Show:
    kind: dict[str, Json] = {"raw_history": True, "active_view": False} if raw else {}

    def show(store: Store, records: Sequence[Record]) -> list[Item]:
        return [
            Item(collection, spoken_id(turn_of(record)), record.text, {**facts, **kind}, record.version, record)
            for record, facts in _turns_with_facts(store, records, SESSION_TURN)
        ]

    return show


def kept_turns(collection: str, provenance: str) -> Show:
    """Turns where those of all sessions of a user stand together. Hosts number turns anew in each session: of those
    with one id the first has it, and the others have it with the name of their session."""

    def show(store: Store, records: Sequence[Record]) -> list[Item]:
        taken = {record.id for record in every(store, collection, OneOf("id", _plain_ids(records)))}
        first = _first_with_id(store, records)
        shown: list[Item] = []
        for record, facts in _turns_with_facts(store, records, provenance):
            name = plain_id(record)
            if first[record.id] != record.ref or name in taken:
                name = apart(name, record.group)
            shown.append(Item(collection, name, record.text, facts, record.version, record))
        return shown

    return show


def plain_id(record: Record) -> str:
    return f"{namespace_of(record.collection) or ''}:{record.id}"


def stability(role: str) -> float:
    return _WEIGHTS.get(role, _OTHER_WEIGHT)


def _plain_ids(records: Sequence[Record]) -> tuple[str, ...]:
    return tuple({plain_id(record) for record in records})


def _first_with_id(store: Store, records: Sequence[Record]) -> dict[str, int]:
    """For each id, the ref of the first turn of the user that has it."""
    first: dict[str, int] = {}
    for collection in {record.collection for record in records}:
        ids = tuple({record.id for record in records})
        for found in every(store, collection, OneOf("id", ids)):
            first.setdefault(found.id, found.ref)
    return first


def _turns_with_facts(
    store: Store, records: Sequence[Record], provenance: str
) -> Iterable[tuple[Record, dict[str, Json]]]:
    judged = store.marks([record.ref for record in records], JUDGED)
    used = _access(store, records)
    for record in records:
        turn = turn_of(record)
        gating = _gating(judged.get(record.ref, {}))
        given = {key: value for key, value in turn.metadata.items() if key != GIVEN_ID}
        place: dict[str, Json] = {"provenance_class": provenance, "stability_weight": stability(turn.role)}
        if provenance == DURABLE_MEMORY:
            score = gating.get("gating_score")
            place["stability_weight"] = max(stability(turn.role), score if isinstance(score, float) else 0.0)
            given |= place
        yield record, {**_turn_facts(turn), **place, **given, **gating, **used.get(record.ref, {})}


def _turn_facts(turn: Turn) -> dict[str, Json]:
    facts: dict[str, Json] = {
        "role": turn.role,
        "ts": turn.ts,
        "userId": turn.user,
        "sessionId": turn.session,
        "type": "turn",
        "source_turn_id": turn.id,
        "token_estimate": _counter.count(turn.text),
    }
    return facts if turn.speaker is None else {**facts, "speaker": turn.speaker}


def _gating(signals: Mapping[str, Json]) -> dict[str, Json]:
    if not isinstance(signals.get("g"), int | float):
        return {}
    return {"gating_score": signals["g"], **{f"gating_{name}": signals.get(name, 0.0) for name in _GATING}}


# ── summaries ────────────────────────────────────────────────────────────────────────────────────────────────────


def summaries(collection: str) -> Show:
    def show(store: Store, records: Sequence[Record]) -> list[Item]:
        used = _access(store, records)
        return [
            Item(
                collection,
                record.id,
                record.text,
                {**_summary_facts(store, node_of(record), record), **used.get(record.ref, {})},
                record.version,
                record,
            )
            for record in records
        ]

    return show


def child_id(record: Record) -> str:
    """The id of what a summary covers, in the collections of its session."""
    return spoken_id(turn_of(record)) if namespace_of(record.collection) is not None else record.id


def _summary_facts(store: Store, node: Node, record: Record) -> dict[str, Json]:
    children = [child_id(child) for child in lineage.children(store, node.key)]
    turns = children if node.level == 1 else _turns_below(store, node)
    return {
        **record.metadata,
        "ts": record.ts,
        "userId": node.namespace,
        "sessionId": node.session,
        "source_ids": list(children),
        "provenance_class": "session_summary",
        "continuity_lineage": continuity(node, children, turns),
    }


def _turns_below(store: Store, node: Node) -> list[str]:
    found = lineage.expand(store, node, limit=max(node.turns, 1)).items
    return [spoken_id(item) for item in found if isinstance(item, Turn)]


# ── rules, dreams and the rest ───────────────────────────────────────────────────────────────────────────────────


def guidance(collection: str) -> Show:
    def facts(record: Record) -> dict[str, Json]:
        return {
            "ts": record.ts,
            "userId": guided_namespace_of(record.collection) or "",
            "sessionId": record.group,
            "token_estimate": _counter.count(record.text),
            **record.metadata,
        }

    return _each(collection, facts)


def plain(collection: str) -> Show:
    return _each(collection, lambda record: {"ts": record.ts, **record.metadata})


def authored(collection: str) -> Show:
    def show(store: Store, records: Sequence[Record]) -> list[Item]:
        names = {record.group for record in records}
        documents = {name: found.metadata for name in names if (found := store.get(Key(DOCUMENTS, name))) is not None}
        used = _access(store, records)
        shown: list[Item] = []
        for record in records:
            known = documents.get(record.group, {})
            source = {key: value for key, value in known.items() if key not in _OF_DOCUMENTS}
            facts = {**_node_facts(record), **source, **used.get(record.ref, {})}
            shown.append(Item(collection, record.id, record.text, facts, record.version, record))
        return shown

    return show


def _node_facts(record: Record) -> dict[str, Json]:
    meta = record.metadata
    return {
        "source_doc": record.group,
        "node_kind": meta.get("kind"),
        "ordinal": meta.get("ordinal"),
        "position": meta.get("position"),
        "tier": meta.get("tier"),
        "authority": meta.get("authority"),
        "token_estimate": meta.get("tokens"),
        "promoted": meta.get("promoted"),
        "provenance_class": "authored",
        "hop_targets": [],
    }


def _each(collection: str, facts: Callable[[Record], dict[str, Json]]) -> Show:
    def show(store: Store, records: Sequence[Record]) -> list[Item]:
        used = _access(store, records)
        return [
            Item(
                collection,
                record.id,
                record.text,
                {**facts(record), **used.get(record.ref, {})},
                record.version,
                record,
            )
            for record in records
        ]

    return show


def _access(store: Store, records: Sequence[Record]) -> dict[int, dict[str, Json]]:
    counted = store.marks([record.ref for record in records], USE)
    return {ref: {"access_count": data.get("count", 0)} for ref, data in counted.items()}
