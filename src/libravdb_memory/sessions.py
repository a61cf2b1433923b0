"""Whose a session is, for clients that name a session alone.

A session id of the reference protocol stands for itself, while a turn is kept in the history of a user. Laws: a session
that such a client has written to belongs to the users it wrote for, in the order in which it met them, and to nobody
else; one that none has written to belongs to the user who has it, if that is a single one, else to nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from libravdb_memory.errors import StaleVersionError
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import history_of, namespace_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Expect, Key, Put, Remove, Store, Write

SESSIONS = "_internal:sessions"


def owners(store: Store, session: str) -> tuple[str, ...]:
    """The namespaces of a session, the one met last at the end."""
    found = store.get(Key(SESSIONS, session)) if session else None
    return _named(found) if found is not None else _only_one_with(store, session)


def noted(store: Store, session: str) -> tuple[str, ...]:
    """The namespaces that were noted of a session."""
    found = store.get(Key(SESSIONS, session)) if session else None
    return () if found is None else _named(found)


def note(store: Store, session: str, namespace: str) -> None:
    """This namespace has turns in that session."""
    while True:
        found = store.get(Key(SESSIONS, session))
        named = () if found is None else _named(found)
        if named[-1:] == (namespace,):
            return
        kept = (*(name for name in named if name != namespace), namespace)
        if _swapped(store, session, kept, found):
            return


def sessions_of(store: Store, namespace: str) -> tuple[str, ...]:
    """Those noted of a namespace."""
    return tuple(record.id for record in every(store, SESSIONS) if namespace in _named(record))


def forget_where_shared(store: Store, namespace: str, sessions: Sequence[str]) -> None:
    """These sessions hold nothing of that namespace any more, and the notes on them name others too."""
    for session in sessions:
        while True:
            found = store.get(Key(SESSIONS, session))
            if found is None or namespace not in _named(found) or len(_named(found)) == 1:
                break
            left = tuple(name for name in _named(found) if name != namespace)
            if _swapped(store, session, left, found):
                break


def _swapped(store: Store, session: str, named: tuple[str, ...], before: Record | None) -> bool:
    """Written, unless somebody was faster."""
    key = Key(SESSIONS, session)
    write: Write = Remove(key)
    if named:
        draft = Draft(SESSIONS, session, "", {"namespaces": list(named)})
        write = Put(draft, replace=True, searchable=False)
    try:
        store.commit([Expect(key, 0 if before is None else before.version), write])
    except StaleVersionError:
        return False
    return True


def _named(record: Record) -> tuple[str, ...]:
    named = record.metadata.get("namespaces")
    items = cast(list[object], named) if isinstance(named, list) else []
    return tuple(name for name in items if isinstance(name, str))


def _only_one_with(store: Store, session: str) -> tuple[str, ...]:
    own = f"session:{session}"
    if not session:
        return ()
    histories = [info.name for info in store.collections(history_of(""))]
    found = [name for name in histories if store.page(name, where=Equals("group", session), limit=1).records]
    if history_of(own) in found:
        return (own,)
    return (namespace_of(found[0]) or "",) if len(found) == 1 else ()
