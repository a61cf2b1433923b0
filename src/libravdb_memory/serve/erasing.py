"""Erasing for good, as clients ask for it: what is not there counts as erased.

Law: what goes is what `Memory.erase` takes, here as anywhere: turns, all that was made from them, copies and notes.
"""

from __future__ import annotations

from libravdb_memory.errors import NotFoundError
from libravdb_memory.model import Record
from libravdb_memory.serve import epochs
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Erasure, Key

NOTHING_GONE = Erasure(0, 0, 0)


def erase_turn(service: Service, namespace: str, session: str, turn_id: str) -> Erasure:
    """A turn, what was made from it, and the copies of it."""
    return _erased(service, namespace, session, turn_id)


def erase_session(service: Service, namespace: str, session: str) -> Erasure:
    return _erased(service, namespace, session)


def erase_conversation(service: Service, namespace: str, session: str) -> Erasure:
    """All sessions that a host's conversation had, between its resets."""
    gone = NOTHING_GONE
    for name in epochs.names(service.store, namespace, session):
        gone = _sum(gone, erase_session(service, namespace, name))
    epochs.forget(service.store, namespace, session)
    return gone


def erase_namespace(service: Service, namespace: str) -> Erasure:
    return _erased(service, namespace)


def _erased(service: Service, namespace: str, session: str | None = None, turn_id: str | None = None) -> Erasure:
    try:
        return service.memory.erase(turn_id, user=namespace, session=session)
    except NotFoundError:
        return NOTHING_GONE


def _sum(one: Erasure, other: Erasure) -> Erasure:
    return Erasure(one.records + other.records, one.edges + other.edges, one.vectors + other.vectors)


def key_of(record: Record) -> Key:
    return Key(record.collection, record.id, record.group)
