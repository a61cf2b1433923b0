"""Sessions and summaries as a command line names them.

Laws: a name that leads nowhere is refused with what would lead somewhere, where that is known. The first characters of
a summary's id, with or without the `summary:` that all begin with, stand for it while no other begins so; it is never
guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from libravdb_memory.errors import AmbiguousIdError, InvalidInputError, NotFoundError
from libravdb_memory.namespaces import (
    given_session,
    given_user,
    history_of,
    namespace_of,
    resolve_namespace,
    session_name,
    summaries_of,
)
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Store
from libravdb_memory.summaries import Node, is_summary, node_of

LEAST_PREFIX = 6
_NAMED = 3
_KIND = "summary:"


class SessionName(NamedTuple):
    """`user` is the namespace: as a user, it names the same memory."""

    user: str
    session: str


def sessions_of(store: Store, user: str | None) -> list[SessionName]:
    """Every session of a user, or of the whole store, by its first turn."""
    owners = _owners(store) if given_user(user) is None else iter([resolve_namespace(user)])
    found = [
        SessionName(owner, session)
        for owner in owners
        for session in dict.fromkeys(record.group for record in every(store, history_of(owner)))
    ]
    if not found:
        raise NotFoundError(user or "", f"the user {user!r} has no turns" if given_user(user) else "there are no turns")
    return found


def named_session(store: Store, user: str | None, session: str) -> SessionName:
    """That session, if it has turns."""
    named = SessionName(resolve_namespace(user, session), session_name(session))
    if _has_turns(store, named):
        return named
    others = [owner for owner in _owners(store) if _has_turns(store, SessionName(owner, named.session))]
    whose = f" of the user {user.strip()!r}" if user is not None and given_user(user) else ""
    known = f"one of that name belongs to --user {others[0]}" if others else _sessions_there(store, user)
    raise NotFoundError(named.session, f"the session {named.session!r}{whose} has no turns{known and f'; {known}'}")


def _sessions_there(store: Store, user: str | None) -> str:
    """Which the user has, if one is named; else who has any."""
    if given_user(user):
        page = store.groups(history_of(resolve_namespace(user)), limit=_NAMED)
        kind, names, total = "", [group.name for group in page.groups], page.total
    else:
        owners = list(_owners(store))
        kind, names, total = "sessions of ", [f"--user {owner}" for owner in owners[:_NAMED]], len(owners)
    more = f" and {total - len(names):,} more" if total > len(names) else ""
    return f"there {'is' if total == 1 and not kind else 'are'} {kind}{', '.join(names)}{more}" if names else ""


def named_summary(store: Store, given: str, user: str | None, session: str | None) -> Node:
    """The summary with this id, or the one whose id begins so."""
    name, group = given.strip(), given_session(session)
    owners = [resolve_namespace(user)] if given_user(user) else _summarised(store)
    found = _summaries_named(store, name, owners, group)
    if not found and _is_turn(store, name, user):
        raise NotFoundError(name, f"{name!r} is a turn, not a summary; 'libravdb get {name}' shows it")
    if not found and len(own_part(name)) < LEAST_PREFIX:
        raise InvalidInputError("summary", f"{given!r} is too short: give at least {LEAST_PREFIX} characters of the id")
    if not found and (elsewhere := _summaries_named(store, name, _summarised(store), None)):
        other = elsewhere[0]
        told = f"the summary {name!r} is of the session {other.session!r} of --user {other.namespace}"
        raise NotFoundError(name, f"{told}, not of the one that is named")
    if not found:
        raise NotFoundError(name, f"there is no summary {name!r}; 'libravdb history SESSION' lists those of a session")
    if len(found) > 1:
        raise AmbiguousIdError(name, len(found))
    return found[0]


def named_record(store: Store, given: str, user: str) -> str:
    """The id, or `session/id`, as it is given where a record has it; else that of the summary that begins so."""
    name = given.strip()
    parts = name.split("/")
    if any(store.find("/".join(parts[at:])) for at in range(len(parts)) if any(parts[at:])):
        return name
    found = _summaries_named(store, name, [resolve_namespace(user)], None)
    if not found:
        raise NotFoundError(name)
    if len(found) > 1:
        raise AmbiguousIdError(name, len(found))
    return found[0].id


def begins_so(summary_id: str, given: str) -> bool:
    """Whether these are the first characters of a summary's id, and enough of them."""
    own = own_part(given.lower())
    return len(own) >= LEAST_PREFIX and summary_id.startswith(_KIND) and own_part(summary_id).startswith(own)


def _summaries_named(store: Store, name: str, owners: Sequence[str], group: str | None) -> list[Node]:
    whole = [node_of(record) for record in store.find(name) if is_summary(record)]
    begun = whole or [
        node_of(record)
        for owner in (owners if len(own_part(name)) >= LEAST_PREFIX else ())
        for record in every(store, summaries_of(owner), Equals("group", group) if group else None)
        if begins_so(record.id, name)
    ]
    return [node for node in begun if node.namespace in owners and group in (None, node.session)]


def _is_turn(store: Store, name: str, user: str | None) -> bool:
    collections = {record.collection for record in store.find(name)} if name else set[str]()
    owners = {owner for each in collections if (owner := namespace_of(each)) is not None}
    return resolve_namespace(user) in owners if given_user(user) else bool(owners)


def own_part(summary_id: str) -> str:
    """What tells one id from another."""
    return summary_id.removeprefix(_KIND)


def _owners(store: Store) -> Iterator[str]:
    names = (namespace_of(info.name) for info in store.collections(history_of("")) if info.count)
    return (name for name in names if name is not None)


def _summarised(store: Store) -> list[str]:
    return [info.name.removeprefix(summaries_of("")) for info in store.collections(summaries_of(""))]


def _has_turns(store: Store, named: SessionName) -> bool:
    page = store.page(history_of(named.user), where=Equals("group", named.session), limit=1)
    return bool(page.records)
