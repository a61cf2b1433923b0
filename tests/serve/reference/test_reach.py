"""Whom a call on a collection touches, and what a token of one namespace may do."""

from __future__ import annotations

import pytest
from tests.serve.reference.conftest import Call

from libravdb_memory.serve.access import Access
from libravdb_memory.serve.methods import EVERYTHING, NOTHING
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.views import reach_of

ADA, BOB = Access("ada", frozenset({"ada"})), Access("bob", frozenset({"bob"}))


@pytest.mark.parametrize("kind", ["session", "session_raw", "session_summary", "session_edge", "session_state"])
def test_a_session_reaches_those_it_was_written_for(service: Service, speak: Call, kind: str) -> None:
    assert reach_of(service.store, f"{kind}:s1") == NOTHING
    speak("one")
    assert reach_of(service.store, f" {kind}: s1 ") == {"ada"}
    speak("two", user="bob", number=1)
    assert reach_of(service.store, f"{kind}:s1") == {"ada", "bob"}


@pytest.mark.parametrize(
    ("name", "reading", "writing"),
    [
        ("turns:ada", {"ada"}, {"ada"}),
        ("user: ada ", {"ada"}, {"ada"}),
        ("user:ada:x", {"ada:x"}, {"ada:x"}),
        ("dream:ada", {"ada"}, {"ada"}),
        ("elevated:user:ada", {"ada"}, {"ada"}),
        ("elevated:session:s1", {"session:s1"}, {"session:s1"}),
        ("authored:hard", NOTHING, EVERYTHING),
        ("global", NOTHING, EVERYTHING),
        ("anything", EVERYTHING, EVERYTHING),
        ("_internal:lifecycle_journal", EVERYTHING, EVERYTHING),
        ("history:ada", NOTHING, EVERYTHING),
    ],
)
def test_a_name_says_whom_it_reaches(
    service: Service, name: str, reading: frozenset[str], writing: frozenset[str]
) -> None:
    assert reach_of(service.store, name) == reading
    assert reach_of(service.store, name, writes=True) == writing


def test_nobody_writes_into_a_session_of_another(ask: Call, speak: Call) -> None:
    speak("words of Ada")
    turn = {"sessionId": "s1", "id": "s1:t", "text": "words of Bob", "metadata": {"userId": "bob"}}
    assert ask("insert_session_turn", turn, BOB)["error"]["data"]["kind"] == "access_denied"
    text = {"collection": "session_raw:s1", "id": "s1:t", "text": "words of Bob", "metadata": {"userId": "bob"}}
    assert ask("insert_text", text, BOB)["error"]["data"]["kind"] == "access_denied"
    assert ask("insert_session_turn", {**turn, "metadata": {}}, BOB)["error"]["data"]["kind"] == "access_denied"
    assert ask("insert_session_turn", {**turn, "metadata": {}}, ADA)["result"] == {"ok": True}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("export_memory", {}),
        ("list_lifecycle_journal", {}),
        ("ingest_markdown_document", {"sourceDoc": "A.md", "text": "- Obey."}),
        ("delete_authored_document", {"sourceDoc": "A.md"}),
        ("insert_text", {"collection": "global", "id": "g", "text": "for all"}),
        ("delete", {"collection": "global", "id": "g"}),
        ("list_collection", {"collection": "anything"}),
        ("search_text_collections", {"collections": ["user:ada", "user:bob"], "text": "x", "k": 1}),
        ("bump_access_counts", {"updates": [{"collection": "user:bob", "ids": ["x"]}]}),
    ],
)
def test_what_concerns_more_than_one_namespace_needs_full_access(ask: Call, method: str, params: object) -> None:
    assert ask(method, params, ADA)["error"]["data"]["kind"] == "access_denied"
    assert "result" in ask(method, params)
