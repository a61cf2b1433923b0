"""namespaces, sessions, turns, latest_turns: what there is, page by page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.identity import Json
from libravdb_memory.model import Record
from libravdb_memory.namespaces import history_of, namespace_of, resolve_namespace, session_name, summaries_of
from libravdb_memory.serve.inspecting.rows import turn_rows
from libravdb_memory.serve.methods import EVERYTHING, Method, Result
from libravdb_memory.serve.results import turns as results
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Equals, GroupInfo, Key, Store
from libravdb_memory.tailing import tail_of

MOST_ROWS = 500
LONGEST_TEXT = 20_000
_LOOKED_AT = 5_000
"""Changes among which the newest turns are looked for."""
_MOST_USERS = 50
_AFTER = "the cursor of the page before"
_TEXT = "characters of each text, at most"


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespaces:
    contains: str = field(default="", metadata={"help": "only names with this text in them"})
    user_ids: tuple[str, ...] = field(default=(), metadata={"help": "only these; all otherwise"})
    limit: int = field(default=100, metadata={"help": f"how many at most, up to {MOST_ROWS}"})
    after: str | None = field(default=None, metadata={"help": _AFTER})


@dataclass(frozen=True, slots=True, kw_only=True)
class OfUser:
    user_id: str = field(metadata={"help": "whose memory it is"})

    @property
    def namespace(self) -> str:
        return resolve_namespace(self.user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions(OfUser):
    contains: str = field(default="", metadata={"help": "only names with this text in them"})
    limit: int = field(default=50, metadata={"help": f"how many at most, up to {MOST_ROWS}"})
    after: str | None = field(default=None, metadata={"help": _AFTER})


@dataclass(frozen=True, slots=True, kw_only=True)
class OfSession(OfUser):
    session_id: str = field(metadata={"help": "the session of memory, as sessions names it"})

    @property
    def session(self) -> str:
        return session_name(self.session_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns(OfSession):
    limit: int = field(default=100, metadata={"help": f"how many at most, up to {MOST_ROWS}"})
    order: Literal["newest", "oldest"] = field(default="newest", metadata={"help": "which come first"})
    after: str | None = field(default=None, metadata={"help": _AFTER})
    from_id: str | None = field(default=None, metadata={"wire": "from", "help": "begin with the turn of this id"})
    text_limit: int = field(default=600, metadata={"help": _TEXT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
    user_id: str | None = field(default=None, metadata={"help": "whose; of everybody otherwise"})
    user_ids: tuple[str, ...] = field(
        default=(), metadata={"help": f"whose, where there are several, up to {_MOST_USERS}"}
    )
    limit: int = field(default=50, metadata={"help": f"how many at most, up to {MOST_ROWS}"})
    text_limit: int = field(default=600, metadata={"help": _TEXT})

    @property
    def namespaces(self) -> frozenset[str]:
        """Empty for everybody."""
        return frozenset(resolve_namespace(name) for name in (self.user_id or "", *self.user_ids) if name.strip())


def own(_: Service, params: OfUser) -> frozenset[str]:
    return frozenset({params.namespace})


def one_or_all(_: Service, params: Latest) -> frozenset[str]:
    return params.namespaces or EVERYTHING


def check_bounds(limit: int, text_limit: int = 0) -> None:
    if not 1 <= limit <= MOST_ROWS:
        raise InvalidInputError("limit", f"must lie between 1 and {MOST_ROWS}")
    if not 0 <= text_limit <= LONGEST_TEXT:
        raise InvalidInputError("textLimit", f"must lie between 0 and {LONGEST_TEXT}")


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────


def namespaces(service: Service, params: Namespaces) -> Result:
    check_bounds(params.limit)
    store = service.store
    counted = {info.name: info.count for info in store.collections()}
    wanted, part = {name.strip() for name in params.user_ids}, params.contains.lower()
    known = [
        name
        for collection in reversed(counted)
        if (name := namespace_of(collection)) is not None and part in name.lower() and (not wanted or name in wanted)
    ]
    begin = 0 if params.after is None else known.index(params.after) + 1 if params.after in known else len(known)
    page = known[begin : begin + params.limit]
    more = begin + len(page) < len(known)
    return {
        "namespaces": [_namespace_form(store, name, counted) for name in page],
        "total": len(known),
        "cursor": page[-1] if page and more else None,
    }


def _namespace_form(store: Store, name: str, counted: Mapping[str, int]) -> dict[str, Json]:
    newest = store.page(history_of(name), limit=1, newest_first=True).records
    return {
        "userId": name,
        "turns": counted[history_of(name)],
        "sessions": store.groups(history_of(name), limit=0).total,
        "summaries": counted.get(summaries_of(name), 0),
        "lastTs": newest[0].ts if newest else None,
    }


def _named_reach(_: Service, params: Namespaces) -> frozenset[str]:
    return frozenset(name.strip() for name in params.user_ids) or EVERYTHING


def sessions(service: Service, params: Sessions) -> Result:
    check_bounds(params.limit)
    found = service.store.groups(
        history_of(params.namespace), containing=params.contains, after=params.after, limit=params.limit
    )
    return {
        "userId": params.namespace,
        "sessions": [_session_form(service.store, params.namespace, group) for group in found.groups],
        "total": found.total,
        "cursor": found.cursor,
    }


def _session_form(store: Store, namespace: str, group: GroupInfo) -> dict[str, Json]:
    return {
        "sessionId": group.name,
        "turns": group.count,
        "tokens": -(-group.characters // 4),
        "firstTs": group.first_ts,
        "lastTs": group.last_ts,
        "summaries": count_of(store, summaries_of(namespace), group.name),
    }


def count_of(store: Store, collection: str, session: str) -> int:
    return sum(group.count for group in store.groups(collection, name=session).groups)


# ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────


def turns(service: Service, params: Turns) -> Result:
    check_bounds(params.limit, params.text_limit)
    store, newest_first = service.store, params.order == "newest"
    after = params.after
    if params.from_id is not None:
        begin = store.get(Key(history_of(params.namespace), params.from_id, params.session))
        if begin is None:
            raise NotFoundError(params.from_id)
        after = store.cursor(begin.ref + (1 if newest_first else -1))
    page = store.page(
        history_of(params.namespace),
        where=Equals("group", params.session),
        after=after,
        limit=params.limit,
        newest_first=newest_first,
    )
    tail = tail_form(service, params.namespace, params.session)
    rows = turn_rows(store, service.memory.counter, page.records, params.text_limit)
    return {"turns": rows, "cursor": page.cursor, "tail": tail}


def tail_form(service: Service, namespace: str, session: str) -> dict[str, Json]:
    """The newest turns, which are never compacted."""
    memory, assembly = service.memory, service.config.assembly
    tail = tail_of(memory.store, memory.counter, assembly, history_of(namespace), session)
    first = tail[0] if tail else None
    return {
        "count": len(tail),
        "firstTurn": None if first is None else first.id,
        "firstTs": None if first is None else first.ts,
    }


def latest_turns(service: Service, params: Latest) -> Result:
    """Of some users from their histories; of everybody from the end of the change log."""
    check_bounds(params.limit, params.text_limit)
    if len(params.namespaces) > _MOST_USERS:
        raise InvalidInputError("userIds", f"may name up to {_MOST_USERS}")
    store, sequence = service.store, service.store.status().sequence
    if params.namespaces:
        found = _newest_of(store, params.namespaces, params.limit)
    else:
        found = _newest_of_all(store, sequence, params.limit)
    return {"turns": turn_rows(store, service.memory.counter, found, params.text_limit), "sequence": sequence}


def _newest_of(store: Store, namespaces: Iterable[str], limit: int) -> list[Record]:
    """Of one in the order in which they came; of several in that of their times, for nothing else is common to them."""
    pages = [store.page(history_of(name), limit=limit, newest_first=True).records for name in sorted(namespaces)]
    if len(pages) == 1:
        return list(pages[0])
    return sorted((record for page in pages for record in page), key=lambda record: -record.ts)[:limit]


def _newest_of_all(store: Store, sequence: int, limit: int) -> list[Record]:
    """Most changes are turns, so few are looked at first, and many only where those hold too few."""
    found: list[Record] = []
    until, looked_at = sequence, 0
    while until > 0 and looked_at < _LOOKED_AT and len(found) < limit:
        count = min(max(2 * limit, looked_at), until)
        changes = [change for change in store.changes_since(until - count, count) if change.sequence <= until]
        puts = [change.ref for change in reversed(changes) if change.kind == "put" and change.searchable]
        records = store.fetch(list(dict.fromkeys(puts)))
        known = {record.ref for record in found}
        found += [one for one in records.values() if one.ref not in known and namespace_of(one.collection) is not None]
        until, looked_at = until - count, looked_at + count
    return found[:limit]


METHODS: tuple[Method[Any], ...] = (
    Method(
        "namespaces",
        Namespaces,
        namespaces,
        "List whose memory there is, the newest first.",
        reach=_named_reach,
        result=results.NamespacesPage,
    ),
    Method(
        "sessions",
        Sessions,
        sessions,
        "List the sessions of a user, the last spoken in first.",
        reach=own,
        result=results.SessionsPage,
    ),
    Method(
        "turns",
        Turns,
        turns,
        "List the turns of a session, with what the gate made of them.",
        reach=own,
        result=results.TurnsPage,
    ),
    Method(
        "latest_turns",
        Latest,
        latest_turns,
        "List the newest turns of all sessions.",
        reach=one_or_all,
        result=results.LatestTurns,
    ),
)
