"""How many turns a user has, or one session of a user: what an erase would take."""

from __future__ import annotations

from libravdb_memory.namespaces import given_session, history_of, resolve_namespace
from libravdb_memory.store.protocol import Equals, Store


def count_turns(store: Store, user: str | None, session: str | None) -> int:
    collection, name = history_of(resolve_namespace(user, session)), given_session(session)
    if name is None:
        return sum(info.count for info in store.collections(collection) if info.name == collection)
    total, cursor = 0, None
    while True:
        page = store.page(collection, where=Equals("group", name), after=cursor)
        total, cursor = total + len(page.records), page.cursor
        if cursor is None:
            return total
