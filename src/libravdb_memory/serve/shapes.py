"""What a result looks like: a JSON Schema from a TypedDict.

Law: whatever a method tells that names such a type fits its schema, with nothing beside it; tests hold them together.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from libravdb_memory.identity import Json

_SCALARS: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


class Shapes:
    """Collects the schemas of named types; `place` tells where each is found by the others."""

    def __init__(self, place: Callable[[str], str] = "#/components/schemas/{}".format) -> None:
        self._place = place
        self._kinds: dict[str, Any] = {}
        self.named: dict[str, Json] = {}

    def of(self, hint: Any) -> dict[str, Json]:
        if is_typeddict(hint):
            return self._reference(hint)
        origin = get_origin(hint)
        if origin in (Union, types.UnionType):
            return self._any_of(get_args(hint))
        if origin is Literal:
            return {"enum": list(get_args(hint))}
        if origin is list:
            return {"type": "array", "items": self.of(get_args(hint)[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(get_args(hint)[1])}
        return {"type": _SCALARS[hint]} if hint in _SCALARS else {}

    def _any_of(self, hints: tuple[Any, ...]) -> dict[str, Json]:
        if all(hint in _SCALARS for hint in hints):
            return {"type": [_SCALARS[hint] for hint in hints]}
        return {"anyOf": [self.of(hint) for hint in hints]}

    def _reference(self, kind: Any) -> dict[str, Json]:
        name = str(kind.__name__)
        if name not in self._kinds:
            self._kinds[name] = kind
            self.named[name] = self._object(kind)
        elif self._kinds[name] is not kind:
            raise ValueError(f"two types are named {name}")
        return {"$ref": self._place(name)}

    def _object(self, kind: Any) -> dict[str, Json]:
        hints = get_type_hints(kind, localns={"Json": object}, include_extras=True)
        told: dict[str, Json] = {"type": "object", "properties": {name: self.of(_bare(hints[name])) for name in hints}}
        # read off the hints: where annotations are texts, Python takes every key of a class for required
        if required := sorted(name for name in hints if get_origin(hints[name]) is not NotRequired):
            told["required"] = list[Json](required)
        if kind.__doc__:
            told["description"] = kind.__doc__
        return told


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is NotRequired else hint
