"""library, library_slow: calls of the library itself, for the owner's own commands.

Laws: only what `remote` lists can be called, and by the owner alone: arguments may be paths. Arguments are read by the
hints of the method they are for; what does not fit is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.identity import Json
from libravdb_memory.memory import Memory
from libravdb_memory.serve.bridge.codec import WireError, from_wire, to_wire
from libravdb_memory.serve.bridge.keeping import Keeping
from libravdb_memory.serve.bridge.remote import CALLS, LIBRARY, LIBRARY_SLOW, LibraryCall
from libravdb_memory.serve.bridge.tending import Tending
from libravdb_memory.serve.methods import Method, Result
from libravdb_memory.serve.service import Service


@dataclass(frozen=True, slots=True)
class Call:
    call: str = field(metadata={"help": "a method of the library, as in Memory.search"})
    arguments: Mapping[str, Json] = field(
        default_factory=dict[str, Json], metadata={"help": "its arguments by name, as its own version writes them"}
    )


class LibraryValue(TypedDict):
    """What a call of the library gave, in a form of its own version."""

    value: Json


_ON: Mapping[type[Any], Callable[[Service], Any]] = {
    Memory: lambda service: service.memory,
    Keeping: lambda service: Keeping(service.store),
    Tending: lambda service: Tending(service.memory, service.config, service.sources),
}


def library(service: Service, params: Call) -> Result:
    known = CALLS.get(params.call)
    if known is None:
        raise InvalidInputError("call", f"{params.call!r} is no call of this library")
    arguments = _read(known, params.arguments)
    value = getattr(_ON[known.of](service), known.function.__name__)(**arguments)
    return {"value": to_wire(known.hints["return"], value)}


def _read(known: LibraryCall, given: Mapping[str, Json]) -> dict[str, Any]:
    own = {name: known.hints[name] for name in known.signature.parameters if name not in ("self", "progress")}
    try:
        if unknown := given.keys() - own.keys():
            raise WireError(f"{min(unknown)} is no argument of {known.name}")
        arguments = {name: from_wire(own[name], form, name) for name, form in given.items()}
    except WireError as error:
        raise InvalidInputError("arguments", str(error)) from error
    missing = [
        name for name in own if name not in given and known.signature.parameters[name].default is known.signature.empty
    ]
    if missing:
        raise InvalidInputError("arguments", f"{missing[0]} is missing")
    return arguments


METHODS: tuple[Method[Any], ...] = (
    Method(
        LIBRARY,
        Call,
        library,
        "Call the library itself, as the owner's own commands do. Its forms may change with every version.",
        writes=True,
        owner_only=True,
        pace="thinking",
        result=LibraryValue,
    ),
    Method(
        LIBRARY_SLOW,
        Call,
        library,
        "The same for what takes long.",
        writes=True,
        owner_only=True,
        pace="slow",
        result=LibraryValue,
    ),
)
