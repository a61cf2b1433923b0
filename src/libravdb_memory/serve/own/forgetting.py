"""memory_forget: erase for good what a person wants gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.arguments import nothing_to_erase
from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.serve.erasing import erase_conversation, erase_namespace, erase_turn
from libravdb_memory.serve.forms import object_form
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.own.where import Where, in_order, own_reach
from libravdb_memory.serve.results import erasing as results
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Erasure


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget(Where):
    id: str | None = field(default=None, metadata={"help": "one turn; without it a whole session"})
    all: bool = field(default=False, metadata={"help": "everything of this user; needs no id and no session"})


def check_what(params: Forget) -> tuple[str | None, str | None]:
    """The turn and the session that are named. A whole user goes only when a call says so: leaving out a name must not
    erase more."""
    turn, session = (params.id or "").strip() or None, params.given_session
    if params.all and (turn or session):
        raise InvalidInputError("all", "erases everything of a user; name no id and no sessionId beside it")
    if not (params.all or turn or session):
        raise InvalidInputError("memory_forget", "name an id or a sessionId, or say all")
    return turn, session


def memory_forget(service: Service, params: Forget) -> Result:
    turn, session = check_what(params)
    gone = _erased(service, params.namespace, session, turn)
    if gone.records == 0:
        raise nothing_to_erase(params.namespace, session)
    return {"ok": True, **object_form(gone)}


def _erased(service: Service, namespace: str, session: str | None, turn: str | None) -> Erasure:
    if turn is not None:
        try:
            found = service.memory.get(turn, user=namespace, session=session)
        except NotFoundError:
            if session is None or not (gone := erase_turn(service, namespace, session, turn)).records:
                raise
            return gone  # what was left of it
        return erase_turn(service, namespace, found.session, found.id)
    if session is None:
        return erase_namespace(service, namespace)
    return erase_conversation(service, namespace, session)


METHODS: tuple[Method[Any], ...] = (
    Method(
        "memory_forget",
        Forget,
        memory_forget,
        "Erase a turn, a session or everything of a user, and whatever was made from it.",
        writes=True,
        order=in_order,
        reach=own_reach,
        result=results.Erased,
    ),
)
