"""What goes into a tool and what comes out of it, as JSON, and the schemas of both.

Laws: arguments that a tool does not have are refused by name, not passed over: one that names a user must not look as
if it had been heard. What comes out fits its schema; what is absent is left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.identity import Json
from libravdb_memory.serve.fields import json_schema, parse, wire_name

T = TypeVar("T")
_OF_INPUT = ("pattern", "minimum", "maximum")


def arguments(of: type[T], given: Mapping[str, Json]) -> T:
    names = [wire_name(item.name) for item in dataclasses.fields(cast(Any, of))]
    if unknown := sorted(set(given) - set(names)):
        raise InvalidInputError(unknown[0][:100], f"is no argument of this tool; it takes {', '.join(names)}")
    return parse(of, given)


def input_schema(of: type[Any]) -> dict[str, Any]:
    schema = cast(dict[str, Any], {**json_schema(of), "additionalProperties": False})
    for item in dataclasses.fields(of):
        bounds = {"minimum": item.metadata.get("least"), "maximum": item.metadata.get("most")}
        schema["properties"][wire_name(item.name)] |= {
            name: value for name, value in bounds.items() if value is not None
        }
    return schema


def output_schema(of: type[Any]) -> dict[str, Any]:
    """The same without what only arguments must keep to."""
    return cast(dict[str, Any], _bare(json_schema(of)))


def _bare(schema: Any) -> Any:
    if isinstance(schema, dict):
        members = cast(dict[str, Any], schema).items()
        return {name: _bare(inner) for name, inner in members if name not in _OF_INPUT}
    return schema


def as_json(value: object) -> Any:
    """A dataclass of the answers as an object."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        members = ((item.name, getattr(value, item.name)) for item in dataclasses.fields(value))
        return {wire_name(name): as_json(inner) for name, inner in members if inner is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_json(inner) for inner in cast(Sequence[object], value)]
    return value
