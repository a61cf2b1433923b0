"""ensure_collections, insert_text, insert_session_turn, bump_access_counts: what hosts put into collections.

Laws: the same id with the same content is accepted again, with other content it is refused. A turn becomes part of the
history of its user. What a host puts elsewhere stays in that collection, searchable there, secrets masked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from libravdb_memory import sessions
from libravdb_memory.copies import apart, copies_of
from libravdb_memory.errors import ConflictError, NotFoundError
from libravdb_memory.identity import Json
from libravdb_memory.ingest.turns import checked_metadata, checked_name, checked_text, milliseconds
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import history_of, resolve_namespace
from libravdb_memory.serve.fields import InvalidParamsError
from libravdb_memory.serve.methods import NOTHING, Method, Result
from libravdb_memory.serve.results.conversation import Done
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.showing import GIVEN_ID
from libravdb_memory.serve.views import COPIED, View, items_named, reach_of, session_in, turn_id_in, view_of
from libravdb_memory.store.protocol import Key, Mark, Put, Store


@dataclass(frozen=True, slots=True)
class Collections:
    collections: tuple[str, ...] = field(default=(), metadata={"help": "they need not be made: all of them are there"})


def ensure_collections(_: Service, __: Collections) -> Result:
    return {"ok": True}


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Text:
    collection: str
    id: str = field(metadata={"help": "the same id with the same content is stored once"})
    text: str
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])


def insert_text(service: Service, params: Text) -> Result:
    view = view_of(service.store, params.collection, service.within)
    if view.kind in ("session", "raw"):
        return _insert_turn(service, view.about, params.id, params.text, params.metadata)
    if view.kind not in ("user", "turns", "plain"):
        raise InvalidParamsError("collection", f"is kept by the daemon and cannot be written: {view.name}")
    moment = _moment(params.metadata)
    content = service.memory.masking.content(checked_text("text", params.text), _metadata(params.metadata))
    draft = Draft(
        checked_name("collection", view.name),
        checked_name("id", params.id),
        content.text,
        content.facts,
        service.now_ms() if moment is None else moment,
    )
    _put(service.store, draft, moment is not None, _copied(service.store, view, params))
    service.memory.stored_beside()
    return {"ok": True}


def _put(store: Store, draft: Draft, ts_given: bool, marks: Sequence[Mark]) -> None:
    try:
        _put_apart(store, draft, ts_given, marks)
    except ConflictError:  # another session may have been faster with the same id
        _put_apart(store, draft, ts_given, marks)
    except NotFoundError:  # the turn was erased meanwhile
        _put_apart(store, draft, ts_given, ())


def _put_apart(store: Store, draft: Draft, ts_given: bool, marks: Sequence[Mark]) -> None:
    """Two sessions of a user may number their turns alike: the later one stands under an id with its own name."""
    there = store.get(Key(draft.collection, draft.id))
    session = draft.metadata.get("sessionId")
    if there is not None and isinstance(session, str) and there.metadata.get("sessionId") != session:
        draft = replace(draft, id=apart(draft.id, session))
        there = store.get(Key(draft.collection, draft.id))
    if there is None or not _is_judged_anew(there, draft):
        store.commit([Put(draft, ts_given=ts_given), *marks])


def _is_judged_anew(there: Record, draft: Draft) -> bool:
    """The same again, but for what a host was told by the gate: asked later, it tells otherwise."""
    facts = [
        {key: known[key] for key in known if not _is_of_the_gate(key)} for known in (there.metadata, draft.metadata)
    ]
    return there.text == draft.text and facts[0] == facts[1] and there.metadata != draft.metadata


def _is_of_the_gate(key: str) -> bool:
    return key.startswith("gating_") or key == "stability_weight"


def _copied(store: Store, view: View, params: Text) -> tuple[Mark, ...]:
    """If it is the copy of a turn, the copy is shown in its place."""
    session = params.metadata.get("sessionId")
    if view.kind not in COPIED or not isinstance(session, str):
        return ()
    turn = Key(history_of(view.about), turn_id_in(view.about, params.id), session.strip())
    return () if store.get(turn) is None else (Mark(turn, COPIED[view.kind]),)


# ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class SessionTurn:
    session_id: str
    id: str = field(metadata={"help": "<session>:<turn>, or any other that is the turn's own in its session"})
    text: str
    metadata: Mapping[str, Json] = field(
        default_factory=dict[str, Json], metadata={"help": "role, ts, and whose it is: userId, sessionKey or agentId"}
    )


def insert_session_turn(service: Service, params: SessionTurn) -> Result:
    return _insert_turn(service, params.session_id.strip(), params.id, params.text, params.metadata)


def _insert_turn(service: Service, session: str, given: str, text: str, metadata: Mapping[str, Json]) -> Result:
    namespace, turn_id = _namespace(service, session, metadata), turn_id_in(session, given)
    facts = _metadata(metadata)
    facts.pop(GIVEN_ID, None)
    if turn_id == given:
        facts[GIVEN_ID] = given
    role = metadata.get("role")
    service.memory.ingest(
        text,
        user=namespace,
        session=session,
        role=role if isinstance(role, str) and role.strip() else "user",
        ts=_moment(metadata),
        id=turn_id,
        metadata=facts,
    )
    if service.within is None:
        sessions.note(service.store, session, namespace)
    _mark_if_copied(service.store, namespace, session, turn_id)
    return {"ok": True}


def _mark_if_copied(store: Store, namespace: str, session: str, turn_id: str) -> None:
    """Copies that came before their turn; the first look is cheap, and mostly the last."""
    there = [kind for kind in COPIED if store.get(Key(f"{kind}:{namespace}", f"{namespace}:{turn_id}")) is not None]
    copied = [kind for kind in there if copies_of(store, kind, namespace, session, turn_id)]
    if copied:
        turn = Key(history_of(namespace), turn_id, session)
        with suppress(NotFoundError):  # erased meanwhile
            store.commit([Mark(turn, COPIED[kind]) for kind in copied])


def _namespace(service: Service, session: str, metadata: Mapping[str, Json]) -> str:
    """Whom the turn names; else whom the session tells."""
    named = {key: value if isinstance(value := metadata.get(key), str) else None for key in _WHO}
    if not any(value and value.strip() for value in named.values()):
        meant = sessions.meant(service.store, session, service.within)
        if meant is not None:
            return meant
    return resolve_namespace(named["userId"], session, session_key=named["sessionKey"], agent_id=named["agentId"])


_WHO = ("userId", "sessionKey", "agentId")


def _metadata(given: Mapping[str, Json]) -> dict[str, Json]:
    """Without what every answer repeats by itself."""
    return {key: value for key, value in checked_metadata(given).items() if key not in ("text", "collection")}


def _moment(metadata: Mapping[str, Json]) -> int | None:
    """One that lies in no year would be shown to nobody: whatever recalls the record would fail on it."""
    given = metadata.get("ts")
    known = isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
    return milliseconds("metadata.ts", int(given)) if known and isinstance(given, int | float) else None


# ── counts ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Update:
    collection: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Updates:
    updates: tuple[Update, ...] = field(default=(), metadata={"help": "which records were used"})


def bump_access_counts(service: Service, params: Updates) -> Result:
    found = (
        item.record.ref
        for update in params.updates
        for item in items_named(service.store, view_of(service.store, update.collection, service.within), update.ids)
        if item.record is not None
    )
    service.memory.used(found)
    return {"ok": True}


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────


def _text_reach(service: Service, params: Text) -> frozenset[str]:
    if session := session_in(params.collection):
        return _turn_reach(service, SessionTurn(session, params.id, params.text, params.metadata))
    return reach_of(service.store, params.collection, service.within, writes=True)


def _text_order(params: Text) -> str | None:
    session = session_in(params.collection) or params.metadata.get("sessionId")
    return f"session\n{session.strip()}" if isinstance(session, str) and session.strip() else params.collection.strip()


def _turn_reach(service: Service, params: SessionTurn) -> frozenset[str]:
    """Whose turn it is: others who have turns in this session do not read it."""
    return frozenset({_namespace(service, params.session_id.strip(), params.metadata)})


def _counted_reach(service: Service, params: Updates) -> frozenset[str]:
    return NOTHING.union(*(reach_of(service.store, update.collection, service.within) for update in params.updates))


METHODS: tuple[Method[Any], ...] = (
    Method(
        "ensure_collections",
        Collections,
        ensure_collections,
        "Accepted for old clients: every collection is there.",
        reach=lambda _, __: NOTHING,
        result=Done,
    ),
    Method(
        "insert_text",
        Text,
        insert_text,
        "Put a text into a collection.",
        writes=True,
        order=_text_order,
        reach=_text_reach,
        result=Done,
    ),
    Method(
        "insert_session_turn",
        SessionTurn,
        insert_session_turn,
        "Store one turn of a session, exactly.",
        writes=True,
        order=lambda params: f"session\n{params.session_id.strip()}",
        reach=_turn_reach,
        result=Done,
    ),
    Method(
        "bump_access_counts",
        Updates,
        bump_access_counts,
        "Count records as used.",
        writes=True,
        reach=_counted_reach,
        result=Done,
    ),
)
