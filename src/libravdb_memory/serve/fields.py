"""Parameters of a call: from JSON to frozen values, and their schema, both read off one dataclass.

Laws: `session_id` is `sessionId` on the wire. Null counts as absent and an unknown key is ignored; a value of another
type is refused by name, and so is a required one that is absent or blank. Whatever is accepted fits the schema, once
nulls are left out.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.identity import Json

T = TypeVar("T")
REQUIRED = "is required"
GREATEST = 2**53 - 1
"""The greatest whole number that every client can write and read exactly."""


class InvalidParamsError(LibraVDBError):
    """`field` is the name on the wire. One that is missing is told as the reference tells it."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}" if reason == REQUIRED else f"invalid params: {field} {reason}")
        self.field = field
        self.reason = reason


def parse(of: type[T], raw: Mapping[str, Json], place: str = "") -> T:
    """An instance of that dataclass; `place` is where it stands in a greater one."""
    values: dict[str, Any] = {}
    for item in _items(cast(Hashable, of)):
        given = raw.get(item.wire)
        name = f"{place}{item.wire}"
        if given is None or (item.required and isinstance(given, str) and not given.strip()):
            if item.required:
                raise InvalidParamsError(name, REQUIRED)
            continue
        values[item.name] = _value(item.hint, given, name)
    return of(**values)


def json_schema(of: type[Any]) -> dict[str, Json]:
    """A JSON Schema of what `parse` accepts, as an object."""
    properties: dict[str, Json] = {}
    for item in _items(cast(Hashable, of)):
        shape = _schema(item.hint)
        if item.help:
            shape["description"] = item.help
        if item.required and shape.get("type") == "string":
            shape["pattern"] = r"\S"
        if not item.required and isinstance(item.default, str | int | float | bool) and item.default != "":
            shape["default"] = item.default
        properties[item.wire] = shape
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    if required := [item.wire for item in _items(cast(Hashable, of)) if item.required]:
        schema["required"] = cast(list[Json], required)
    return schema


@dataclasses.dataclass(frozen=True, slots=True)
class _Item:
    name: str
    wire: str
    hint: Any
    required: bool
    default: object
    help: str


@cache
def _items(of: Hashable) -> tuple[_Item, ...]:
    kind = cast(type[Any], of)
    hints = get_type_hints(kind, localns={"Json": object})
    return tuple(
        _Item(
            name=item.name,
            wire=item.metadata.get("wire") or wire_name(item.name),
            hint=_without_none(hints[item.name]),
            required=item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING,
            default=item.default,
            help=str(item.metadata.get("help", "")),
        )
        for item in dataclasses.fields(kind)
    )


def wire_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _value(hint: Any, given: Json, name: str) -> object:
    if dataclasses.is_dataclass(hint):
        return parse(cast(type[object], hint), _object(given, name), f"{name}.")
    origin = get_origin(hint)
    if origin is tuple:
        return _several(get_args(hint)[0], given, name)
    if origin is Literal:
        return _choice(get_args(hint), given, name)
    if origin is not None and issubclass(origin, Mapping):
        inner = get_args(hint)[1]
        return {
            _speakable(key, name): _value(inner, value, f"{name}.{key}") for key, value in _object(given, name).items()
        }
    if hint in _SCALARS:
        return _scalar(hint, given, name)
    return given  # any JSON


def _several(hint: Any, given: Json, name: str) -> tuple[object, ...]:
    if not isinstance(given, list):
        raise InvalidParamsError(name, f"must be a list, not {_kind(given)}")
    return tuple(_value(hint, item, f"{name}[{index}]") for index, item in enumerate(given))


def _choice(choices: Sequence[object], given: Json, name: str) -> object:
    if given not in choices or isinstance(given, bool):
        raise InvalidParamsError(name, f"must be one of {', '.join(map(str, choices))}, not {given!r}")
    return given


def _object(given: Json, name: str) -> Mapping[str, Json]:
    if not isinstance(given, Mapping):
        raise InvalidParamsError(name, f"must be an object, not {_kind(given)}")
    return given


def _scalar(hint: type, given: Json, name: str) -> object:
    if hint is bool or isinstance(given, bool):
        good: object = given if hint is bool and isinstance(given, bool) else None
    elif isinstance(given, int | float):
        good = _number(hint, given, name)
    else:
        good = _speakable(given, name) if hint is str and isinstance(given, str) else None
    if good is None:
        raise InvalidParamsError(name, f"must be {_SCALARS[hint]}, not {_kind(given)}")
    return good


def _speakable(text: str, name: str) -> str:
    """Half of a surrogate pair can be written in JSON, and neither stored nor searched."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidParamsError(name, f"has half a surrogate pair at character {error.start}") from None
    return text


def _number(hint: type, given: int | float, name: str) -> int | float | None:
    """Clients that know one kind of number send 4.0."""
    if hint not in (int, float) or (hint is int and isinstance(given, float) and not given.is_integer()):
        return None
    if not -GREATEST <= given <= GREATEST:
        raise InvalidParamsError(name, "is too great a number")
    return int(given) if hint is int else float(given)


def _kind(given: Json) -> str:
    return _KINDS.get(type(given).__name__, "null")


_KINDS = {
    "str": "text",
    "bool": "a truth value",
    "int": "a number",
    "float": "a number",
    "list": "a list",
    "dict": "an object",
}
_SCALARS: Mapping[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


# ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────

_TYPES: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _schema(hint: Any) -> dict[str, Json]:
    if dataclasses.is_dataclass(hint):
        return json_schema(cast(type[Any], hint))
    origin = get_origin(hint)
    if origin is tuple:
        return {"type": "array", "items": _schema(get_args(hint)[0])}
    if origin is Literal:
        return {"enum": list(get_args(hint))}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(get_args(hint)[1])}
    if hint not in _TYPES:
        return {}
    bounds: dict[str, Json] = {"minimum": -GREATEST, "maximum": GREATEST} if hint in (int, float) else {}
    return {"type": _TYPES[hint], **bounds}


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        kept = [argument for argument in get_args(hint) if argument is not type(None)]
        return kept[0] if len(kept) == 1 else object
    return hint
