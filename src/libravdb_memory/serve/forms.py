"""Values as JSON objects on the wire.

Law: a dataclass is an object with camelCase names; whose memory it is and which conversation are `userId` and
`sessionId` everywhere, as in the parameters. Keys of mappings stay as they are: they are data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from libravdb_memory.identity import Json
from libravdb_memory.model import Hit, Turn
from libravdb_memory.serve.fields import wire_name

if TYPE_CHECKING:
    from libravdb_memory.compacting import Compaction
    from libravdb_memory.context import Context
    from libravdb_memory.lineage import Branch, Expansion, History
    from libravdb_memory.receipts import Receipt, Replay
    from libravdb_memory.summaries import Node

_RENAMED = {"user": "userId", "namespace": "userId", "session": "sessionId"}


def form(value: Any) -> Any:
    kind = cast("type[Any]", type(value))  # type: ignore[redundant-cast] # pyright knows no class of Any
    if kind in _PLAIN:
        return value
    make = _MAKERS.get(kind)
    if make is None:
        make = _MAKERS[kind] = _maker(kind)
    return make(value)


_PLAIN = frozenset({str, int, float, bool, type(None)})
_MAKERS: dict[type[Any], Callable[[Any], Any]] = {}
"""How values of each class that was met are told: found out once, for a context has hundreds of them."""


def _maker(kind: type[Any]) -> Callable[[Any], Any]:
    if dataclasses.is_dataclass(kind):
        names = [(_RENAMED.get(item.name) or wire_name(item.name), item.name) for item in dataclasses.fields(kind)]
        return lambda value: {
            wire: inner if type(inner := getattr(value, name)) in _PLAIN else form(inner) for wire, name in names
        }
    if issubclass(kind, Mapping):
        return lambda value: {str(key): inner if type(inner) in _PLAIN else form(inner) for key, inner in value.items()}
    if issubclass(kind, Enum):
        return lambda value: form(value.value)
    if issubclass(kind, Path):
        return str
    if issubclass(kind, Sequence | frozenset) and not issubclass(kind, str):
        return lambda value: [form(inner) for inner in value]
    return lambda value: value


def object_form(value: Any) -> dict[str, Json]:
    """Of a dataclass."""
    return cast(dict[str, Json], form(value))


def turn_form(turn: Turn) -> dict[str, Json]:
    """Written out: no other form is made as often."""
    return {
        "kind": "turn",
        "id": turn.id,
        "text": turn.text,
        "userId": turn.user,
        "sessionId": turn.session,
        "role": turn.role,
        "ts": turn.ts,
        "speaker": turn.speaker,
        "metadata": form(turn.metadata),
        "masked": list(turn.masked),
    }


def node_form(node: Node) -> dict[str, Json]:
    certificate = {**object_form(node.loss), "share": node.loss.share}
    told = {name: inner for name, inner in object_form(node).items() if name not in ("loss", "pinsAt", "passedOver")}
    return {"kind": "summary", **told, "decayRate": node.decay_rate, "certificate": certificate}


def hit_form(hit: Hit) -> dict[str, Json]:
    return {**turn_form(hit.turn), "score": hit.score, "parts": dict(hit.parts)}


def entry_form(entry: Branch | Turn) -> dict[str, Json]:
    if isinstance(entry, Turn):
        return turn_form(entry)
    return {**node_form(entry.node), "below": [entry_form(branch) for branch in entry.below]}


def history_form(history: History) -> dict[str, Json]:
    return {
        "userId": history.namespace,
        "sessionId": history.session,
        "turns": history.turns,
        "tail": history.tail,
        "entries": [entry_form(entry) for entry in history.entries],
    }


def expansion_form(expansion: Expansion) -> dict[str, Json]:
    items: list[Json] = [turn_form(item) if isinstance(item, Turn) else node_form(item) for item in expansion.items]
    return {"summary": node_form(expansion.node), "items": items, "cursor": expansion.cursor}


def compaction_form(done: Compaction) -> dict[str, Json]:
    return {
        "userId": done.namespace,
        "sessionId": done.session,
        "turns": done.turns,
        "sourceTokens": done.source_tokens,
        "tokens": done.tokens,
        "summaries": [_made_form(node) for node in done.summaries],
        "folds": [_made_form(node) for node in done.folds],
        "extracts": form(done.extracts),
        "spent": form(done.spent),
        "guidance": done.guidance,
        "declined": form(done.declined),
        "reason": done.reason,
    }


def _made_form(node: Node) -> dict[str, Json]:
    return {**node_form(node), "passedOver": form(node.passed_over)}


def context_form(built: Context) -> dict[str, Json]:
    assembly = built.assembly
    return {
        "text": built.text,
        "messages": form(built.messages),
        "kept": list(built.kept),
        "tokens": built.tokens,
        "budget": assembly.budget,
        "degraded": list(built.degraded),
        "receiptId": built.receipt.id,
        "tiers": form(assembly.tiers),
        "items": form(assembly.items),
    }


def receipt_form(receipt: Receipt, replayed: Replay) -> dict[str, Json]:
    told: dict[str, Json] = {
        "id": receipt.id,
        "userId": receipt.namespace,
        "sessionId": receipt.session,
        "prompt": receipt.prompt,
        "createdMs": receipt.created_ms,
        "counterId": receipt.counter_id,
        "inputsHash": receipt.inputs_hash,
        "textHash": receipt.text_hash,
        "settings": form(receipt.settings),
        "notes": list(receipt.notes),
        "identical": replayed.identical,
        "reason": replayed.reason,
    }
    return told if replayed.assembly is None else {**told, **object_form(replayed.assembly)}
