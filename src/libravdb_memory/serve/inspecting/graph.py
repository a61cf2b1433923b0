"""session_graph: the summaries of a session, what they cover, and where compaction stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from libravdb_memory import lineage
from libravdb_memory.errors import NotFoundError
from libravdb_memory.identity import Json
from libravdb_memory.namespaces import history_of, summaries_of
from libravdb_memory.serve.inspecting.lists import MOST_ROWS, OfSession, check_bounds, count_of, own, tail_form
from libravdb_memory.serve.inspecting.rows import node_row
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.results import summaries as results
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Equals, Key, Store
from libravdb_memory.summaries import Node, node_of

_NEWEST_SUMMARIES = 200
"""Among which the newest covered turn is looked for: folds are written after what they cover."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph(OfSession):
    limit: int = field(default=500, metadata={"help": f"how many summaries at most, up to {MOST_ROWS}"})
    after: str | None = field(default=None, metadata={"help": "the cursor of the page before"})


def session_graph(service: Service, params: Graph) -> Result:
    check_bounds(params.limit)
    store, namespace, session = service.store, params.namespace, params.session
    count = count_of(store, history_of(namespace), session)
    if not count:
        raise NotFoundError(session, f"the session {session!r} has no turns")
    page = store.page(
        summaries_of(namespace),
        where=Equals("group", session),
        after=params.after,
        limit=params.limit,
        newest_first=True,
    )
    nodes = [node_of(record) for record in page.records]
    parents = _parents(store, nodes)
    return {
        "userId": namespace,
        "sessionId": session,
        "turns": count,
        "tail": tail_form(service, namespace, session),
        "boundary": _boundary(store, namespace, session),
        "nodes": [node_row(node, parents.get(node.id)) for node in nodes],
        "cursor": page.cursor,
    }


def _parents(store: Store, nodes: Sequence[Node]) -> dict[str, str]:
    """A summary of summaries is newer than these, so most parents stand on the same page."""
    known = {child: node.id for node in nodes if node.level > 1 for child in node.children}
    for node in nodes:
        if node.id not in known and (above := lineage.parents(store, node.key)):
            known[node.id] = above[0].id
    return known


def _boundary(store: Store, namespace: str, session: str) -> dict[str, Json] | None:
    """The newest turn that a summary covers."""
    where = Equals("group", session)
    page = store.page(summaries_of(namespace), where=where, limit=_NEWEST_SUMMARIES, newest_first=True)
    last = {node_of(record).last for record in page.records}
    ends = [store.get(Key(history_of(namespace), turn, session)) for turn in last]
    newest = max((record for record in ends if record is not None), key=lambda record: record.ref, default=None)
    return None if newest is None else {"turn": newest.id, "ts": newest.ts}


METHODS: tuple[Method[Any], ...] = (
    Method(
        "session_graph",
        Graph,
        session_graph,
        "Show the summaries of a session and where its tail is.",
        reach=own,
        result=results.SessionGraph,
    ),
)
