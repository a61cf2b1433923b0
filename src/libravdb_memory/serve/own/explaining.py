"""why, why_not, replay, receipts: what a prompt was made from, read off its receipt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.errors import NotFoundError
from libravdb_memory.serve.forms import form, receipt_form
from libravdb_memory.serve.methods import EVERYTHING, Method, Result
from libravdb_memory.serve.own.where import Where, own_reach
from libravdb_memory.serve.results import prompts as results
from libravdb_memory.serve.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class OfReceipt:
    receipt_id: str = field(metadata={"help": "as assemble_context gave it"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRecord(OfReceipt):
    record_id: str
    session_id: str | None = field(default=None, metadata={"help": "where several sessions have that id"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent(Where):
    limit: int = field(default=20, metadata={"help": "how many at most"})


def receipt_reach(service: Service, params: OfReceipt) -> frozenset[str]:
    """Whoever may not see all learns nothing from trying ids: an unknown one is as far away as another's."""
    try:
        return frozenset({service.memory.why(params.receipt_id).namespace})
    except NotFoundError:
        return EVERYTHING


def why(service: Service, params: OfReceipt) -> Result:
    return receipt_form(service.memory.why(params.receipt_id), service.memory.replay(params.receipt_id))


def why_not(service: Service, params: OfRecord) -> Result:
    found = service.memory.why_not(params.receipt_id, params.record_id, session=params.session_id)
    rejection = None if found.rejection is None else form(found.rejection)
    return {
        "recordId": found.record_id,
        "reason": found.reason,
        "sessionId": found.session or None,
        "rejection": rejection,
    }


def replay(service: Service, params: OfReceipt) -> Result:
    again = service.memory.replay(params.receipt_id)
    text = None if again.assembly is None else again.assembly.text
    return {"identical": again.identical, "reason": again.reason, "text": text}


def receipts(service: Service, params: Recent) -> Result:
    found = service.memory.receipts(user=params.namespace, session=params.given_session, limit=params.limit)
    return {
        "receipts": [
            {"id": each.id, "sessionId": each.session, "prompt": each.prompt, "createdMs": each.created_ms}
            for each in found
        ]
    }


METHODS: tuple[Method[Any], ...] = (
    Method(
        "why",
        OfReceipt,
        why,
        "Explain a prompt: every item and every rejection, with figures.",
        reach=receipt_reach,
        result=results.Explained,
    ),
    Method(
        "why_not", OfRecord, why_not, "Say why a record is not in a prompt.", reach=receipt_reach, result=results.WhyNot
    ),
    Method(
        "replay",
        OfReceipt,
        replay,
        "Assemble a prompt again from its receipt alone.",
        reach=receipt_reach,
        result=results.Replayed,
    ),
    Method(
        "receipts",
        Recent,
        receipts,
        "List the newest receipts of a user or a session.",
        reach=own_reach,
        result=results.Receipts,
    ),
)
