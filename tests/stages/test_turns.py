"""Turns are taken exactly as given, or refused by the name of the field."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.identity import canonical_json, content_hash
from libravdb_memory.ingest.turns import (
    MAX_METADATA_DEPTH,
    MAX_NAME_CHARS,
    MAX_TEXT_BYTES,
    checked_turn,
    draft_of,
    milliseconds,
    turn_of,
)
from libravdb_memory.model import Record, Turn

texts = st.text(st.characters(exclude_categories=["Cs"]))
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60).filter(str.strip)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
turns = st.builds(
    lambda text, user, session, role, ts, turn_id, speaker, metadata: checked_turn(
        text, user=user, session=session, role=role, ts=ts, turn_id=turn_id, speaker=speaker, metadata=metadata
    ),
    texts,
    names,
    names,
    names,
    st.integers(0, 10**13),
    names,
    st.none() | names,
    st.dictionaries(texts, json_values, max_size=4),
)


def a_turn(**changes: Any) -> Turn:
    values: dict[str, Any] = {
        "text": "hello",
        "user": "ada",
        "session": "s1",
        "role": "user",
        "ts": 0,
        "turn_id": "t1",
        "speaker": None,
        "metadata": None,
    }
    values.update(changes)
    return checked_turn(values.pop("text"), **values)


@given(turns)
def test_a_turn_survives_the_way_to_a_record_and_back(turn: Turn) -> None:
    draft = draft_of(turn)
    record = Record(1, draft.collection, draft.group, draft.id, draft.ts, draft.text, draft.metadata, "", 1)
    assert turn_of(record) == turn


def test_metadata_of_the_caller_cannot_shadow_role_or_speaker() -> None:
    turn = a_turn(metadata={"role": "system", "speaker": "mallory", "meta": 1})
    draft = draft_of(turn)
    assert draft.metadata["role"] == "user"
    assert "speaker" not in draft.metadata


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", "\ud800"),
        ("text", "tail \udfff"),
        ("text", 5),
        ("text", None),
        ("text", b"bytes"),
        ("text", "x" * (MAX_TEXT_BYTES + 1)),
        ("user", "\udc00"),
        ("session", "  "),
        ("session", "s" * (MAX_NAME_CHARS + 1)),
        ("role", ""),
        ("turn_id", "\n\t"),
        ("turn_id", 7),
        ("speaker", ""),
        ("metadata", [1]),
        ("metadata", "text"),
        ("metadata", {"a": math.nan}),
        ("metadata", {"a": [math.inf]}),
        ("metadata", {"a": {1: 2}}),
        ("metadata", {"a": {1, 2}}),
        ("metadata", {"a": b"bytes"}),
        ("metadata", {"a": 2**63}),
        ("metadata", {"a": "\ud800"}),
        ("metadata", {"\ud800": 1}),
        ("metadata", {"a": "x" * 2**20}),
        ("metadata", {f"k{i}": "x" * 1000 for i in range(2000)}),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_field(field: str, value: object) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        a_turn(**{field: value})
    assert refusal.value.field.startswith({"turn_id": "id"}.get(field, field))


def test_metadata_nested_too_deep_is_refused_without_recursion_trouble() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(InvalidInputError, match="nested deeper"):
        a_turn(metadata={"deep": deep})
    fine: Any = 1
    for _ in range(MAX_METADATA_DEPTH - 1):
        fine = [fine]
    assert a_turn(metadata={"deep": fine}).metadata == {"deep": fine}


def test_the_largest_text_is_taken() -> None:
    assert len(a_turn(text="x" * MAX_TEXT_BYTES).text) == MAX_TEXT_BYTES


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=9)), timezone(-timedelta(hours=3.5))])))
def test_a_zoned_datetime_becomes_the_same_instant(moment: datetime) -> None:
    exact = (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1)
    if -62_135_596_800_000 <= math.floor(exact) <= 253_402_300_799_999:
        assert abs(milliseconds("ts", moment) - exact) <= 1


@pytest.mark.parametrize("moment", [datetime(2026, 1, 1), True, 1.5, "2026", 10**15, -(10**15)])
def test_a_time_that_is_not_one_is_refused(moment: object) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        milliseconds("ts", moment)  # type: ignore[arg-type]
    assert refusal.value.field == "ts"


@given(json_values, json_values)
def test_the_canonical_form_is_one_to_one(left: Any, right: Any) -> None:
    same = canonical_json(left) == canonical_json(right)
    if same:
        assert left == right
    if type(left) is type(right) and left == right and isinstance(left, str | bool | dict | None):
        assert canonical_json(dict(reversed(left.items())) if isinstance(left, dict) else left) == canonical_json(left)


@given(names, names, texts, texts)
def test_moving_a_character_between_fields_changes_the_hash(group: str, record_id: str, text: str, more: str) -> None:
    if more:
        assert content_hash(group, record_id, 0, text + more, "{}") != content_hash(
            group, record_id, 0, text, more + "{}"
        )
        assert content_hash(group + more, record_id, 0, text, "{}") != content_hash(
            group, more + record_id, 0, text, "{}"
        )
