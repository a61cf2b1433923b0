"""insert_text, insert_session_turn, bump_access_counts, and what the collections show of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.serve.reference.conftest import Call

from libravdb_memory.serve.access import SAME_USER, Access
from libravdb_memory.serve.service import Service

KEY = "AKIA" + "QYLPMN5HHHFPZAM2"


def results(call: Call, collection: str) -> list[dict[str, object]]:
    found = call("list_collection", collection=collection)["results"]
    assert isinstance(found, list)
    return found


def test_a_turn_stands_in_the_active_view_and_in_the_raw_history(call: Call, speak: Call) -> None:
    speak("the build is broken")
    (active,), (raw,) = results(call, "session:s1"), results(call, "session_raw:s1")
    assert active["id"] == raw["id"] == "s1:after-turn:0"
    assert active["text"] == raw["text"] == "the build is broken"
    assert active["score"] == 0.0
    assert active["version"] == 1
    facts, kept = active["metadata"], raw["metadata"]
    assert isinstance(facts, dict)
    assert isinstance(kept, dict)
    assert (kept["raw_history"], kept["active_view"]) == (True, False)
    assert "raw_history" not in facts
    told = {key: facts[key] for key in ("role", "ts", "userId", "sessionId", "type", "provenance_class")}
    assert told == {
        "role": "user",
        "ts": 1_700_000_000_000,
        "userId": "ada",
        "sessionId": "s1",
        "type": "turn",
        "provenance_class": "session_turn",
    }
    assert (facts["stability_weight"], facts["source_turn_id"], facts["access_count"]) == (0.5, "after-turn:0", 0)
    assert facts["text"] == "the build is broken"
    assert facts["token_estimate"] == 5


def test_a_turn_tells_what_the_gate_made_of_it(call: Call, speak: Call, service: Service) -> None:
    speak("I prefer green tea over coffee, every morning")
    speak("Noted.", number=1, role="assistant")
    assert service.memory.wait(30)
    user, assistant = (found["metadata"] for found in results(call, "session:s1"))
    assert isinstance(user, dict)
    assert isinstance(assistant, dict)
    assert {"gating_score", "gating_t", "gating_h", "gating_r", "gating_d", "gating_gconv"} <= set(user)
    assert user["gating_h"] == 1.0
    assert "gating_score" not in assistant
    assert assistant["stability_weight"] == 0.25


def test_a_turn_keeps_the_id_that_its_host_gave_it(call: Call, listed: Call) -> None:
    call("insert_session_turn", sessionId="s1", id="any id", text="one")
    call("insert_session_turn", sessionId="s1", id="s1:two", text="two")
    assert listed("session:s1") == {"any id": "one", "s1:two": "two"}
    call("delete", collection="session:s1", id="any id")
    assert listed("session_raw:s1") == {"s1:two": "two"}


def test_turns_stored_by_our_own_methods_are_in_the_same_views(call: Call, listed: Call) -> None:
    call("ingest_message", userId="ada", sessionId="s9", id="t1", text="said elsewhere")
    assert listed("session:s9") == {"s9:t1": "said elsewhere"}
    assert call("query_raw_session", sessionId="s9", text="elsewhere", k=1)["results"][0]["id"] == "s9:t1"


def test_the_same_turn_is_accepted_again_and_another_of_its_id_refused(ask: Call, call: Call, speak: Call) -> None:
    speak("the build is broken")
    speak("the build is broken")
    assert len(results(call, "session:s1")) == 1
    turn = {"sessionId": "s1", "id": "s1:after-turn:0", "text": "all is well", "metadata": {"userId": "ada"}}
    error = ask("insert_session_turn", turn)["error"]
    assert error["message"] == "the id 'after-turn:0' exists with other content"
    assert error["data"]["kind"] == "conflict"


def test_the_same_text_is_accepted_again_and_another_of_its_id_refused(ask: Call, call: Call) -> None:
    text = {"collection": "global", "id": "g1", "text": "the office closes at six", "metadata": {"by": "ada"}}
    assert ask("insert_text", text) == ask("insert_text", text)
    assert "exists with other content" in ask("insert_text", {**text, "text": "at seven"})["error"]["message"]
    (found,) = results(call, "global")
    assert found["text"] == "the office closes at six"


def test_two_sessions_that_number_their_turns_alike_keep_both(call: Call, speak: Call, listed: Call) -> None:
    for session in ("s1", "s2", "s1", "s2"):  # delivered twice
        speak(f"first words of {session}", session=session)
        for collection in ("turns:ada", "user:ada"):
            call(
                "insert_text",
                collection=collection,
                id="ada:after-turn:0",
                text=f"first words of {session}",
                metadata={"sessionId": session, "userId": "ada"},
            )
    kept = {"ada:after-turn:0": "first words of s1", "ada:after-turn:0@s2": "first words of s2"}
    assert listed("turns:ada") == listed("user:ada") == kept
    assert listed("session:s1") == {"s1:after-turn:0": "first words of s1"}
    assert listed("session:s2") == {"s2:after-turn:0": "first words of s2"}


def test_many_sessions_may_store_their_first_turns_at_once(call: Call, listed: Call) -> None:
    def store(session: str) -> None:
        for number in range(5):
            call(
                "insert_text",
                collection="turns:ada",
                id=f"ada:after-turn:{number}",
                text=f"words of {session}",
                metadata={"sessionId": session, "role": "user"},
            )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(store, [f"s{number}" for number in range(8)]))
    assert sorted(listed("turns:ada").values()) == sorted(
        f"words of s{number}" for number in range(8) for _ in range(5)
    )


def test_what_the_gate_made_durable_is_in_user_and_once_however_many_copies(
    call: Call, speak: Call, listed: Call, service: Service
) -> None:
    text = "I prefer green tea over coffee, every morning"
    speak(text, number=1, session="s1")
    assert service.memory.wait(30)
    assert listed("user:ada") == listed("turns:ada") == {"ada:after-turn:1": text}
    (durable,) = results(call, "user:ada")
    facts = durable["metadata"]
    assert isinstance(facts, dict)
    assert facts["provenance_class"] == "durable_user_memory"
    assert facts["stability_weight"] == max(0.5, facts["gating_score"])
    call("insert_text", collection="user:ada", id="ada:after-turn:1", text=text, metadata={"sessionId": "s1"})
    assert listed("user:ada") == {"ada:after-turn:1": text}
    assert call("status")["memoryCount"] == 1


def test_a_copy_that_came_before_its_turn_stands_for_it_too(
    call: Call, speak: Call, listed: Call, service: Service
) -> None:
    text = "I prefer green tea over coffee, every morning"
    call("insert_text", collection="user:ada", id="ada:after-turn:0", text=text, metadata={"sessionId": "s1"})
    speak(text)
    assert service.memory.wait(30)
    assert listed("user:ada") == {"ada:after-turn:0": text}


def test_durable_turns_of_two_sessions_with_one_id_have_two(speak: Call, listed: Call, service: Service) -> None:
    speak("I prefer green tea over coffee, every morning", session="s1")
    speak("My sister Grace lives in Lisbon since May 2021", session="s2")
    assert service.memory.wait(30)
    assert set(listed("user:ada")) == {"ada:after-turn:0", "ada:after-turn:0@s2"}


def test_a_durable_turn_gives_way_to_a_text_that_has_its_id(
    call: Call, speak: Call, listed: Call, service: Service
) -> None:
    call("insert_text", collection="user:ada", id="ada:after-turn:0", text="a text of the host's own")
    speak("I prefer green tea over coffee, every morning")
    assert service.memory.wait(30)
    assert set(listed("user:ada")) == {"ada:after-turn:0", "ada:after-turn:0@s1"}


def test_secrets_are_masked_where_a_host_puts_a_text(call: Call) -> None:
    call("insert_text", collection="user:ada", id="k", text=f"the key is {KEY}", metadata={"text": f"{KEY} again"})
    assert KEY not in str(results(call, "user:ada"))


def test_a_turn_without_a_user_belongs_to_whom_its_session_belongs(speak: Call, listed: Call, service: Service) -> None:
    speak("who am I", user=None)
    assert service.store.collections("history:session:s1")
    speak("Ada it is", number=1)
    speak("and still", user=None, number=2)
    assert [info.count for info in service.store.collections("history:ada")] == [2]
    assert list(listed("session:s1").values()) == ["who am I", "Ada it is", "and still"]


def test_the_user_of_a_turn_is_named_by_session_key_or_agent_too(speak: Call, service: Service) -> None:
    speak("one", user=None, session="a", sessionKey=" k ")
    speak("two", user=None, session="b", agentId="g")
    names = {info.name for info in service.store.collections("history:")}
    assert names == {"history:session-key:k", "history:agent-id:g"}


@pytest.mark.parametrize("scoped", [True, False])
def test_a_session_that_two_users_have_shows_both_until_an_old_client_writes_to_it(
    call: Call, speak: Call, listed: Call, service: Service, scoped: bool
) -> None:
    def said(user: str, text: str) -> None:
        access = Access(user, frozenset({user})) if scoped else SAME_USER
        call("ingest_message", access, userId=user, sessionId="shared", text=text)

    said("ada", "words of Ada")
    assert set(listed("session:shared").values()) == {"words of Ada"}
    said("bob", "words of Bob")
    assert set(listed("session:shared").values()) == {"words of Ada", "words of Bob"}
    speak("whose am I", user=None, session="shared")
    assert set(listed("session:shared").values()) == {"whose am I"}
    assert service.store.collections("history:session:shared")


def test_a_turn_without_a_user_in_the_session_of_a_host_is_that_user_s(call: Call, speak: Call, listed: Call) -> None:
    call("ingest_message", userId="ada", sessionId="hers", text="words of Ada")
    messages = [{"role": "user", "content": "other words of Ada"}]
    for more in ({}, {"advancementKey": "k"}):
        call("after_turn", userId="ada", sessionId=f"hers{len(more)}", messages=messages, **more)
        speak("and these", user=None, session=f"hers{len(more)}", number=len(more) + 1)
    speak("and those", user=None, session="hers")
    assert set(listed("session:hers").values()) == {"words of Ada", "and those"}
    for session in ("hers0", "hers1"):
        assert set(listed(f"session:{session}").values()) == {"other words of Ada", "and these"}
    call("memory_forget", userId="ada", all=True)
    assert call("list_collection", collection="session:hers")["results"] == []


def test_counts_of_use_rise_for_the_records_named(call: Call, speak: Call) -> None:
    turn = speak("the build is broken")
    speak("it works again", number=1)
    call("insert_text", collection="global", id="g1", text="the office closes at six")
    update = [{"collection": "session:s1", "ids": [turn, "unknown"]}, {"collection": "global", "ids": ["g1"]}]
    assert call("bump_access_counts", updates=update) == {"ok": True}
    call("bump_access_counts", updates=update[:1])
    counts = {found["id"]: found["metadata"]["access_count"] for found in results(call, "session:s1")}  # type: ignore[index]
    assert counts == {turn: 2, "s1:after-turn:1": 0}
    assert results(call, "global")[0]["metadata"]["access_count"] == 1  # type: ignore[index]


def test_a_text_put_into_a_session_is_a_turn_of_it(call: Call, listed: Call) -> None:
    call("insert_text", collection="session:s1", id="s1:t", text="hello", metadata={"userId": "ada"})
    assert listed("session_raw:s1") == {"s1:t": "hello"}


def test_a_memory_delivered_again_may_have_been_judged_anew(ask: Call, call: Call) -> None:
    memory = {"collection": "user:ada", "id": "ada:t", "text": "I prefer tea", "metadata": {"gating_score": 0.5}}
    assert ask("insert_text", memory) == ask("insert_text", {**memory, "metadata": {"gating_score": 0.4}})
    assert results(call, "user:ada")[0]["metadata"]["gating_score"] == 0.5  # type: ignore[index]
    assert "error" in ask("insert_text", {**memory, "metadata": {"gating_score": 0.5, "role": "user"}})


@pytest.mark.parametrize("collection", ["global", "user:ada", "notes", "session:s1"])
def test_a_moment_in_no_year_is_refused_and_spoils_no_context(ask: Call, call: Call, collection: str) -> None:
    facts = {"ts": 2**53 - 1, "sessionId": "s1"}
    refused = ask("insert_text", {"collection": collection, "id": "x", "text": "the red bicycle", "metadata": facts})
    assert refused["error"]["code"] == -32602 and "outside the years" in refused["error"]["message"]
    assert call("assemble_context", userId="ada", sessionId="s1", prompt="the red bicycle?")["degraded"] == []
