"""What holds for every method of the reference, read off its table."""

from __future__ import annotations

from typing import Any

import pytest
from tests.serve.reference.conftest import TABLE, Call

from libravdb_memory.serve import reference
from libravdb_memory.serve.fields import json_schema
from libravdb_memory.serve.service import Service

GOOD: dict[str, dict[str, Any]] = {
    "health": {},
    "status": {},
    "ensure_collections": {"collections": ["session:s1", "turns:ada"]},
    "insert_text": {"collection": "global", "id": "g1", "text": "the office closes at six"},
    "insert_session_turn": {"sessionId": "s1", "id": "s1:t1", "text": "hello there"},
    "ingest_markdown_document": {"sourceDoc": "NOTES.md", "text": "Lore.", "sourceMeta": {"sourceMtimeMs": 1.5}},
    "delete_authored_document": {"sourceDoc": "NOTES.md"},
    "promote_dream_entries": {"userId": "ada", "sourceDoc": "DREAMS.md", "entries": []},
    "gating_scalar": {"userId": "ada", "text": "I prefer tea"},
    "search_text": {"collection": "global", "text": "office", "k": 3},
    "search_text_collections": {"collections": ["global"], "text": "office", "k": 3},
    "query_raw_session": {"sessionId": "s1", "text": "hello", "k": 3},
    "list_collection": {"collection": "global"},
    "list_by_meta": {"collection": "global", "key": "type", "value": "turn"},
    "bump_access_counts": {"updates": [{"collection": "global", "ids": ["g1"]}]},
    "delete": {"collection": "global", "id": "g1"},
    "delete_batch": {"collection": "global", "ids": ["g1"]},
    "export_memory": {},
    "flush_namespace": {"userId": "ada"},
    "compact_session": {"sessionId": "s1", "force": True, "targetSize": 20, "continuityMinTurns": 4},
    "expand_summary": {"sessionId": "s1", "summaryId": "summary:0"},
    "session_lifecycle_hint": {"hook": "session_end", "sessionId": "s1"},
    "list_lifecycle_journal": {"sessionId": "s1", "limit": 5},
    "flush": {},
}
REQUIRED = [(name, field) for name in GOOD for field in json_schema(TABLE[name].params).get("required", ()) or ()]  # type: ignore[union-attr]
TYPED = [
    (name, field, shape["type"])
    for name in GOOD
    for field, shape in json_schema(TABLE[name].params)["properties"].items()  # type: ignore[union-attr]
    if "type" in shape
]
WRONG = {"string": 7, "integer": "four", "number": "four", "boolean": "yes", "array": "a", "object": [1]}


def test_there_are_the_twenty_four_methods_of_the_reference() -> None:
    assert len(GOOD) == 24
    assert {method.name for method in reference.METHODS} == set(GOOD) - {"health", "status"}
    assert set(GOOD) <= set(TABLE)


@pytest.mark.parametrize("name", GOOD)
def test_a_good_call_on_an_empty_store_succeeds(ask: Call, name: str) -> None:
    assert "error" not in ask(name, GOOD[name])


@pytest.mark.parametrize("name", GOOD)
def test_unknown_fields_are_ignored_and_null_counts_as_absent(ask: Call, name: str) -> None:
    fields = json_schema(TABLE[name].params)["properties"]
    nulls = dict.fromkeys(fields, None)  # type: ignore[call-overload]
    assert "error" not in ask(name, {**nulls, **GOOD[name], "aFieldOfTomorrow": {"x": 1}})


@pytest.mark.parametrize(("name", "field"), REQUIRED)
@pytest.mark.parametrize("blank", [None, "", " \t"])
def test_a_blank_required_field_is_told_by_its_name(ask: Call, name: str, field: str, blank: str | None) -> None:
    assert ask(name, {**GOOD[name], field: blank})["error"]["message"] == f"{field} is required"


@pytest.mark.parametrize(("name", "field", "kind"), TYPED)
def test_a_wrong_type_is_refused_by_the_name_of_its_field(ask: Call, name: str, field: str, kind: str) -> None:
    message = ask(name, {**GOOD[name], field: WRONG[kind]})["error"]["message"]
    assert message.startswith(f"invalid params: {field} must be ")


@pytest.mark.parametrize(
    "collection",
    [
        "session:nobody", "session_raw:nobody", "session_summary:nobody", "session_edge:nobody", "session_state:nobody",
        "turns:nobody", "user:nobody", "global", "authored:hard", "authored:soft", "authored:variant",
        "elevated:user:nobody", "elevated:session:nobody", "dream:nobody", "_internal:lifecycle_journal", "anything",
        "session:", "user: ", "history:nobody", "document", "_internal:sessions", "receipt:nobody", "elevated:x",
    ],
)  # fmt: skip
def test_a_missing_collection_is_empty_and_no_error(call: Call, collection: str) -> None:
    empty = {"results": []}
    assert call("list_collection", collection=collection) == empty
    assert call("list_by_meta", collection=collection, key="a", value="b") == empty
    assert call("search_text", collection=collection, text="something", k=3) == empty
    assert call("search_text_collections", collections=[collection], text="something", k=3) == empty
    assert call("bump_access_counts", updates=[{"collection": collection, "ids": ["x"]}]) == {"ok": True}


@pytest.mark.parametrize(
    "collection", ["history:ada", "summary:ada", "document", "_internal:sessions", "receipt:ada", "authored:hard"]
)
def test_the_records_of_the_store_itself_cannot_be_written_or_read_by_name(
    ask: Call, call: Call, speak: Call, service: Service, collection: str
) -> None:
    speak("a turn of Ada's")
    service.memory.load_document("RULES.md", "- Be kind.")
    refused = ask("insert_text", {"collection": collection, "id": "x", "text": "forged"})["error"]["message"]
    assert refused == f"invalid params: collection is kept by the daemon and cannot be written: {collection}"
    assert service.store.find("x") == ()
    if collection != "authored:hard":
        assert call("list_collection", collection=collection) == {"results": []}
