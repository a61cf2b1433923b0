"""bootstrap_session, ingest_message, after_turn, assemble_context: what a host calls while people talk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from libravdb_memory.errors import ConflictError
from libravdb_memory.hosting import checked_messages, spoken
from libravdb_memory.identity import Json
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import given_user, history_of
from libravdb_memory.serve import epochs, links
from libravdb_memory.serve.forms import context_form, turn_form
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.own.where import Where, in_order, own_reach
from libravdb_memory.serve.results import conversation as results
from libravdb_memory.serve.results import prompts
from libravdb_memory.serve.service import Service
from libravdb_memory.sessions import note_hosted
from libravdb_memory.store.protocol import Key

_LOOKED_AT = 8
"""A delivery that is repeated may be so many resets late."""
_AS_THE_HOST = "messages as the host has them: role, content, tool calls and results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin(Where):
    linked_key: str | None = field(
        default=None,
        metadata={"help": "the host's name for it; if no other user is named, it is whose link_session made it"},
    )


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
    fresh: bool = field(
        default=False, metadata={"help": "the host knows of nothing said before; if memory does, it was reset"}
    )


def bootstrap_session(service: Service, params: Begin) -> Result:
    linked = _linked(service, params)
    namespace = linked or params.namespace
    session = epochs.current(service.store, namespace, params.session)
    begun = epochs.holds(service.store, namespace, session)
    documents = {name: len(document.nodes) for name, document in service.memory.documents().items()}
    told: Result = {"ok": True, "userId": namespace, "sessionId": session, "resumed": begun, "documents": documents}
    return {**told, "linked": True} if linked else told


def _begin_reach(service: Service, params: Begin) -> frozenset[str]:
    return frozenset({_linked(service, params) or params.namespace})


def _linked(service: Service, params: Begin) -> str | None:
    """Whose memory a link leads to; a user that is named is not overruled by it."""
    linked = links.owner_of(service.store, params.linked_key, service.within)
    return linked if given_user(params.user_id) in (None, linked) else None


def ingest_message(service: Service, params: Message) -> Result:
    session = epochs.current(service.store, params.namespace, params.session)
    turn = service.memory.ingest(
        params.text,
        user=params.namespace,
        session=session,
        role=params.role,
        ts=params.ts,
        id=params.id,
        speaker=params.speaker,
        metadata=params.metadata,
    )
    _note(service, params, session)
    return {"ok": True, "id": turn.id, "turn": turn_form(turn), "masked": _masked_in([turn])}


def after_turn(service: Service, params: AfterTurn) -> Result:
    """With a key each message is stored under it, so that a delivery may be repeated, also one that broke off in the
    middle. Without, what the session does not hold yet is stored: a host may send its whole list each time. `fresh` are
    those that were not stored before."""
    memory, messages = service.memory, checked_messages(params.messages)
    namespace, key = params.namespace, (params.advancement_key or "").strip()
    sessions = epochs.names(service.store, namespace, params.session)
    if not key:
        stored = memory.ingest_messages(messages, user=namespace, session=sessions[0])
        if stored:
            _note(service, params, sessions[0])
        return {"ok": True, "stored": len(stored), "fresh": len(stored), "masked": _masked_in(stored)}
    turns, fresh = list[Turn](), 0
    session = _first_delivered(service, namespace, sessions, [f"{key}:{said.at}" for said in spoken(messages)])
    for said in spoken(messages):
        under_key = f"{key}:{said.at}"
        fresh += service.store.get(Key(history_of(namespace), said.id or under_key, session)) is None
        keep = partial(memory.ingest, said.text, user=namespace, session=session, role=said.role, ts=said.ts)
        try:
            turn = keep(id=said.id or under_key, metadata=dict(said.facts))
        except ConflictError:
            if said.id is None:
                raise
            turn = keep(id=under_key, metadata=dict(said.facts))  # edited under its old id: both versions were said
        turns.append(turn)
    if turns:
        _note(service, params, session)
    ids: list[Json] = [turn.id for turn in turns]
    return {"ok": True, "stored": len(turns), "fresh": fresh, "ids": ids, "masked": _masked_in(turns)}


def _first_delivered(service: Service, namespace: str, sessions: Sequence[str], ids: Sequence[str]) -> str:
    """The session that has this delivery already, among those a conversation had last; else the newest."""
    for session in sessions[:_LOOKED_AT]:
        if any(service.store.get(Key(history_of(namespace), id, session)) is not None for id in ids):
            return session
    return sessions[0]


def _note(service: Service, params: Where, session: str) -> None:
    """So that who names the session alone finds whose it is; a session that was not named is not looked for."""
    if service.within is None and params.given_session is not None:
        note_hosted(service.store, session, params.namespace)


def _masked_in(turns: Iterable[Turn]) -> list[Json]:
    """The kinds of the secrets that were masked, each as often as it was."""
    return [kind for turn in turns for kind in turn.masked]


def assemble_context(service: Service, params: Assemble) -> Result:
    meant = epochs.advance if params.fresh else epochs.current
    built = service.memory.context(
        params.prompt,
        user=params.namespace,
        session=meant(service.store, params.namespace, params.session),
        budget=params.budget,
        messages=params.messages,
        mode=params.mode,
    )
    return context_form(built)


METHODS: tuple[Method[Any], ...] = (
    Method(
        "bootstrap_session",
        Begin,
        bootstrap_session,
        "Begin or resume a conversation: whose memory it is, and which rules are loaded.",
        order=in_order,
        reach=_begin_reach,
        result=results.Begun,
    ),
    Method(
        "ingest_message",
        Message,
        ingest_message,
        "Store one message, exactly; it is on disk when this is answered.",
        writes=True,
        order=in_order,
        reach=own_reach,
        result=results.Ingested,
    ),
    Method(
        "after_turn",
        AfterTurn,
        after_turn,
        "Store the messages of a turn, each once however often they are delivered.",
        writes=True,
        order=in_order,
        reach=own_reach,
        result=results.Delivered,
    ),
    Method(
        "assemble_context",
        Assemble,
        assemble_context,
        "Assemble what a model should see, within a budget; with a receipt.",
        reach=own_reach,
        pace="thinking",
        result=prompts.BuiltContext,
    ),
)
