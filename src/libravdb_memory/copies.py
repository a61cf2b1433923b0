"""What hosts keep of turns in collections of their own: `user:<namespace>` and `turns:<namespace>`.

A host of the reference protocol stores a turn and, beside it, copies of it under public names. Law: a copy belongs to
its namespace and to the session that it names, and to no other, however much their names begin alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from libravdb_memory.model import Record
from libravdb_memory.namespaces import dreams_of, guidance_of, history_of
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Key, Store

_KINDS = ("user", "turns")


def apart(record_id: str, session: str) -> str:
    """The id of a copy whose own is taken by another session."""
    return f"{record_id}@{session}"


def copies_of(store: Store, kind: str, namespace: str, session: str, turn_id: str) -> list[Record]:
    """What hosts put into `user:` or `turns:` of this turn."""
    plain = f"{namespace}:{turn_id}"
    found = [store.get(Key(f"{kind}:{namespace}", name)) for name in (plain, apart(plain, session))]
    return [record for record in found if record is not None and record.metadata.get("sessionId") == session]


def copies_of_turn(store: Store, namespace: str, session: str, turn_id: str) -> Iterator[Record]:
    for kind in _KINDS:
        yield from copies_of(store, kind, namespace, session, turn_id)


def copies_of_session(store: Store, namespace: str, session: str) -> Iterator[Record]:
    for name in collections_of(store, namespace):
        yield from every(store, name, Equals("metadata.sessionId", session))


def collections_of(store: Store, namespace: str) -> tuple[str, ...]:
    """The collections that hosts filled for a namespace: `user:<ns>`, `turns:<ns>`, and `user:<ns>:…` unless a longer
    name that begins there is a namespace of its own."""
    names = {info.name for info in store.collections()}
    inner = f"user:{namespace}:"
    return tuple(
        name
        for name in sorted(names)
        if name in (f"user:{namespace}", f"turns:{namespace}")
        or (name.startswith(inner) and not any(_is_namespace(names, each) for each in _longer(name, inner)))
    )


def _longer(name: str, inner: str) -> Iterator[str]:
    """The namespaces that a name below `inner` may be in, beside that of `inner` itself."""
    parts = name.removeprefix(inner).split(":")
    yield from (inner.removeprefix("user:") + ":".join(parts[:count]) for count in range(1, len(parts) + 1))


def _is_namespace(names: set[str], name: str) -> bool:
    places = (history_of(name), guidance_of(name), dreams_of(name), f"turns:{name}")
    return not names.isdisjoint(places)
