"""Values to JSON and back, by their type hints.

Laws: what was written by a hint is read by the same hint as an equal value. Whatever else is read is refused with a
`WireError` that names the place, or by the value's own constructor. Of a union of several, the name of the one that
was written goes along. Sequences are read as tuples.
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from libravdb_memory.identity import Json

Hint: TypeAlias = Any
AS_THEY_ARE: Mapping[str, Any] = {"Json": object, "Progress": object}
"""Aliases that are written as texts; neither is looked into."""


class WireError(ValueError):
    """What came is not what the hint says."""


class _Form(Protocol):
    """How one kind of value is written and read; `place` leads to it, for errors. `fits` tells it from others."""

    @property
    def name(self) -> str: ...

    def fits(self, value: object) -> bool: ...

    def write(self, value: Any) -> Json: ...

    def read(self, form: Any, place: str) -> Any: ...


def to_wire(hint: Hint, value: object) -> Json:
    return form_of(hint).write(value)


def from_wire(hint: Hint, form: Json, place: str = "value") -> Any:
    return form_of(hint).read(form, place)


@cache
def form_of(hint: Hint) -> _Form:
    """How values of this hint are written; a TypeError where there is no way."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    origin: Any = get_origin(hint)
    arguments: tuple[Any, ...] = get_args(hint)
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin is Literal:
        return _Choice(arguments)
    if origin is not None:
        return _container(origin, arguments)
    if isinstance(hint, type):
        return _of_class(cast("type[Any]", hint))
    raise TypeError(f"{hint!r} has no form on the wire")


def _refuse(place: str, wanted: str, found: object) -> WireError:
    return WireError(f"{place} must be {wanted}, not {type(found).__name__}")


# ── scalars ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Whatever:
    """Any JSON, as it is."""

    name: str = "any"

    def fits(self, value: object) -> bool:
        return True

    def write(self, value: Any) -> Json:
        return cast(Json, value)

    def read(self, form: Any, place: str) -> Any:
        return form


@dataclass(frozen=True, slots=True)
class _Plain:
    """What JSON knows too."""

    kinds: tuple[type, ...]
    wanted: str

    @property
    def name(self) -> str:
        return self.kinds[0].__name__

    def fits(self, value: object) -> bool:
        return isinstance(value, self.kinds) and (bool in self.kinds or not isinstance(value, bool))

    def write(self, value: Any) -> Json:
        return cast(Json, value)

    def read(self, form: Any, place: str) -> Any:
        if not self.fits(form):
            raise _refuse(place, self.wanted, form)
        return form


