"""Erasing for good, public collections included.

Law: what is erased is gone from memory, with all that was made from it, and from the collections into which hosts put
copies of it. One namespace is erased and no other, however much their names begin alike.
"""

from __future__ import annotations

from libravdb_memory import lineage
from libravdb_memory.errors import NotFoundError
from libravdb_memory.journal import COLLECTION as JOURNAL
from libravdb_memory.model import Record
from libravdb_memory.namespaces import dreams_of, guidance_of, history_of
from libravdb_memory.serve import sessions
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.showing import apart
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Erasure, Key, OneOf, Selection, Store

_KEPT = ("user", "turns")
NOTHING_GONE = Erasure(0, 0, 0)


def erase_turn(service: Service, namespace: str, session: str, turn_id: str) -> Erasure:
    """A turn, what was made from it, and the copies of it. No matter if it is not there."""
    gone = _from_memory(service, namespace, session, turn_id)
    copies = [copy for kind in _KEPT for copy in copies_of(service.store, kind, namespace, session, turn_id)]
    return _sum(gone, service.store.erase(Selection(keys=tuple(map(key_of, copies)))) if copies else NOTHING_GONE)


def erase_session(service: Service, namespace: str, session: str) -> Erasure:
    gone = _from_memory(service, namespace, session)
    mine = Equals("metadata.sessionId", session)
    names = collections_of(service.store, namespace)
    keys = tuple(key_of(record) for name in names for record in every(service.store, name, mine))
    gone = _sum(gone, service.store.erase(Selection(keys=keys)) if keys else NOTHING_GONE)
    _forget_sessions(service.store, namespace, (session,))
    return gone


def erase_namespace(service: Service, namespace: str) -> Erasure:
    spoken = {record.group for record in every(service.store, history_of(namespace))}
    known = {*spoken, *sessions.sessions_of(service.store, namespace), *_own_session(namespace)}
    gone = _from_memory(service, namespace)
    gone = _sum(gone, service.store.erase(Selection(collections=collections_of(service.store, namespace))))
    _forget_sessions(service.store, namespace, tuple(sorted(known)))
    return gone


def _from_memory(service: Service, namespace: str, session: str | None = None, turn_id: str | None = None) -> Erasure:
    try:
        return service.memory.erase(turn_id, user=namespace, session=session)
    except NotFoundError:
        return NOTHING_GONE


def _sum(one: Erasure, other: Erasure) -> Erasure:
    return Erasure(one.records + other.records, one.edges + other.edges, one.vectors + other.vectors)


def erase_summary(store: Store, record: Record) -> None:
    """A summary and all above it; what it covers is uncovered again."""
    above = lineage.ancestors(store, [key_of(record)])
    store.erase(Selection(keys=(key_of(record), *above)))


def copies_of(store: Store, kind: str, namespace: str, session: str, turn_id: str) -> list[Record]:
    """What hosts put into `user:` or `turns:` of this turn."""
    plain = f"{namespace}:{turn_id}"
    found = [store.get(Key(f"{kind}:{namespace}", name)) for name in (plain, apart(plain, session))]
    return [record for record in found if record is not None and record.metadata.get("sessionId") == session]


def collections_of(store: Store, namespace: str) -> tuple[str, ...]:
    """The collections that hosts filled for a namespace: `user:<ns>`, `turns:<ns>`, and `user:<ns>:…` unless what
    follows `user:` is a namespace of its own."""
    names = {info.name for info in store.collections()}
    inner = f"user:{namespace}:"
    return tuple(
        name
        for name in sorted(names)
        if name in (f"user:{namespace}", f"turns:{namespace}")
        or (name.startswith(inner) and not _is_namespace(names, name.removeprefix("user:")))
    )


def key_of(record: Record) -> Key:
    return Key(record.collection, record.id, record.group)


def _is_namespace(names: set[str], name: str) -> bool:
    places = (history_of(name), guidance_of(name), dreams_of(name), f"turns:{name}")
    return not names.isdisjoint(places)


def _own_session(namespace: str) -> tuple[str, ...]:
    return (namespace.removeprefix("session:"),) if namespace.startswith("session:") else ()


def _forget_sessions(store: Store, namespace: str, gone: tuple[str, ...]) -> None:
    """With the hints about those of them that are nobody else's."""
    sessions.forget(store, namespace, gone)
    nobodys = tuple(session for session in gone if not sessions.owners(store, session))
    if nobodys and (hints := [key_of(found) for found in every(store, JOURNAL, OneOf("metadata.session", nobodys))]):
        store.erase(Selection(keys=tuple(hints)))
