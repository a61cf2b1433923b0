"""Notes about conversations that go with them: whose a session is, how often a host reset it, who shares its memory,
and the hints of hosts about its life.

Law: when nothing is left of a session, nothing names it any more; a session that somebody else has keeps what is known
of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from libravdb_memory import sessions
from libravdb_memory.journal import COLLECTION as JOURNAL
from libravdb_memory.namespaces import history_of, namespace_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Key, OneOf, Store

EPOCHS = "_internal:epochs"
LINKS = "_internal:links"
"""Kept by the daemon: how often a conversation was reset (by its name, in the group of its namespace), and which
conversations use the memory of a namespace."""


def of_session(store: Store, namespace: str, session: str) -> tuple[Key, ...]:
    """Those that go when this session of a namespace goes."""
    return (*_about(store, namespace, {session}), *_epochs(store, namespace, session))


def of_namespace(store: Store, namespace: str) -> tuple[Key, ...]:
    """Those that go when everything of a namespace goes."""
    spoken = {record.group for record in every(store, history_of(namespace))}
    known = {*spoken, *sessions.sessions_of(store, namespace), *_own_session(namespace)}
    epochs = (Key(EPOCHS, record.id, namespace) for record in every(store, EPOCHS, Equals("group", namespace)))
    linked = (
        Key(LINKS, record.id, record.group) for record in every(store, LINKS, Equals("metadata.namespace", namespace))
    )
    return (*_about(store, namespace, known), *epochs, *linked)


def _about(store: Store, namespace: str, gone: set[str]) -> Iterator[Key]:
    """Notes that tell of this namespace alone, and the hints about sessions that are nobody else's."""
    for session in sorted(gone):
        if sessions.noted(store, session) == (namespace,):
            yield Key(sessions.SESSIONS, session)
    hints = [record for each in _portions(sorted(gone)) for record in every(store, JOURNAL, each)]
    told = {str(record.metadata.get("session", "")) for record in hints}
    left = {session for session in told if _is_anothers(store, namespace, session)}
    yield from (Key(JOURNAL, record.id) for record in hints if record.metadata.get("session") not in left)


def _portions(names: list[str]) -> Iterable[OneOf]:
    return (OneOf("metadata.session", tuple(names[start : start + 500])) for start in range(0, len(names), 500))


def _is_anothers(store: Store, namespace: str, session: str) -> bool:
    if any(name != namespace for name in sessions.noted(store, session)):
        return True
    others = (info.name for info in store.collections(history_of("")) if namespace_of(info.name) != namespace)
    return any(_holds(store, name, session) for name in others)


def _epochs(store: Store, namespace: str, session: str) -> Iterator[Key]:
    """The note of a conversation of which no other session is left."""
    for record in every(store, EPOCHS, Equals("group", namespace)):
        resets = record.metadata.get("resets")
        later = range(1, resets + 1) if isinstance(resets, int) else ()
        names = {record.id, *(f"{record.id}~{number}" for number in later)}
        if session in names and not any(_holds(store, history_of(namespace), name) for name in names - {session}):
            yield Key(EPOCHS, record.id, namespace)


def _holds(store: Store, collection: str, session: str) -> bool:
    return bool(store.page(collection, where=Equals("group", session), limit=1).records)


def _own_session(namespace: str) -> tuple[str, ...]:
    return (namespace.removeprefix("session:"),) if namespace.startswith("session:") else ()
