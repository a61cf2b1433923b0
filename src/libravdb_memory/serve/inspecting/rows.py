"""Turns and summaries as the inspector lists them: with what the gate made of them, their price, and what covers them.

Law: a row costs a bounded number of bytes: a long text is cut, and the row says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from libravdb_memory import lineage
from libravdb_memory.gating import JUDGED
from libravdb_memory.identity import Json
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.masking import MASKED, masked_in
from libravdb_memory.model import Record
from libravdb_memory.serve.forms import node_form
from libravdb_memory.store.protocol import Key, Store
from libravdb_memory.summaries import Node, is_summary, node_of, spoken
from libravdb_memory.tokens import TokenCounter
from libravdb_memory.usage import REGRET

PREVIEW = 280
_OF_NODE = (
    "id",
    "level",
    "turns",
    "tokens",
    "sourceTokens",
    "confidence",
    "align",
    "cover",
    "method",
    "engine",
    "compactedAt",
    "children",
    "firstTs",
    "lastTs",
    "certificate",
)


def turn_rows(store: Store, counter: TokenCounter, records: Sequence[Record], text_limit: int) -> list[dict[str, Json]]:
    refs = [record.ref for record in records]
    judged, regretted, masked = (store.marks(refs, label) for label in (JUDGED, REGRET, MASKED))
    return [
        {
            **_said(record, counter, text_limit, masked.get(record.ref)),
            "gate": gate_form(judged.get(record.ref)),
            "regretted": record.ref in regretted,
            "coveredBy": _cover(store, record),
            "cursor": store.cursor(record.ref),
        }
        for record in records
    ]


def gate_form(mark: Mapping[str, Json] | None) -> dict[str, Json] | None:
    if mark is None or not isinstance(mark.get("g"), int | float):
        return None
    signals = {name: value for name, value in mark.items() if name not in ("g", "durable", "echo")}
    return {"score": mark["g"], "durable": mark.get("durable") is True, "echo": mark.get("echo") is True} | {
        "signals": signals
    }


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit]


def node_row(node: Node, parent: str | None) -> dict[str, Json]:
    told = node_form(node)
    named: dict[str, Json] = {"firstTurn": node.first, "lastTurn": node.last, "parent": parent}
    return {name: told[name] for name in _OF_NODE} | named | {"preview": cut(node.text, PREVIEW)}


def _said(record: Record, counter: TokenCounter, text_limit: int, masked: Mapping[str, Json] | None) -> dict[str, Json]:
    turn = masked_in(spoken(node_of(record)) if is_summary(record) else turn_of(record), masked)
    return {
        "id": turn.id,
        "userId": turn.user,
        "sessionId": turn.session,
        "role": turn.role,
        "speaker": turn.speaker,
        "ts": turn.ts,
        "text": cut(turn.text, text_limit),
        "length": len(turn.text),
        "truncated": len(turn.text) > text_limit,
        "tokens": counter.count(turn.text),
        "masked": list(turn.masked),
    }


def _cover(store: Store, record: Record) -> str | None:
    above = lineage.parents(store, Key(record.collection, record.id, record.group))
    return above[0].id if above else None
