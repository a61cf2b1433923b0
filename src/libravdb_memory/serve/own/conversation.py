"""bootstrap_session, ingest_message, after_turn, assemble_context: what a host calls while people talk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from libravdb_memory.errors import ConflictError
from libravdb_memory.hosting import checked_messages, spoken, store_messages
from libravdb_memory.identity import Json
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import history_of
from libravdb_memory.serve.forms import context_form, turn_form
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.own.where import Where, in_order, own_reach
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Equals

_AS_THE_HOST = "messages as the host has them: role, content, tool calls and results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Where):
    text: str = field(metadata={"help": "what was said, exactly"})
    id: str | None = field(default=None, metadata={"help": "the same id with the same content is stored once"})
    role: str = field(default="user", metadata={"help": "who speaks: user, assistant, system, tool"})
    ts: int | None = field(default=None, metadata={"help": "milliseconds since 1970; now where it is absent"})
    speaker: str | None = field(default=None, metadata={"help": "the name of who speaks, where several do"})
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json], metadata={"help": "the host's own facts"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AfterTurn(Where):
    advancement_key: str | None = field(
        default=None, metadata={"help": "names this delivery: delivered again, each message is stored once"}
    )
    messages: tuple[Mapping[str, Json], ...] = field(default=(), metadata={"help": _AS_THE_HOST})


@dataclass(frozen=True, slots=True, kw_only=True)
class Assemble(Where):
    prompt: str = field(default="", metadata={"help": "what is asked now"})
    budget: int | None = field(default=None, metadata={"help": "tokens"})
    messages: tuple[Mapping[str, Json], ...] = field(default=(), metadata={"help": _AS_THE_HOST})
    mode: Literal["augment", "own"] = field(
        default="augment", metadata={"help": "own: the budget covers the messages too, and old ones may leave"}
    )


def bootstrap_session(service: Service, params: Where) -> Result:
    namespace, session = params.namespace, params.session
    begun = service.store.page(history_of(namespace), where=Equals("group", session), limit=1).records
    documents = {name: len(document.nodes) for name, document in service.memory.documents().items()}
    return {"ok": True, "userId": namespace, "sessionId": session, "resumed": bool(begun), "documents": documents}


def ingest_message(service: Service, params: Message) -> Result:
    turn = service.memory.ingest(
        params.text,
        user=params.namespace,
        session=params.session,
        role=params.role,
        ts=params.ts,
        id=params.id,
        speaker=params.speaker,
        metadata=params.metadata,
    )
    return {"ok": True, "id": turn.id, "turn": turn_form(turn), "masked": _masked_in([turn])}


def after_turn(service: Service, params: AfterTurn) -> Result:
    """With a key each message is stored under it, so that a delivery may be repeated, also one that broke off in the
    middle. Without, what the session does not hold yet is stored: a host may send its whole list each time."""
    memory, messages = service.memory, checked_messages(params.messages)
    namespace, session = params.namespace, params.session
    key = (params.advancement_key or "").strip()
    if not key:
        stored = store_messages(service.store, memory.ingest, memory.masking, namespace, session, messages)
        return {"ok": True, "stored": len(stored), "masked": _masked_in(stored)}
    turns: list[Turn] = []
    for said in spoken(messages):
        under_key = f"{key}:{said.at}"
        keep = partial(memory.ingest, said.text, user=namespace, session=session, role=said.role)
        try:
            turn = keep(id=said.id or under_key, metadata=dict(said.facts))
        except ConflictError:
            if said.id is None:
                raise
            turn = keep(id=under_key, metadata=dict(said.facts))  # edited under its old id: both versions were said
        turns.append(turn)
    return {"ok": True, "stored": len(turns), "ids": [turn.id for turn in turns], "masked": _masked_in(turns)}


def _masked_in(turns: Iterable[Turn]) -> list[Json]:
    """The kinds of the secrets that were masked, each as often as it was."""
    return [kind for turn in turns for kind in turn.masked]


def assemble_context(service: Service, params: Assemble) -> Result:
    built = service.memory.context(
        params.prompt,
        user=params.namespace,
        session=params.session,
        budget=params.budget,
        messages=params.messages,
        mode=params.mode,
    )
    return context_form(built)


METHODS: tuple[Method[Any], ...] = (
    Method(
        "bootstrap_session",
        Where,
        bootstrap_session,
        "Begin or resume a conversation: whose memory it is, and which rules are loaded.",
        order=in_order,
        reach=own_reach,
    ),
    Method(
        "ingest_message",
        Message,
        ingest_message,
        "Store one message, exactly; it is on disk when this is answered.",
        writes=True,
        order=in_order,
        reach=own_reach,
    ),
    Method(
        "after_turn",
        AfterTurn,
        after_turn,
        "Store the messages of a turn, each once however often they are delivered.",
        writes=True,
        order=in_order,
        reach=own_reach,
    ),
    Method(
        "assemble_context",
        Assemble,
        assemble_context,
        "Assemble what a model should see, within a budget; with a receipt.",
        reach=own_reach,
        pace="thinking",
    ),
)
