"""search_text, search_text_collections, query_raw_session, list_collection, list_by_meta."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from libravdb_memory.identity import Json
from libravdb_memory.serve.finding import Scored, search, search_all
from libravdb_memory.serve.methods import NOTHING, Method, Result
from libravdb_memory.serve.results.reference import Entries
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.showing import Item
from libravdb_memory.serve.views import items_of, reach_of, view_of

_EXCLUDED = {"help": "ids that are not wanted"}


@dataclass(frozen=True, slots=True)
class Search:
    collection: str
    text: str = field(default="", metadata={"help": "nothing is found by a blank text"})
    k: int = field(default=0, metadata={"help": "the best so many; 0: all"})
    exclude_ids: tuple[str, ...] = field(default=(), metadata=_EXCLUDED)


def search_text(service: Service, params: Search) -> Result:
    return _found(search(service, params.collection, params.text, params.k, params.exclude_ids))


@dataclass(frozen=True, slots=True)
class SearchAll:
    collections: tuple[str, ...] = ()
    text: str = field(default="", metadata={"help": "nothing is found by a blank text"})
    k: int = field(default=0, metadata={"help": "the best so many of all collections together; 0: none"})
    exclude_by_collection: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]], metadata=_EXCLUDED
    )


def search_text_collections(service: Service, params: SearchAll) -> Result:
    if params.k <= 0:
        return {"results": []}
    excluded = {name.strip(): ids for name, ids in params.exclude_by_collection.items()}
    return _found(search_all(service, params.collections, params.text, params.k, excluded))


@dataclass(frozen=True, slots=True)
class RawSearch:
    session_id: str
    text: str = field(default="", metadata={"help": "nothing is found by a blank text"})
    k: int = field(default=0, metadata={"help": "the best so many; 0: all"})
    exclude_ids: tuple[str, ...] = field(default=(), metadata=_EXCLUDED)

    @property
    def collection(self) -> str:
        return f"session_raw:{self.session_id.strip()}"


def query_raw_session(service: Service, params: RawSearch) -> Result:
    return _found(search(service, params.collection, params.text, params.k, params.exclude_ids))


@dataclass(frozen=True, slots=True)
class OfCollection:
    collection: str


def list_collection(service: Service, params: OfCollection) -> Result:
    return _listed(items_of(service.store, view_of(service.store, params.collection, service.within)))


@dataclass(frozen=True, slots=True)
class ByMeta:
    collection: str
    key: str = field(metadata={"help": "of the metadata"})
    value: str = field(default="", metadata={"help": "as text, whatever the record has there"})


def list_by_meta(service: Service, params: ByMeta) -> Result:
    items = items_of(service.store, view_of(service.store, params.collection, service.within))
    return _listed(item for item in items if _as_text(item.facts.get(params.key)) == params.value)


def _as_text(value: Json) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else None


def _found(found: Iterable[Scored]) -> Result:
    return {"results": [scored.item.form(scored.score) for scored in found]}


def _listed(items: Iterable[Item]) -> Result:
    return {"results": [item.form() for item in items]}


def _reach(service: Service, params: Search | RawSearch | OfCollection | ByMeta) -> frozenset[str]:
    return reach_of(service.store, params.collection, service.within)


def _reach_all(service: Service, params: SearchAll) -> frozenset[str]:
    return NOTHING.union(*(reach_of(service.store, name, service.within) for name in params.collections))


METHODS: tuple[Method[Any], ...] = (
    Method(
        "search_text",
        Search,
        search_text,
        "The nearest records of a collection.",
        reach=_reach,
        pace="thinking",
        result=Entries,
    ),
    Method(
        "search_text_collections",
        SearchAll,
        search_text_collections,
        "The nearest records of several collections together.",
        reach=_reach_all,
        pace="thinking",
        result=Entries,
    ),
    Method(
        "query_raw_session",
        RawSearch,
        query_raw_session,
        "The nearest turns of a session.",
        reach=_reach,
        pace="thinking",
        result=Entries,
    ),
    Method(
        "list_collection", OfCollection, list_collection, "Every record of a collection.", reach=_reach, result=Entries
    ),
    Method(
        "list_by_meta",
        ByMeta,
        list_by_meta,
        "The records of a collection with a value in their metadata.",
        reach=_reach,
        result=Entries,
    ),
)
