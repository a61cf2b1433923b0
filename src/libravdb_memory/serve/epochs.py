"""Which session of memory a host's conversation is in.

A host that resets a conversation may keep its id. Laws: what was said before a reset and what is said after it are two
sessions of memory. The first has the name that the host uses, the n-th after it `<name>~<n>`. A host's name means the
newest of them, `<name>~0` the first. A reset of a conversation that holds nothing changes nothing, so that one reset
may be told several times.
"""

from __future__ import annotations

from libravdb_memory.errors import StaleVersionError
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import history_of
from libravdb_memory.notes import EPOCHS
from libravdb_memory.store.protocol import Equals, Expect, Key, Put, Selection, Store

_FIRST = "~0"


def current(store: Store, namespace: str, session: str) -> str:
    """The session of memory into which this conversation goes now."""
    if session.endswith(_FIRST):
        return session.removesuffix(_FIRST) or session
    return _name(session, _resets(store.get(Key(EPOCHS, session, namespace))))


def names(store: Store, namespace: str, session: str) -> tuple[str, ...]:
    """All sessions of memory that this conversation had, the newest first."""
    resets = _resets(store.get(Key(EPOCHS, session, namespace)))
    return tuple(_name(session, number) for number in range(resets, -1, -1))


def advance(store: Store, namespace: str, session: str) -> str:
    """The conversation was reset; returns the session of memory in which it goes on."""
    key = Key(EPOCHS, session, namespace)
    while True:
        found = store.get(key)
        resets = _resets(found)
        if not holds(store, namespace, _name(session, resets)):
            return _name(session, resets)
        draft = Draft(EPOCHS, session, "", {"resets": resets + 1}, group=namespace)
        try:
            expected = Expect(key, 0 if found is None else found.version)
            store.commit([expected, Put(draft, replace=True, searchable=False)])
        except StaleVersionError:
            continue  # somebody else was told of it too
        return _name(session, resets + 1)


def holds(store: Store, namespace: str, session: str) -> bool:
    return bool(store.page(history_of(namespace), where=Equals("group", session), limit=1).records)


def forget(store: Store, namespace: str, session: str) -> None:
    """How often this conversation was reset is known no more."""
    key = Key(EPOCHS, session, namespace)
    if store.get(key) is not None:
        store.erase(Selection(keys=(key,)))


def _name(session: str, resets: int) -> str:
    return f"{session}~{resets}" if resets else session


def _resets(found: Record | None) -> int:
    resets = 0 if found is None else found.metadata.get("resets")
    return resets if isinstance(resets, int) else 0
