"""Whose a session is, for clients that name a session alone.

A session id of the reference protocol stands for itself, while a turn is kept in the history of a user. Laws: a caller
that reaches some users only finds in a session what is theirs, whatever others do there. To one that reaches everybody,
a session that such a client wrote to belongs to the users it wrote for, in the order in which it met them; else to
those that other callers with the same reach wrote for; else to everybody who has turns in it. What a caller with less
reach does is noted nowhere: it decides neither what others see nor where their turns go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from libravdb_memory.errors import StaleVersionError
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import history_of, namespace_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Expect, Key, Put, Store

SESSIONS = "_internal:sessions"


Reach: TypeAlias = frozenset[str] | None
"""The namespaces that a caller reaches; None: all of them."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Whom callers that reach everybody wrote for: by the session alone (the one met last at the end), or as hosts that
    name the user with each message."""

    written: tuple[str, ...] = ()
    hosted: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.hosted, *self.written)))

    def without(self, namespace: str) -> Noted:
        return Noted(*(tuple(name for name in names if name != namespace) for names in (self.written, self.hosted)))


def owners(store: Store, session: str, within: Reach) -> tuple[str, ...]:
    """The namespaces that a caller finds in a session, the one met last at the end."""
    if not session:
        return ()
    if within is not None:
        return tuple(name for name in sorted(within) if _has(store, history_of(name), session))
    return told(store, session) or _everybody_in(store, session)


def told(store: Store, session: str) -> tuple[str, ...]:
    """Whose a session is by what callers that reach everybody wrote."""
    known = _noted(store, session)
    return known.written or known.hosted


def meant(store: Store, session: str, within: Reach) -> str | None:
    """Whom a turn is for that names the session alone, if the session tells."""
    known = _noted(store, session)
    mine = known.hosted if within is None else owners(store, session, within)
    written = [name for name in known.written if within is None or name in mine]
    return written[-1] if written else mine[0] if len(mine) == 1 else None


def noted(store: Store, session: str) -> tuple[str, ...]:
    """The namespaces that were noted of a session."""
    return _noted(store, session).all


def note(store: Store, session: str, namespace: str) -> None:
    """A client that names the session alone has written to it for that namespace."""
    while True:
        found = store.get(Key(SESSIONS, session))
        known = _read(found)
        if known.written[-1:] == (namespace,):
            return
        left = known.without(namespace)
        if _swapped(store, session, Noted((*left.written, namespace), known.hosted), found):
            return


def note_hosted(store: Store, session: str, namespace: str) -> None:
    """A host has written to the session for that namespace, which it named."""
    while True:
        found = store.get(Key(SESSIONS, session))
        known = _read(found)
        if namespace in known.hosted:
            return
        if _swapped(store, session, replace(known, hosted=(*known.hosted, namespace)), found):
            return


def sessions_of(store: Store, namespace: str) -> tuple[str, ...]:
    """Those noted of a namespace."""
    return tuple(record.id for record in every(store, SESSIONS) if namespace in _read(record).all)


def forget_where_shared(store: Store, namespace: str, sessions: Sequence[str]) -> None:
    """These sessions hold nothing of that namespace any more, and the notes on them name others too."""
    for session in sessions:
        while True:
            found = store.get(Key(SESSIONS, session))
            known = _read(found)
            if namespace not in known.all or len(known.all) == 1:
                break
            if _swapped(store, session, known.without(namespace), found):
                break


def _swapped(store: Store, session: str, known: Noted, before: Record | None) -> bool:
    """Written, unless somebody was faster."""
    key = Key(SESSIONS, session)
    draft = Draft(SESSIONS, session, "", {"namespaces": list(known.written), "hosted": list(known.hosted)})
    expected = Expect(key, 0 if before is None else before.version)
    try:
        store.commit([expected, Put(draft, replace=True, searchable=False)])
    except StaleVersionError:
        return False
    return True


def _noted(store: Store, session: str) -> Noted:
    return _read(store.get(Key(SESSIONS, session)) if session else None)


def _read(record: Record | None) -> Noted:
    return Noted() if record is None else Noted(_names(record, "namespaces"), _names(record, "hosted"))


def _names(record: Record, key: str) -> tuple[str, ...]:
    named = record.metadata.get(key)
    items = cast(list[object], named) if isinstance(named, list) else []
    return tuple(name for name in items if isinstance(name, str))


def _everybody_in(store: Store, session: str) -> tuple[str, ...]:
    histories = [info.name for info in store.collections(history_of(""))]
    return tuple(namespace_of(name) or "" for name in histories if _has(store, name, session))


def _has(store: Store, collection: str, session: str) -> bool:
    return bool(store.page(collection, where=Equals("group", session), limit=1).records)
