"""What a method is, and how a call reaches it.

Law: name, parameters, effect, order and reach of a method stand in one place; the daemon, its documentation, its
schemas and the checks of access are all read off the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from libravdb_memory.identity import Json
from libravdb_memory.serve.service import Service

P = TypeVar("P")
Result: TypeAlias = dict[str, Json]
Pace: TypeAlias = Literal["instant", "brief", "quick", "thinking", "slow"]

EVERYTHING = frozenset({"*"})
"""The reach of a method that is about the whole store."""
NOTHING = frozenset[str]()
"""The reach of a method that touches nobody's memory."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No parameters."""


@dataclass(frozen=True, slots=True)
class Method(Generic[P]):
    """`run` is called in a worker thread; one that is `instant` waits for nothing and is called at once, and one that
    is `brief` too, as long as such calls keep being short. Those that ask a model are `thinking`, those that
    read or write much are `slow`: they have threads of their own, so that they keep nobody else waiting. Calls
    with the same `order` run in the order in which they came. `reach` are the namespaces that a call may touch.
    One that is `owner_only` is for whoever the daemon belongs to: full reach is not enough. `result` is a TypedDict of
    what is told."""

    name: str
    params: type[P]
    run: Callable[[Service, P], Result]
    summary: str
    writes: bool = False
    order: Callable[[P], str | None] = lambda _: None
    reach: Callable[[Service, P], frozenset[str]] = lambda _, __: EVERYTHING
    pace: Pace = "quick"
    owner_only: bool = False
    result: type[Any] = field(kw_only=True)


Table: TypeAlias = Mapping[str, Method[Any]]


def table_of(methods: Iterable[Method[Any]]) -> Table:
    table: dict[str, Method[Any]] = {}
    for method in methods:
        if method.name in table:
            raise ValueError(f"two methods are named {method.name}")
        table[method.name] = method
    return table
