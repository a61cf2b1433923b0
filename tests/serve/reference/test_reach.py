"""Whom a call on a collection touches, and what a token of one namespace may do."""

from __future__ import annotations

import pytest
from tests.serve.reference.conftest import Call

from libravdb_memory.serve.access import SAME_USER, Access
from libravdb_memory.serve.methods import EVERYTHING, NOTHING
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.views import reach_of

ADA, BOB = Access("ada", frozenset({"ada"})), Access("bob", frozenset({"bob"}))


@pytest.mark.parametrize("kind", ["session", "session_raw", "session_summary", "session_edge", "session_state"])
def test_a_session_reaches_those_it_was_written_for(service: Service, speak: Call, kind: str) -> None:
    assert reach_of(service.store, f"{kind}:s1", None) == NOTHING
    speak("one")
    assert reach_of(service.store, f" {kind}: s1 ", None) == {"ada"}
    speak("two", user="bob", number=1)
    assert reach_of(service.store, f"{kind}:s1", None) == {"ada", "bob"}
    assert reach_of(service.store, f"{kind}:s1", frozenset({"bob", "eve"})) == {"bob"}


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
    assert reach_of(service.store, name, None) == reading
    assert reach_of(service.store, name, None, writes=True) == writing


@pytest.mark.parametrize("name", ["session", "session_raw"])
def test_nobody_s_words_are_shown_in_a_session_of_another(ask: Call, speak: Call, listed: Call, name: str) -> None:
    speak("words of Ada")
    turn = {"sessionId": "s1", "id": "s1:t", "text": "words of Bob", "metadata": {}}
    assert ask("insert_session_turn", turn, BOB)["error"]["data"]["kind"] == "access_denied"
    assert "result" in ask("insert_session_turn", {**turn, "metadata": {"userId": "bob"}}, BOB)
    text = {"collection": f"{name}:s1", "id": "s1:u", "text": "more of Bob", "metadata": {"userId": "bob"}}
    assert "result" in ask("insert_text", text, BOB)
    assert "result" in ask("insert_session_turn", {**turn, "text": "more of Ada"}, ADA)
    assert list(listed(f"{name}:s1").values()) == ["words of Ada", "more of Ada"]
    for access, expected in ((ADA, ["words of Ada", "more of Ada"]), (BOB, ["words of Bob", "more of Bob"])):
        results = ask("list_collection", {"collection": f"{name}:s1"}, access)["result"]["results"]
        assert [result["text"] for result in results] == expected


SQUATTING: list[tuple[str, dict[str, object]]] = [
    ("insert_session_turn", {"sessionId": "s1", "id": "s1:0", "text": "first", "metadata": {"userId": "ada"}}),
    ("ingest_message", {"userId": "ada", "sessionId": "s1", "text": "first"}),
    ("after_turn", {"userId": "ada", "sessionId": "s1", "messages": [{"role": "user", "content": "first"}]}),
]


@pytest.mark.parametrize(("method", "params"), SQUATTING)
def test_who_was_in_a_session_first_does_not_get_the_turns_of_a_client_that_names_nobody(
    ask: Call, speak: Call, listed: Call, service: Service, method: str, params: object
) -> None:
    assert "result" in ask(method, params, ADA)
    speak("the secret pear", user=None, number=1)
    assert [info.count for info in service.store.collections("history:session:s1")] == [1]
    assert service.memory.wait(30)
    assert "pear" not in str(ask("memory_search", {"userId": "ada", "query": "the secret pear"}, ADA)["result"])
    assert "pear" not in str(ask("list_collection", {"collection": "session:s1"}, ADA)["result"])
    assert list(listed("session:s1").values()) == ["the secret pear"]
    turn = {"sessionId": "s1", "id": "s1:3", "text": "plum", "metadata": {"userId": "bob"}}
    assert ask("insert_session_turn", turn, BOB)["result"] == {"ok": True}


def test_hints_about_a_session_that_two_have_are_shown_to_whom_they_concern(ask: Call, call: Call) -> None:
    for access, user in ((ADA, "ada"), (BOB, "bob")):
        call("ingest_message", access, userId=user, sessionId="s1", text="hello")
        call("session_lifecycle_hint", access, hook="begun", sessionId="s1", reason=f"by {user}")
    call("session_lifecycle_hint", hook="begun", sessionId="s1", reason="by the host")

    def shown(access: Access, limit: int = 0) -> list[str]:
        results = ask("list_lifecycle_journal", {"sessionId": "s1", "limit": limit}, access)["result"]["results"]
        return [result["metadata"]["reason"] for result in results]

    assert shown(ADA) == shown(ADA, 1) == ["by ada"] and shown(BOB) == ["by bob"]
    assert shown(SAME_USER) == ["by ada", "by bob", "by the host"] and shown(SAME_USER, 1) == ["by the host"]


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
