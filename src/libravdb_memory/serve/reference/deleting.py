"""delete and delete_batch: what a client wants gone.

Laws: a turn or a durable memory that is deleted is erased everywhere, with the copies of it and all that was made from
it; a summary with those above it; whatever it is, with the receipts that quote it. Deleted from `turns:`, which is an
index, a turn leaves the index only. What is not there counts as deleted.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from libravdb_memory.errors import NotFoundError
from libravdb_memory.gating import REPETITION
from libravdb_memory.model import Record
from libravdb_memory.namespaces import namespace_of
from libravdb_memory.serve.erasing import erase_turn, key_of
from libravdb_memory.serve.fields import InvalidParamsError
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.results.conversation import Done
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.views import View, items_named, reach_of, session_in, turn_id_in, view_of
from libravdb_memory.store.protocol import Unmark


@dataclass(frozen=True, slots=True)
class One:
    collection: str
    id: str


@dataclass(frozen=True, slots=True)
class Several:
    collection: str
    ids: tuple[str, ...] = ()


def delete(service: Service, params: One) -> Result:
    return _delete(service, params.collection, (params.id,))


def delete_batch(service: Service, params: Several) -> Result:
    return _delete(service, params.collection, params.ids)


def _delete(service: Service, collection: str, ids: Sequence[str]) -> Result:
    view = view_of(service.store, collection, service.within)
    if view.kind in _NOT_DELETED:
        raise InvalidParamsError("collection", f"{_NOT_DELETED[view.kind]}: {view.name}")
    for item in items_named(service.store, view, ids):
        if item.record is not None:
            _delete_record(service, view, item.record)
    return {"ok": True}


_NOT_DELETED = {
    "authored": "holds the nodes of documents; delete_authored_document takes a document away",
    "edge": "tells what summaries cover; delete those",
    "state": "is kept by the daemon",
    "journal": "is kept by the daemon",
}


def _delete_record(service: Service, view: View, record: Record) -> None:
    namespace = namespace_of(record.collection)
    if namespace is None:
        service.memory.erase_beside(record)
        if view.kind == "user":
            _erase_original(service, view.about, record)
    elif view.kind == "turns":
        with suppress(NotFoundError):
            service.store.commit([Unmark(key_of(record), REPETITION)])
    else:
        erase_turn(service, namespace, record.group, record.id)


def _erase_original(service: Service, namespace: str, copy: Record) -> None:
    """Of a memory that a host put there, the turn that it was copied from."""
    session = copy.metadata.get("sessionId")
    if isinstance(session, str) and session.strip():
        turn_id = turn_id_in(namespace, copy.id).removesuffix(f"@{session}")
        erase_turn(service, namespace, session.strip(), turn_id)


def _order(params: One | Several) -> str:
    session = session_in(params.collection)
    return f"session\n{session}" if session else params.collection.strip()


def _reach(service: Service, params: One | Several) -> frozenset[str]:
    return reach_of(service.store, params.collection, service.within, writes=True)


METHODS: tuple[Method[Any], ...] = (
    Method("delete", One, delete, "Erase one record.", writes=True, order=_order, reach=_reach, result=Done),
    Method(
        "delete_batch",
        Several,
        delete_batch,
        "Erase several records.",
        writes=True,
        order=_order,
        reach=_reach,
        result=Done,
    ),
)
