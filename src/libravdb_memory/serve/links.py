"""Conversations that share the memory of another, as a subagent's does with its parent's.

Laws: a link says whose memory a conversation uses and nothing else; without it the conversation is its own again. One
that a caller made who reaches some namespaces only is seen by callers with such a reach alone: it leads nobody else's
conversation into the memory of one who could have made it up.
"""

from __future__ import annotations

from libravdb_memory.ingest.turns import checked_name
from libravdb_memory.model import Draft
from libravdb_memory.notes import LINKS
from libravdb_memory.sessions import Reach
from libravdb_memory.store.protocol import Key, Put, Remove, Store

_OWNER = "namespace"


def link(store: Store, key: str, namespace: str, within: Reach) -> None:
    """This conversation uses that memory from now on."""
    group = _group(namespace, within)
    draft = Draft(LINKS, checked_name("linkedKey", key), "", {_OWNER: namespace}, group=group)
    store.commit([Put(draft, replace=True, searchable=False)])


def unlink(store: Store, key: str, namespace: str, within: Reach) -> None:
    """It is its own again; one that reaches some namespaces only ends the links to this one."""
    mine = within is None or _owner(store, Key(LINKS, key)) == namespace
    keys = (*((Key(LINKS, key),) if mine else ()), Key(LINKS, key, namespace))
    if there := [Remove(each) for each in keys if store.get(each) is not None]:
        store.commit(there)


def owner_of(store: Store, key: str | None, within: Reach) -> str | None:
    """Whose memory a conversation uses, if it is linked for this caller."""
    name = (key or "").strip()
    if not name:
        return None
    by_all = _owner(store, Key(LINKS, name))
    if within is None or by_all in within:
        return by_all
    return next((owner for group in sorted(within) if (owner := _owner(store, Key(LINKS, name, group)))), None)


def _group(namespace: str, within: Reach) -> str:
    return "" if within is None else namespace


def _owner(store: Store, key: Key) -> str | None:
    found = store.get(key)
    owner = None if found is None else found.metadata.get(_OWNER)
    return owner if isinstance(owner, str) else None
