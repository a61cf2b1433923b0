"""What goes over the bridge comes back as it was; what does not fit is refused."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.errors import LibraVDBError
from libravdb_memory.serve.bridge.codec import WireError, _fields, form_of, from_wire, to_wire  # pyright: ignore
from libravdb_memory.serve.bridge.remote import CALLS

texts = st.text(st.characters(codec="utf-8"), max_size=8)
leaves = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | texts
finite = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
any_json: st.SearchStrategy[Any] = st.recursive(
    finite, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2), max_leaves=4
)
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(-(2**53), 2**53),
    bool: st.booleans(),
    float: st.floats(allow_nan=False),
    type(None): st.none(),
    object: any_json,
    Any: any_json,
    Path: texts.filter(lambda text: "\0" not in text).map(Path),
    datetime: st.datetimes(timezones=st.just(UTC)),
    AssemblySettings: st.builds(AssemblySettings, tail_turns=st.integers(0, 9)),
}


def values(hint: Any, depth: int = 2) -> st.SearchStrategy[Any]:
    """Values of a hint, nested ones of the same kind down to a depth."""
    if hint in SCALARS:
        return SCALARS[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return st.one_of([values(each, depth) for each in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is not None:
        return several(origin, arguments, depth)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    return st.deferred(lambda: made(hint, depth))


def several(origin: Any, arguments: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    if origin is tuple and arguments[-1] is not Ellipsis:
        return st.tuples(*(values(each, depth) for each in arguments))
    if issubclass(origin, Mapping):
        inner = [values(each, depth - 1) for each in arguments] if depth > 0 else []
        return st.dictionaries(*inner, max_size=2) if inner else st.just({})
    items = st.lists(values(arguments[0], depth - 1), max_size=2) if depth > 0 else st.just([])
    return items if origin is list else items.map(frozenset if origin is frozenset else tuple)


def made(kind: Any, depth: int) -> st.SearchStrategy[Any]:
    return st.builds(kind, **{name: values(hint, depth) for name, hint in _fields(kind).items()})


RESULTS = {f"{name} returns": call.hints["return"] for name, call in CALLS.items()}
ARGUMENTS = {
    f"{name} takes {argument}": call.hints[argument]
    for name, call in CALLS.items()
    for argument in call.signature.parameters
    if argument not in ("self", "progress")
}


def every_field(value: Any) -> Any:
    """All of a value, whatever its own comparison leaves out; a set in one order."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: every_field(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: every_field(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [every_field(each) for each in value]
    return sorted(map(repr, value)) if isinstance(value, frozenset | set) else repr(value)


@pytest.mark.parametrize("name", [*RESULTS, *ARGUMENTS])
def test_what_was_written_is_read_as_an_equal_value(name: str) -> None:
    hint = (RESULTS | ARGUMENTS)[name]

    @settings(max_examples=25 if name in RESULTS else 8)
    @given(values(hint))
    def law(value: Any) -> None:
        line = json.dumps(to_wire(hint, value), allow_nan=False)
        found = from_wire(hint, json.loads(line))
        assert found == value
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            assert every_field(found) == every_field(value), "fields that are not compared come back too"

    law()


@pytest.mark.parametrize("name", list(RESULTS | ARGUMENTS))
def test_whatever_else_is_read_is_refused_by_its_place_or_by_the_value_itself(name: str) -> None:
    hint = (RESULTS | ARGUMENTS)[name]

    @settings(max_examples=15)
    @given(any_json)
    def law(form: Any) -> None:
        try:
            from_wire(hint, form, "place")
        except WireError as error:
            assert str(error).startswith("place")
        except LibraVDBError:
            pass

    law()


def test_a_value_that_is_not_finite_is_a_number_again() -> None:
    found = from_wire(
        tuple[float, ...], json.loads(json.dumps(to_wire(tuple[float, ...], (float("inf"), -1e400, 0.5))))
    )
    assert found == (float("inf"), float("-inf"), 0.5)
    assert from_wire(float, to_wire(float, float("nan"))) != 0


def test_of_a_union_the_one_that_was_written_comes_back() -> None:
    hint = int | datetime | None
    moment = datetime(2026, 3, 2, 9, 5, tzinfo=UTC)
    for value in (7, moment, None):
        found = from_wire(hint, to_wire(hint, value))
        assert found == value and type(found) is type(value)
    with pytest.raises(WireError, match="one of"):
        to_wire(hint, "text")
    for form in ({"int": 1, "datetime": "x"}, {}, {"str": "x"}, 7):
        with pytest.raises(WireError):
            from_wire(hint, form)


@pytest.mark.parametrize("hint", [bytes, tuple[bytes, ...], "text", types.SimpleNamespace])
def test_a_kind_without_a_form_is_no_guess(hint: Any) -> None:
    with pytest.raises(TypeError):
        to_wire(hint, (b"",))


def test_a_union_whose_members_have_one_name_is_refused() -> None:
    @dataclasses.dataclass
    class Turn:
        id: int

    from libravdb_memory.model import Turn as Other

    with pytest.raises(TypeError, match="one name"):
        form_of(Turn | Other)
