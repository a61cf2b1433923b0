"""What callers of the verbs ask for: checked, and put into the terms of the store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.ingest.turns import milliseconds
from libravdb_memory.store.protocol import AllOf, Between, Equals, Filter

Scope: TypeAlias = Literal["session", "history", "summaries"]
_SCOPES: tuple[Scope, ...] = ("session", "history", "summaries")


def check_count(field: str, value: object, least: int = 0) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInputError(field, f"must be a whole number, {least or 'zero'} or more, not {value!r}")


def session_of(session: str | None, scopes: Sequence[Scope] | None) -> str | None:
    """The session to narrow a search to, or None for the whole history."""
    for scope in scopes or ():
        if scope not in _SCOPES:
            raise InvalidInputError("scopes", f"{scope!r} is not one of {', '.join(_SCOPES)}")
    if scopes is not None and ("history" in scopes or not scopes):
        return None
    if "session" in (scopes or ()) and session is None:
        raise InvalidInputError("session", "the scope 'session' needs one")
    return session


def where_of(
    session: str | None, role: str | None, since: int | datetime | None, until: int | datetime | None
) -> Filter | None:
    terms: list[Filter] = []
    if session is not None:
        terms.append(Equals("group", session))
    if role is not None:
        terms.append(Equals("metadata.role", role))
    if since is not None or until is not None:
        low = None if since is None else milliseconds("since", since)
        high = None if until is None else milliseconds("until", until)
        terms.append(Between("ts", low, high))
    return AllOf(tuple(terms)) if len(terms) > 1 else next(iter(terms), None)


def nothing_to_erase(user: str | None, session: str | None) -> NotFoundError:
    named = [f"{kind} {name.strip()!r}" for kind, name in (("session", session), ("user", user)) if name is not None]
    return NotFoundError(session or user or "", f"there is nothing to erase: the {' of the '.join(named)} has no turns")