@dataclass(frozen=True, slots=True)
class _Number:
    """JSON has no word for what is not finite."""

    name: str = "float"

    def fits(self, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    def write(self, value: Any) -> Json:
        return cast(Json, value if math.isfinite(value) else repr(float(value)))

    def read(self, form: Any, place: str) -> Any:
        if form in ("inf", "-inf", "nan"):
            return float(form)
        if not self.fits(form):
            raise _refuse(place, "a number", form)
        return form


@dataclass(frozen=True, slots=True)
class _Spelled:
    """A kind of its own that has one spelling."""

    kind: type[Any]
    spell: Callable[[Any], str]
    understand: Callable[[str], object]

    @property
    def name(self) -> str:
        return self.kind.__name__

    def fits(self, value: object) -> bool:
        return isinstance(value, self.kind)

    def write(self, value: Any) -> Json:
        return self.spell(value)

    def read(self, form: Any, place: str) -> Any:
        try:
            return self.understand(form)
        except (TypeError, ValueError):
            raise _refuse(place, f"a {self.name}", form) from None


def _path(form: str) -> Path:
    if "\0" in form:
        raise ValueError(form)
    return Path(form)


_SCALARS: Mapping[Hint, _Form] = {
    str: _Plain((str,), "text"),
    int: _Plain((int,), "a whole number"),
    bool: _Plain((bool,), "true or false"),
    float: _Number(),
    type(None): _Plain((type(None),), "null"),
    datetime: _Spelled(datetime, datetime.isoformat, datetime.fromisoformat),
    Path: _Spelled(Path, str, _path),
    object: _Whatever(),
    Any: _Whatever(),
}


@dataclass(frozen=True, slots=True)
class _Choice:
    choices: tuple[Any, ...]
    name: str = "literal"

    def fits(self, value: object) -> bool:
        return not isinstance(value, bool) and value in self.choices

    def write(self, value: Any) -> Json:
        return cast(Json, value)

    def read(self, form: Any, place: str) -> Any:
        if not self.fits(form):
            raise WireError(f"{place} must be one of {', '.join(map(str, self.choices))}")
        return form


# ── unions ───────────────────────────────────────────────────────────────────────────────────────────────────────

_JSON_SCALARS = (str, int, bool)


def _union(members: tuple[Hint, ...]) -> _Form:
    several = tuple(member for member in members if member is not type(None))
    forms = tuple(form_of(member) for member in several)
    plain = all(member in _JSON_SCALARS for member in several)
    inner = forms[0] if len(forms) == 1 else _Plain(several, "one value") if plain else _Tagged(forms)
    return _Optional(inner) if len(several) < len(members) else inner


@dataclass(frozen=True, slots=True)
class _Optional:
    inner: _Form
    name: str = "optional"

    def fits(self, value: object) -> bool:
        return value is None or self.inner.fits(value)

    def write(self, value: Any) -> Json:
        return None if value is None else self.inner.write(value)

    def read(self, form: Any, place: str) -> Any:
        return None if form is None else self.inner.read(form, place)


@dataclass(frozen=True, slots=True)
class _Tagged:
    several: tuple[_Form, ...]
    name: str = "union"

    def __post_init__(self) -> None:
        if len({form.name for form in self.several}) < len(self.several):
            raise TypeError(f"several of a union have one name: {self._names}")

    @property
    def _names(self) -> str:
        return ", ".join(form.name for form in self.several)

    def fits(self, value: object) -> bool:
        return any(form.fits(value) for form in self.several)

    def write(self, value: Any) -> Json:
        found = next((form for form in self.several if form.fits(value)), None)
        if found is None:
            raise _refuse("a value", f"one of {self._names}", value)
        return {found.name: found.write(value)}

    def read(self, form: Any, place: str) -> Any:
        items = list(_object(form, place).items())
        found = next((known for known in self.several if items and known.name == items[0][0]), None)
        if found is None or len(items) != 1:
            raise WireError(f"{place} must be one of {self._names}")
        return found.read(items[0][1], place)


# ── several ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _container(origin: type[Any], arguments: tuple[Hint, ...]) -> _Form:
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _Fixed(arguments)
    if issubclass(origin, Mapping):
        key: Any = get_origin(arguments[0])
        return _Object(*arguments) if arguments[0] is str or key is Literal else _Pairs(_Fixed(arguments))
    return _Several(arguments[0], origin if origin in (list, frozenset) else tuple)


@dataclass(frozen=True, slots=True)
class _Several:
    hint: Hint
    made: type[Any]

    @property
    def name(self) -> str:
        return self.made.__name__

    def fits(self, value: object) -> bool:
        return isinstance(value, Sequence | frozenset) and not isinstance(value, str)

    def write(self, value: Any) -> Json:
        written = [to_wire(self.hint, item) for item in value]
        return sorted(written, key=repr) if self.made is frozenset else written

    def read(self, form: Any, place: str) -> Any:
        items = _list(form, place)
        return self.made(from_wire(self.hint, item, f"{place}[{at}]") for at, item in enumerate(items))


@dataclass(frozen=True, slots=True)
class _Fixed:
    hints: tuple[Hint, ...]
    name: str = "tuple"

    def fits(self, value: object) -> bool:
        return isinstance(value, tuple)

    def write(self, value: Any) -> Json:
        return [to_wire(hint, item) for hint, item in zip(self.hints, value, strict=True)]

    def read(self, form: Any, place: str) -> Any:
        items = _list(form, place)
        if len(items) != len(self.hints):
            raise WireError(f"{place} must have {len(self.hints)} items, not {len(items)}")
        return tuple(from_wire(hint, item, place) for hint, item in zip(self.hints, items, strict=True))


@dataclass(frozen=True, slots=True)
class _Object:
    key: Hint
    value: Hint
    name: str = "mapping"

    def fits(self, value: object) -> bool:
        return isinstance(value, Mapping)

    def write(self, value: Any) -> Json:
        return {name: to_wire(self.value, item) for name, item in value.items()}

    def read(self, form: Any, place: str) -> Any:
        items = _object(form, place).items()
        return {
            from_wire(self.key, name, place): from_wire(self.value, item, f"{place}.{name}") for name, item in items
        }


@dataclass(frozen=True, slots=True)
class _Pairs:
    """A mapping whose keys are no texts."""

    item: _Form
    name: str = "mapping"

    def fits(self, value: object) -> bool:
        return isinstance(value, Mapping)

    def write(self, value: Any) -> Json:
        return [self.item.write(pair) for pair in value.items()]

    def read(self, form: Any, place: str) -> Any:
        return dict(self.item.read(pair, place) for pair in _list(form, place))


def _list(form: Any, place: str) -> Sequence[Any]:
    if not isinstance(form, list):
        raise _refuse(place, "a list", form)
    return cast("Sequence[Any]", form)


def _object(form: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(form, Mapping):
        raise _refuse(place, "an object", form)
    return cast("Mapping[str, Any]", form)


# ── classes ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _of_class(kind: type[Any]) -> _Form:
    if issubclass(kind, Enum):
        return _Spelled(kind, lambda value: value.value, kind)
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        return _Class(kind)
    raise TypeError(f"{kind.__name__} has no form on the wire")


@dataclass(frozen=True, slots=True)
class _Class:
    """A dataclass or a named tuple. Its fields are looked up when first needed: it may hold its own kind."""

    kind: Any

    @property
    def name(self) -> str:
        return str(self.kind.__name__)

    def fits(self, value: object) -> bool:
        return isinstance(value, self.kind)

    def write(self, value: Any) -> Json:
        return {name: to_wire(hint, getattr(value, name)) for name, hint in _fields(self.kind).items()}

    def read(self, form: Any, place: str) -> Any:
        given, known = _object(form, place), _fields(self.kind)
        if unknown := given.keys() - known.keys():
            raise WireError(f"{place}.{min(unknown)} is not known")
        values = {name: from_wire(known[name], item, f"{place}.{name}") for name, item in given.items()}
        try:
            return self.kind(**values)
        except TypeError:
            raise WireError(f"{place} lacks something of a {self.name}") from None


@cache
def _fields(kind: Any) -> Mapping[str, Hint]:
    hints = get_type_hints(kind, localns=dict(AS_THEY_ARE))
    names: Sequence[str] = getattr(kind, "_fields", None) or [item.name for item in dataclasses.fields(kind)]
    return {name: hints[name] for name in names}
