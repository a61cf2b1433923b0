"""export_memory, flush_namespace, flush: all of somebody's memory, or all there is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.copies import collections_of
from libravdb_memory.identity import Json
from libravdb_memory.namespaces import given_user, namespace_of
from libravdb_memory.serve.erasing import erase_namespace
from libravdb_memory.serve.fields import REQUIRED, InvalidParamsError
from libravdb_memory.serve.methods import EVERYTHING, NOTHING, Method, Nothing, Result
from libravdb_memory.serve.results.conversation import Done
from libravdb_memory.serve.results.reference import Export
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.views import items_of, view_of
from libravdb_memory.store.protocol import Store


@dataclass(frozen=True, slots=True)
class Owner:
    user_id: str = field(default="", metadata={"help": "whose memory"})
    namespace: str = field(default="", metadata={"help": "the same, and taken first where both are given"})

    @property
    def named(self) -> str | None:
        return given_user(self.namespace) or given_user(self.user_id)


def _reach(_: Service, params: Owner) -> frozenset[str]:
    return EVERYTHING if params.named is None else frozenset({params.named})


def export_memory(service: Service, params: Owner) -> Result:
    """What is durable: `user:<ns>`, and the collections that a host keeps inside it."""
    store = service.store
    names = dict.fromkeys(_everybodys(store) if params.named is None else _durable(store, params.named))
    records: list[Json] = [
        {"collection": item.collection, "id": item.id, "text": item.text, "metadata": item.facts}
        for name in names
        for item in items_of(store, view_of(store, name, service.within))
    ]
    return {"records": records}


def _durable(store: Store, namespace: str) -> Iterator[str]:
    yield f"user:{namespace}"
    yield from (name for name in collections_of(store, namespace) if name.startswith(f"user:{namespace}:"))


def _everybodys(store: Store) -> list[str]:
    names = [info.name for info in store.collections()]
    kept = {name for name in names if name.startswith("user:")}
    return sorted(kept | {f"user:{found}" for name in names if (found := namespace_of(name)) is not None})


def flush_namespace(service: Service, params: Owner) -> Result:
    if (named := params.named) is None:
        raise InvalidParamsError("namespace or userId", REQUIRED)
    erase_namespace(service, named)
    return {"ok": True}


def flush(service: Service, _: Nothing) -> Result:
    """Whatever was acknowledged is on disk already; only counts of use may wait to be written."""
    service.memory.wait(0.0)
    return {"ok": True}


METHODS: tuple[Method[Any], ...] = (
    Method(
        "export_memory",
        Owner,
        export_memory,
        "All durable memory of a user, or of everybody.",
        reach=_reach,
        result=Export,
    ),
    Method(
        "flush_namespace",
        Owner,
        flush_namespace,
        "Erase everything of exactly one user: durable memory, turns, rules, dreams and sessions.",
        writes=True,
        reach=_reach,
        pace="slow",
        result=Done,
    ),
    Method(
        "flush",
        Nothing,
        flush,
        "Return when everything acknowledged is on disk.",
        reach=lambda _, __: NOTHING,
        result=Done,
    ),
)
