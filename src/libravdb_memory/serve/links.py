"""Conversations that share the memory of another, as a subagent's does with its parent's.

Law: a link says whose memory a conversation uses and nothing else; without it the conversation is its own again.
"""

from __future__ import annotations

from libravdb_memory.ingest.turns import checked_name
from libravdb_memory.model import Draft
from libravdb_memory.notes import LINKS
from libravdb_memory.store.protocol import Key, Put, Remove, Store

_OWNER = "namespace"


def link(store: Store, key: str, namespace: str) -> None:
    """This conversation uses that memory from now on."""
    draft = Draft(LINKS, checked_name("linkedKey", key), "", {_OWNER: namespace})
    store.commit([Put(draft, replace=True, searchable=False)])


def unlink(store: Store, key: str) -> None:
    if store.get(Key(LINKS, key)) is not None:
        store.commit([Remove(Key(LINKS, key))])


def owner_of(store: Store, key: str | None) -> str | None:
    """Whose memory a conversation uses, if it is linked."""
    found = store.get(Key(LINKS, key.strip())) if key and key.strip() else None
    owner = None if found is None else found.metadata.get(_OWNER)
    return owner if isinstance(owner, str) else None
