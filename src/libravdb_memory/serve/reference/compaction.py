"""compact_session, expand_summary: old turns behind summaries, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from libravdb_memory import lineage, sessions
from libravdb_memory.errors import NotFoundError
from libravdb_memory.lineage import DEEPEST
from libravdb_memory.model import Record
from libravdb_memory.namespaces import history_of, summaries_of
from libravdb_memory.serve import showing
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.results.reference import Entries, SessionCompacted
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.showing import Item
from libravdb_memory.serve.views import reach_of
from libravdb_memory.store.protocol import Key, Store
from libravdb_memory.summaries import is_summary, node_of

if TYPE_CHECKING:
    from libravdb_memory.compacting import Compaction

_NOT_USED = {"help": "taken and not used: the settings of compaction decide"}
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Compact:
    session_id: str
    force: bool = field(default=False, metadata={"help": "taken and not used: a call always compacts what it can"})
    target_size: int = field(default=0, metadata=_NOT_USED)
    continuity_min_turns: int = field(default=0, metadata=_NOT_USED)
    continuity_tail_budget_tokens: int = field(default=0, metadata=_NOT_USED)
    continuity_prior_context_tokens: int = field(default=0, metadata=_NOT_USED)


def compact_session(service: Service, params: Compact) -> Result:
    session = params.session_id.strip()
    owners = sessions.owners(service.store, session, service.within)
    done = [each for namespace in owners if (each := _compacted(service, namespace, session)) is not None]
    made = [node for each in done for node in each.summaries]
    methods = sorted({node.method for node in made})
    result: Result = {
        "didCompact": bool(made),
        "clustersFormed": len(made),
        "clustersDeclined": sum(len(each.declined) for each in done),
        "turnsRemoved": sum(each.turns for each in done),
        "meanConfidence": fmean(node.confidence for node in made) if made else 0.0,
    }
    return {**result, "summaryMethod": methods[0] if len(methods) == 1 else "mixed"} if methods else result


def _compacted(service: Service, namespace: str, session: str) -> Compaction | None:
    """Nothing where the turns are gone by now: to these clients that is a session with nothing to do."""
    try:
        return service.memory.compact(user=namespace, session=session)
    except NotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class ExpandSummary:
    session_id: str
    summary_id: str
    max_depth: int = field(default=_DEPTH, metadata={"help": "levels; 0 counts as absent"})


def expand_summary(service: Service, params: ExpandSummary) -> Result:
    """What a summary covers, each summary before what it covers itself, oldest first."""
    store, session = service.store, params.session_id.strip()
    depth = min(params.max_depth, DEEPEST) if params.max_depth > 0 else _DEPTH
    keys = (
        Key(summaries_of(name), params.summary_id, session) for name in sessions.owners(store, session, service.within)
    )
    found = [record for key in keys if (record := store.get(key)) is not None]
    return {"results": [item.form() for record in found for item in _below(store, record, depth)]}


def _below(store: Store, summary: Record, depth: int) -> Iterator[Item]:
    for record in _in_order(store, summary):
        if not is_summary(record):
            yield from showing.session_turns(f"session_raw:{record.group}", raw=True)(store, [record])
            continue
        yield from showing.summaries(f"session_summary:{record.group}")(store, [record])
        if depth > 1:
            yield from _below(store, record, depth - 1)


def _in_order(store: Store, summary: Record) -> list[Record]:
    def place(record: Record) -> tuple[int, int]:
        if not is_summary(record):
            return record.ref, record.ref
        node = node_of(record)
        first = store.get(Key(history_of(node.namespace), node.first, node.session))
        return (record if first is None else first).ref, record.ref

    return sorted(lineage.children(store, node_of(summary).key), key=place)


def _reach(service: Service, params: Compact | ExpandSummary) -> frozenset[str]:
    return reach_of(service.store, f"session:{params.session_id}", service.within)


METHODS: tuple[Method[Any], ...] = (
    Method(
        "compact_session",
        Compact,
        compact_session,
        "Cover the older turns of a session with summaries; the turns stay.",
        writes=True,
        reach=_reach,
        pace="slow",
        result=SessionCompacted,
    ),
    Method(
        "expand_summary",
        ExpandSummary,
        expand_summary,
        "What a summary covers, level by level.",
        reach=_reach,
        result=Entries,
    ),
)
