"""memory_search, memory_get: turns found by a question, or read by their id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.model import Hits
from libravdb_memory.serve.forms import hit_form, turn_form
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.own.where import Where, own_reach
from libravdb_memory.serve.results import turns as results
from libravdb_memory.serve.service import Service

MOST_HITS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Where):
    query: str = field(default="", metadata={"help": "the question"})
    k: int = field(default=10, metadata={"help": f"how many at most, up to {MOST_HITS}"})
    scopes: tuple[Literal["session", "history", "summaries"], ...] = field(
        default=(), metadata={"help": "where to look; without: the session if one is named, else the whole history"}
    )
    role: str | None = field(default=None, metadata={"help": "only turns of this role"})
    since: int | None = field(default=None, metadata={"help": "milliseconds since 1970"})
    until: int | None = field(default=None, metadata={"help": "milliseconds since 1970"})


@dataclass(frozen=True, slots=True, kw_only=True)
class One(Where):
    id: str


def searched(service: Service, params: Search, most: int, *, count_use: bool = True) -> Hits:
    if params.k > most:
        raise InvalidInputError("k", f"must be at most {most}")
    return service.memory.search(
        params.query,
        user=params.namespace,
        session=params.session_id,
        k=params.k,
        scopes=params.scopes or None,
        role=params.role,
        since=params.since,
        until=params.until,
        count_use=count_use,
    )


def memory_search(service: Service, params: Search) -> Result:
    hits = searched(service, params, MOST_HITS)
    return {"results": [hit_form(hit) for hit in hits], "degraded": list(hits.degraded)}


def memory_get(service: Service, params: One) -> Result:
    return {"turn": turn_form(service.memory.get(params.id, user=params.namespace, session=params.given_session))}


METHODS: tuple[Method[Any], ...] = (
    Method(
        "memory_search",
        Search,
        memory_search,
        "Find turns by meaning and wording, each with the parts of its score.",
        reach=own_reach,
        pace="thinking",
        result=results.Hits,
    ),
    Method(
        "memory_get",
        One,
        memory_get,
        "Read one turn, exactly as it was stored.",
        reach=own_reach,
        pace="brief",
        result=results.OneTurn,
    ),
)
