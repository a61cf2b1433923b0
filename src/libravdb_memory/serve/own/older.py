"""memory_history, memory_expand, memory_guidance, memory_compact: old turns under summaries, back to the exact turns,
and the rules that are kept of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.namespaces import summarised_namespace_of
from libravdb_memory.serve import epochs
from libravdb_memory.serve.forms import compaction_form, expansion_form, history_form, object_form
from libravdb_memory.serve.methods import EVERYTHING, Method, Result
from libravdb_memory.serve.own.where import Where, own_reach
from libravdb_memory.serve.results import summaries as results
from libravdb_memory.serve.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Expand(Where):
    id: str = field(metadata={"help": "of a summary"})
    depth: int | None = field(default=None, metadata={"help": "stop so many levels below; to the turns otherwise"})
    limit: int = field(default=200, metadata={"help": "how many at most"})
    after: str | None = field(default=None, metadata={"help": "the cursor of the page before"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Where):
    limit: int = field(default=200, metadata={"help": "how many at most"})
    after: str | None = field(default=None, metadata={"help": "the cursor of the page before"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact(Where):
    rebuild: bool = field(default=False, metadata={"help": "make all summaries of the session anew"})


def memory_history(service: Service, params: Where) -> Result:
    session = epochs.current(service.store, params.namespace, params.session)
    return history_form(service.memory.history(user=params.namespace, session=session))


def reach_of_expand(service: Service, params: Expand) -> frozenset[str]:
    """Where nobody is named, the summary may be anybody's: no scoped token learns whether there is one elsewhere."""
    if params.names_anybody:
        return own_reach(service, params)
    owners = {summarised_namespace_of(record.collection) for record in service.store.find(params.id)}
    return own_reach(service, params) if owners == {params.namespace} else EVERYTHING


def memory_expand(service: Service, params: Expand) -> Result:
    return expansion_form(
        service.memory.expand(
            params.id,
            user=params.namespace if params.names_anybody else None,
            session=params.given_session,
            depth=params.depth,
            limit=params.limit,
            after=params.after,
        )
    )


def memory_guidance(service: Service, params: Kept) -> Result:
    session = params.given_session and epochs.current(service.store, params.namespace, params.session)
    return object_form(
        service.memory.guidance(user=params.namespace, session=session, limit=params.limit, after=params.after)
    )


def memory_compact(service: Service, params: Compact) -> Result:
    session = epochs.current(service.store, params.namespace, params.session)
    done = service.memory.compact(user=params.namespace, session=session, rebuild=params.rebuild)
    return compaction_form(done)


METHODS: tuple[Method[Any], ...] = (
    Method(
        "memory_history",
        Where,
        memory_history,
        "Show a session from its oldest turn to its newest: summaries, and the turns that none covers.",
        reach=own_reach,
        result=results.History,
    ),
    Method(
        "memory_expand",
        Expand,
        memory_expand,
        "Read the exact turns below a summary: of the one who is named, or of anybody where the token reaches all.",
        reach=reach_of_expand,
        result=results.Expansion,
    ),
    Method(
        "memory_guidance",
        Kept,
        memory_guidance,
        "List the rules of a user, or of one session, that are kept word by word, and why each is.",
        reach=own_reach,
        result=results.Guidance,
    ),
    Method(
        "memory_compact",
        Compact,
        memory_compact,
        "Cover the older turns of a session with summaries; every turn stays.",
        writes=True,
        reach=own_reach,
        pace="slow",
        result=results.Compacted,
    ),
)
