"""Parameters of calls: read off JSON, refused by name, told as a schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.identity import Json
from libravdb_memory.serve.fields import GREATEST, InvalidParamsError, json_schema, parse, wire_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    doc: str
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    session_id: str
    limit: int = field(default=10, metadata={"help": "how many"})
    share: float | None = None
    force: bool = False
    names: tuple[str, ...] = ()
    mode: Literal["augment", "own"] = "augment"
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])
    exclude: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    inner: Inner | None = None
    several: tuple[Inner, ...] = ()


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["own", " "]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
plausible = st.fixed_dictionaries(
    {"sessionId": st.text(max_size=3) | json_values},
    optional={
        "limit": st.integers(0, 9) | st.floats() | json_values,
        "share": st.floats(allow_nan=False) | st.integers() | json_values,
        "force": st.booleans() | json_values,
        "names": st.lists(st.text(max_size=3)) | json_values,
        "mode": st.sampled_from(["augment", "own", "other"]) | json_values,
        "metadata": json_values,
        "exclude": st.dictionaries(st.text(max_size=2), st.lists(st.text(max_size=2)) | json_values) | json_values,
        "inner": st.fixed_dictionaries({"doc": st.text(max_size=3)}) | json_values,
        "several": st.lists(st.fixed_dictionaries({"doc": st.text(max_size=3)})) | json_values,
        "unknown": json_values,
    },
)


@given(plausible)
def test_whatever_is_accepted_fits_the_schema_and_whatever_is_refused_is_named(raw: dict[str, Json]) -> None:
    schema = json_schema(Params)
    try:
        parse(Params, raw)
    except InvalidParamsError as error:
        assert error.field.split(".")[0].split("[")[0] in {wire_name(name) for name in Params.__slots__}
        assert error.field in str(error)
    else:
        assert fits(schema, without_nulls(raw))


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def fits(schema: Any, value: Any) -> bool:
    """As much of JSON Schema as the schemas here use; an unknown word is an error."""
    assert set(schema) <= {
        *("type", "enum", "properties", "required", "items", "additionalProperties", "pattern"),
        *("minimum", "maximum", "description", "default"),
    }
    kind = schema.get("type")
    checks = [
        kind is None or KINDS[kind](value),
        "enum" not in schema or value in schema["enum"],
        "pattern" not in schema or re.search(schema["pattern"], value) is not None,
        kind not in ("integer", "number") or schema["minimum"] <= value <= schema["maximum"],
    ]
    if not all(checks):
        return False
    if kind == "array":
        return all(fits(schema["items"], item) for item in value)
    if kind == "object":
        own = schema.get("properties", {})
        return all(name in value for name in schema.get("required", ())) and all(
            fits(own.get(name, schema.get("additionalProperties", {})), item) for name, item in value.items()
        )
    return True


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


KINDS = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: is_number(value) and value == int(value),
    "number": is_number,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def test_names_are_camel_case_on_the_wire_and_defaults_fill_the_rest() -> None:
    found = parse(Params, {"sessionId": "s1", "limit": 4.0, "share": 1, "inner": {"doc": "a"}, "names": ["x"]})
    assert found == Params(session_id="s1", limit=4, share=1.0, inner=Inner(doc="a"), names=("x",))
    assert isinstance(found.limit, int) and isinstance(found.share, float)


@pytest.mark.parametrize("given", [{}, {"sessionId": None}, {"sessionId": " \t"}])
def test_what_is_required_and_absent_or_blank_is_told_in_the_words_of_the_reference(given: dict[str, Json]) -> None:
    with pytest.raises(InvalidParamsError) as caught:
        parse(Params, given)
    assert str(caught.value) == "sessionId is required"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"limit": "4"}, "invalid params: limit must be a whole number, not text"),
        ({"limit": 4.5}, "invalid params: limit must be a whole number, not a number"),
        ({"limit": True}, "invalid params: limit must be a whole number, not a truth value"),
        ({"limit": GREATEST + 1}, "invalid params: limit is too great a number"),
        ({"limit": -GREATEST - 1}, "invalid params: limit is too great a number"),
        ({"share": 10**400}, "invalid params: share is too great a number"),
        ({"force": 1}, "invalid params: force must be true or false, not a number"),
        ({"names": "x"}, "invalid params: names must be a list, not text"),
        ({"names": ["x", None]}, "invalid params: names[1] must be text, not null"),
        ({"names": ["a\ud83d"]}, "invalid params: names[0] has half a surrogate pair at character 1"),
        ({"exclude": {"\ud83d": []}}, "invalid params: exclude has half a surrogate pair at character 0"),
        ({"mode": "both"}, "invalid params: mode must be one of augment, own, not 'both'"),
        ({"inner": []}, "invalid params: inner must be an object, not a list"),
        ({"inner": {"size": 1}}, "inner.doc is required"),
        ({"several": [{"doc": "a", "size": "b"}]}, "invalid params: several[0].size must be a whole number, not text"),
        ({"exclude": {"a": [1]}}, "invalid params: exclude.a[0] must be text, not a number"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(given: dict[str, Json], told: str) -> None:
    with pytest.raises(InvalidParamsError) as caught:
        parse(Params, {"sessionId": "s", **given})
    assert str(caught.value) == told


def test_null_counts_as_absent_and_unknown_keys_are_ignored() -> None:
    assert parse(Params, {"sessionId": "s", "limit": None, "colour": "red"}) == Params(session_id="s")


def test_a_schema_tells_help_defaults_and_what_is_required() -> None:
    schema: Any = json_schema(Params)
    assert schema["required"] == ["sessionId"]
    assert schema["properties"]["limit"]["description"] == "how many" and schema["properties"]["limit"]["default"] == 10
