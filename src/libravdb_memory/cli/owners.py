"""Whose memory there is, for who forgot to name a user.

Law: nobody is told of another user who named one.
"""

from __future__ import annotations

from collections.abc import Callable

from libravdb_memory.cli.render import in_one_line
from libravdb_memory.namespaces import given_session, given_user, history_of, resolve_namespace
from libravdb_memory.serve.bridge.remote import AnyKeeping

_NAMED = 3


def as_options(user: str | None, session: str | None) -> list[str]:
    """What names them on a command line."""
    return [word for kind, name in (("user", user), ("session", session)) if name for word in (f"--{kind}", name)]


def owners_of(store: AnyKeeping, namespace_of: Callable[[str], str | None], user: str | None) -> str:
    """Of whom there is something in the collections that `namespace_of` knows, as options; empty where a user was named
    or nobody has any."""
    if given_user(user) is not None:
        return ""
    names = [name for info in store.collections() if info.count and (name := namespace_of(info.name))]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(f"--user {in_one_line(name)}" for name in names[:_NAMED]) + more


def check_has_turns(store: AnyKeeping, user: str | None, session: str | None) -> None:
    """NotFoundError, as other commands have it, where a session or a user is named and has no turns."""
    if given_session(session) is not None:
        store.session(user, str(session))
    elif given_user(user) is not None:
        mine = history_of(resolve_namespace(user))
        if not any(info.count for info in store.collections() if info.name == mine):
            store.sessions(user)  # says so
