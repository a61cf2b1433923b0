"""What a host of conversations relies on: resets under one id, repeated deliveries, shared memories, diaries."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libravdb_memory.serve import epochs, links
from libravdb_memory.serve.access import Access
from libravdb_memory.serve.service import Service

Call: TypeAlias = Callable[..., Any]
USERS = count()
ADA = {"userId": "ada", "sessionId": "s1"}


def said(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "user" if place % 2 == 0 else "assistant", "content": text} for place, text in enumerate(texts)]


def turn(call: Call, key: str, *texts: str) -> Any:
    return call("after_turn", **ADA, advancementKey=key, messages=said(*texts))


def texts_of(call: Call, **where: str) -> list[str]:
    return [entry["text"] for entry in call("memory_history", **(where or ADA))["entries"]]


def test_after_a_reset_a_conversation_goes_on_in_a_new_session_and_the_old_one_stays_searchable(
    call: Call, service: Service
) -> None:
    turn(call, "k1", "the harbour code is 7731", "noted")
    assert call("reset_session", **ADA)["sessionId"] == "s1~1"
    turn(call, "k2", "hello again", "hello")
    assert texts_of(call) == ["hello again", "hello"]
    assert texts_of(call, userId="ada", sessionId="s1~1") == ["hello again", "hello"]
    assert texts_of(call, userId="ada", sessionId="s1~0") == ["the harbour code is 7731", "noted"]
    service.memory.wait()
    found = call("memory_search", userId="ada", query="harbour code")["results"][0]
    assert found["text"] == "the harbour code is 7731" and found["sessionId"] == "s1"
    assert call("bootstrap_session", **ADA)["sessionId"] == "s1~1"


def test_a_reset_that_is_told_again_or_of_nothing_changes_nothing(call: Call) -> None:
    assert call("reset_session", **ADA)["sessionId"] == "s1"
    turn(call, "k1", "one")
    assert [call("reset_session", **ADA)["sessionId"] for _ in range(3)] == ["s1~1"] * 3
    turn(call, "k2", "two")
    assert call("reset_session", **ADA)["sessionId"] == "s1~2"
    assert call("reset_session", userId="bob", sessionId="s1")["sessionId"] == "s1"


def test_a_host_that_knows_of_nothing_was_reset_and_its_first_prompt_shows_no_tail(call: Call) -> None:
    turn(call, "k1", "the first conversation", "yes")
    before = call("assemble_context", **ADA, prompt="?", budget=400)
    assert "the first conversation" in before["text"].split("<recent_session_tail")[1]
    for _ in range(2):
        after = call("assemble_context", **ADA, prompt="?", budget=400, fresh=True)
        assert "<recent_session_tail" not in after["text"]
    turn(call, "k2", "the second")
    assert texts_of(call) == ["the second"]


def test_a_delivery_that_is_repeated_after_a_reset_is_stored_once(call: Call) -> None:
    assert turn(call, "k1", "one", "two")["fresh"] == 2
    call("reset_session", **ADA)
    assert turn(call, "k1", "one", "two")["fresh"] == 0
    assert call("status")["turns"] == 2


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["say", "again", "reset"]), max_size=12))
def test_every_turn_is_stored_once_in_the_session_of_its_time(
    call: Call, service: Service, happened: list[str]
) -> None:
    user = f"user {next(USERS)}"
    where, key, expected = {"userId": user, "sessionId": "s"}, 0, [list[str]()]
    for event in happened:
        if event == "reset":
            call("reset_session", **where)
            expected += [[]] if expected[-1] else []
            continue
        key += 1 if event == "say" or key == 0 else 0
        text = f"turn {key}"
        call("after_turn", **where, advancementKey=f"k{key}", messages=said(text))
        if not any(text in texts for texts in expected):
            expected[-1].append(text)
    names = reversed(epochs.names(service.store, user, "s"))
    for name, texts in zip(names, expected, strict=True):
        told = {"userId": user, "sessionId": name if "~" in name else f"{name}~0"}
        assert (texts_of(call, **told) if texts else []) == texts


def test_what_a_host_excludes_or_made_for_itself_is_not_stored_and_times_are_the_host_s(call: Call) -> None:
    messages = [
        {"role": "user", "content": "at nine", "timestamp": 1_700_000_000_000},
        {"role": "custom", "content": "a banner"},
        {"role": "assistant", "content": "hidden", "excludeFromContext": True},
        {"role": "assistant", "content": "fine", "timestamp": True},
    ]
    assert call("after_turn", **ADA, advancementKey="k", messages=messages)["ids"] == ["k:0", "k:3"]
    assert call("memory_get", **ADA, id="k:0")["turn"]["ts"] == 1_700_000_000_000
    assert call("memory_get", **ADA, id="k:3")["turn"]["ts"] != 1


def test_the_places_of_what_stays_are_told(call: Call) -> None:
    messages = said(*(f"turn {number} " + "words and more words " * 30 for number in range(40)))
    built = call("assemble_context", **ADA, prompt="and now?", budget=2000, messages=messages, mode="own")
    assert 4 <= len(built["kept"]) < 40 and [messages[place] for place in built["kept"]] == built["messages"]
    again = call("assemble_context", **ADA, prompt="", budget=2000, messages=built["messages"], mode="own")
    assert again["messages"] == built["messages"] and again["kept"] == list(range(len(built["kept"])))
    assert call("assemble_context", **ADA, messages=messages)["kept"] == list(range(40))


def test_a_linked_conversation_is_its_parent_s_until_it_is_unlinked(call: Call) -> None:
    child = {"agentId": "helper", "linkedKey": "agent:helper:subagent:1"}
    assert call("bootstrap_session", **child)["userId"] == "agent-id:helper"
    call("link_session", userId="ada", linkedKey=child["linkedKey"])
    begun = call("bootstrap_session", **child)
    assert begun["userId"] == "ada" and begun["linked"] is True
    for _ in range(2):
        call("unlink_session", userId="ada", linkedKey=child["linkedKey"])
    assert call("bootstrap_session", **child)["userId"] == "agent-id:helper"


def test_a_link_overrules_no_user_that_is_named_and_leads_nobody_who_could_not_have_made_it(call: Call) -> None:
    key, ada, bob = "agent:main:main", Access("ada", frozenset({"ada"})), Access("bob", frozenset({"bob"}))
    call("link_session", ada, userId="ada", linkedKey=key)
    assert call("bootstrap_session", ada, agentId="main", linkedKey=key)["userId"] == "ada"
    assert call("bootstrap_session", agentId="main", linkedKey=key)["userId"] == "agent-id:main"
    assert call("bootstrap_session", bob, userId="bob", linkedKey=key)["userId"] == "bob"
    call("link_session", bob, userId="bob", linkedKey=key)
    assert call("bootstrap_session", ada, agentId="main", linkedKey=key)["userId"] == "ada"
    call("link_session", userId="eve", linkedKey=key)
    begun = call("bootstrap_session", userId="bob", linkedKey=key)
    assert begun["userId"] == "bob" and "linked" not in begun
    assert call("bootstrap_session", userId="eve", linkedKey=key)["linked"] is True
    call("unlink_session", bob, userId="bob", linkedKey=key)
    assert call("bootstrap_session", agentId="main", linkedKey=key)["userId"] == "eve"
    assert call("bootstrap_session", ada, agentId="main", linkedKey=key)["userId"] == "ada"
    call("unlink_session", Access("eve", frozenset({"eve"})), userId="eve", linkedKey=key)
    assert call("bootstrap_session", agentId="main", linkedKey=key)["userId"] == "agent-id:main"


def test_erasing_a_user_takes_the_links_that_its_own_token_made(call: Call, service: Service) -> None:
    ada = frozenset({"ada"})
    call("link_session", Access("ada", ada), userId="ada", linkedKey="child")
    assert links.owner_of(service.store, "child", ada) == "ada"
    turn(call, "k1", "so that there is something to erase")
    call("memory_forget", userId="ada", all=True)
    assert links.owner_of(service.store, "child", ada) is None


def test_erasing_a_conversation_or_a_user_takes_every_epoch_and_link(call: Call, service: Service) -> None:
    turn(call, "k1", "before")
    call("reset_session", **ADA)
    turn(call, "k2", "after")
    call("memory_forget", **ADA)
    assert call("status")["turns"] == 0 and epochs.names(service.store, "ada", "s1") == ("s1",)
    turn(call, "k3", "once more")
    call("reset_session", **ADA)
    call("link_session", userId="ada", linkedKey="child")
    call("memory_forget", userId="ada", all=True)
    assert epochs.names(service.store, "ada", "s1") == ("s1",) and links.owner_of(service.store, "child", None) is None


def test_a_diary_is_read_and_judged_by_the_daemon(call: Call) -> None:
    figures = "{score=.82 recall=3 unique=2}"
    diary = f"## Deep sleep\n- Ada reviews every migration by hand. {figures}\n- no. {figures}\n"
    done = call("promote_diary", userId="ada", sourceDoc="DREAMS.md", text=diary)
    assert done["promoted"] == 1 and [each["text"] for each in done["rejected"]] == ["no."]
    assert call("promote_diary", userId="ada", sourceDoc="DREAMS.md", text=diary)["changed"] is False
