"""The methods of our own, called through the table on a real store."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from libravdb_memory.model import Turn
from libravdb_memory.serve import own
from libravdb_memory.serve.access import SAME_USER
from libravdb_memory.serve.calls import Answer, read_call, run
from libravdb_memory.serve.fields import json_schema
from libravdb_memory.serve.forms import object_form, turn_form
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.methods import table_of
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.table import every_method

Call: TypeAlias = Callable[..., Any]
ADA = {"userId": "ada", "sessionId": "s1"}


def talk(call: Call, count: int = 40, **where: str) -> None:
    for number in range(count):
        role = "assistant" if number % 2 else "user"
        text = f"turn {number}: the deploy of service-{number} needs port {4000 + number} and a quiet evening"
        call("ingest_message", **(where or ADA), id=f"t{number}", text=text, role=role)


def test_every_method_has_a_sentence_a_schema_and_a_name_of_its_own() -> None:
    table = table_of(own.METHODS)
    expected = """health status metrics bootstrap_session ingest_message after_turn assemble_context
    reset_session link_session unlink_session promote_diary memory_search memory_get
    memory_forget memory_history memory_expand memory_guidance memory_compact why why_not replay receipts rules_check
    verify backup reindex"""
    assert set(table) == set(expected.split())
    for method in table.values():
        assert method.summary.endswith(".") and json.dumps(json_schema(method.params))
    with pytest.raises(ValueError, match="two methods are named health"):
        table_of([*own.METHODS, table["health"]])


def test_health_and_status_have_the_keys_of_the_reference(call: Call) -> None:
    assert call("health")["ok"] is True and call("health")["message"] == "ok"
    talk(call, 3)
    status = call("status")
    reference = "ok message turnCount memoryCount lifecycleHintCount gatingThreshold abstractiveReady embeddingProfile"
    assert set(reference.split()) <= set(status)
    assert status["turnCount"] == 3 and status["gatingThreshold"] == 0.35 and status["abstractiveReady"] is False


def test_a_message_is_stored_exactly_and_read_back(call: Call) -> None:
    stored = call("ingest_message", **ADA, id="t1", text="  exact \n", role="user", ts=1000, metadata={"a": [1]})
    turn = call("memory_get", **ADA, id="t1")["turn"]
    assert turn == stored["turn"]
    assert turn == {
        "kind": "turn",
        "id": "t1",
        "text": "  exact \n",
        "userId": "ada",
        "sessionId": "s1",
        "role": "user",
        "ts": 1000,
        "speaker": None,
        "metadata": {"a": [1]},
        "masked": [],
    }


def test_the_same_id_with_other_content_is_a_conflict_that_names_it(call: Call, ask: Call) -> None:
    call("ingest_message", **ADA, id="t1", text="one")
    call("ingest_message", **ADA, id="t1", text="one")
    error = ask("ingest_message", {**ADA, "id": "t1", "text": "two"})["error"]
    assert error["code"] == -32003 and "'t1'" in error["message"] and error["data"]["kind"] == "conflict"


def test_a_blank_text_is_refused_in_the_words_of_the_reference(ask: Call) -> None:
    assert ask("ingest_message", {**ADA, "text": "  "})["error"]["message"] == "text is required"


def test_an_unknown_method_and_bad_params_are_told(ask: Call) -> None:
    assert ask("no_such")["error"] == {"code": -32601, "message": "unknown method: no_such"}
    error = ask("memory_search", {"k": "many"})["error"]
    assert error["code"] == -32602 and error["message"].startswith("invalid params: k ")
    error = ask("memory_search", {"userId": "ada", "query": "x", "k": -1})["error"]
    assert error["code"] == -32602 and error["message"].startswith("invalid params: k")


MESSAGES = [
    {"role": "user", "content": "book the ferry"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": {"name": "book", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "booked for nine"},
    {"role": "assistant", "content": "it leaves at nine"},
]


def test_a_delivery_with_a_key_is_stored_once_also_when_it_broke_off(call: Call, service: Service) -> None:
    call("after_turn", **ADA, advancementKey="turn-7", messages=MESSAGES[:2])
    first = call("after_turn", **ADA, advancementKey="turn-7", messages=MESSAGES)
    again = call("after_turn", **ADA, advancementKey="turn-7", messages=MESSAGES)
    assert again == {**first, "fresh": 0} and first["fresh"] == len(MESSAGES) - 2
    history = call("memory_history", **ADA)
    assert [entry["id"] for entry in history["entries"]] == first["ids"]
    assert history["turns"] == len(first["ids"]) >= 3
    other = call("after_turn", **ADA, advancementKey="turn-8", messages=MESSAGES[:1])
    assert other["ids"] == ["turn-8:0"]


def test_a_delivery_whose_key_was_used_for_something_else_is_refused(call: Call, ask: Call) -> None:
    call("after_turn", **ADA, advancementKey="k", messages=MESSAGES[:1])
    answer = ask("after_turn", {**ADA, "advancementKey": "k", "messages": [{"role": "user", "content": "other"}]})
    assert answer["error"]["code"] == -32003


def test_a_message_edited_under_its_old_id_is_kept_beside_the_first(call: Call) -> None:
    first, edited = ({"role": "user", "id": "m1", "content": text} for text in ("at nine", "at ten"))
    assert call("after_turn", **ADA, advancementKey="k1", messages=[first])["ids"] == ["m1"]
    again = [call("after_turn", **ADA, advancementKey="k2", messages=[edited])["ids"] for _ in range(2)]
    assert again == [["k2:0"], ["k2:0"]]
    assert [entry["text"] for entry in call("memory_history", **ADA)["entries"]] == ["at nine", "at ten"]


def test_without_a_key_a_host_may_send_its_whole_list_each_time(call: Call) -> None:
    assert call("after_turn", **ADA, messages=MESSAGES[:1])["stored"] == 1
    assert call("after_turn", **ADA, messages=MESSAGES)["stored"] == len(MESSAGES) - 1
    assert call("after_turn", **ADA, messages=MESSAGES)["stored"] == 0


def test_a_session_is_begun_once_and_resumed_later(call: Call) -> None:
    begun = call("bootstrap_session", sessionId="s1", sessionKey="room")
    assert begun == {"ok": True, "userId": "session-key:room", "sessionId": "s1", "resumed": False, "documents": {}}
    call("ingest_message", sessionId="s1", sessionKey="room", text="hello")
    assert call("bootstrap_session", sessionId="s1", sessionKey="room")["resumed"] is True


def test_a_context_is_explained_by_its_receipt_and_assembled_again(call: Call, ask: Call, service: Service) -> None:
    service.memory.load_document("AGENTS.md", "- Never deploy on a Friday.\n")
    talk(call)
    service.memory.wait()
    built = call("assemble_context", **ADA, prompt="which port has service-3?", budget=600)
    assert "Never deploy on a Friday" in built["text"] and built["tokens"] <= 600 == built["budget"]
    why = call("why", receiptId=built["receiptId"])
    assert why["identical"] is True and why["userId"] == "ada" and why["text"] == built["text"]
    assert {item["tier"] for item in why["items"]} >= {"hard", "tail"}
    assert call("replay", receiptId=built["receiptId"])["text"] == built["text"]
    (listed,) = call("receipts", userId=ADA["userId"])["receipts"]
    assert (listed["id"], listed["sessionId"]) == (built["receiptId"], ADA["sessionId"])
    assert call("receipts", userId="bob")["receipts"] == []
    left = why["rejections"][0]
    told = call("why_not", receiptId=built["receiptId"], recordId=left["id"])
    assert told["rejection"]["reason"] == left["reason"] and told["recordId"] == left["id"]
    assert ask("why", {"receiptId": "nope"})["error"]["code"] == -32001


def test_own_messages_come_back_as_the_host_s_own(call: Call) -> None:
    built = call("assemble_context", **ADA, prompt="and then?", budget=4000, messages=MESSAGES, mode="own")
    assert built["messages"] == MESSAGES


def test_search_finds_turns_with_the_parts_of_their_score(call: Call, service: Service) -> None:
    talk(call)
    service.memory.wait()
    found = call("memory_search", **ADA, query="port of service-7", k=3)
    assert found["results"][0]["id"] == "t7" and 0 < found["results"][0]["score"] <= 1
    assert found["results"][0]["parts"] and len(found["results"]) == 3
    assert call("memory_search", userId="ada", query="  ")["results"] == []


def test_a_compacted_session_is_shown_and_expanded_to_the_exact_turns(call: Call, service: Service) -> None:
    talk(call, 120)
    service.memory.wait()
    done = call("memory_compact", **ADA)
    assert done["turns"] > 0 and done["tokens"] < done["sourceTokens"]
    history = call("memory_history", **ADA)
    summary = next(entry for entry in history["entries"] if entry["kind"] == "summary")
    below = call("memory_expand", **ADA, id=summary["id"])
    assert [item["text"] for item in below["items"]] == [
        call("memory_get", **ADA, id=f"t{number}")["turn"]["text"] for number in range(len(below["items"]))
    ]
    page = call("memory_expand", **ADA, id=summary["id"], limit=2)
    rest = call("memory_expand", **ADA, id=summary["id"], after=page["cursor"])
    assert page["items"] + rest["items"] == below["items"]
    assert call("memory_compact", **ADA)["reason"]


def test_a_summary_is_expanded_by_its_id_alone(call: Call, ask: Call, service: Service) -> None:
    talk(call, 120)
    call("memory_compact", **ADA)
    summary = call("memory_history", **ADA)["entries"][0]["id"]
    below = call("memory_expand", **ADA, id=summary)
    assert call("memory_expand", id=summary) == call("memory_expand", id=summary, userId=" ") == below
    for whose in ({"userId": "bob"}, {"agentId": "ada"}, {"sessionId": ADA["sessionId"]}):
        assert ask("memory_expand", {**whose, "id": summary})["error"]["code"] == -32001
    assert "there is no summary 'nope'" in ask("memory_expand", {"id": "nope"})["error"]["message"]


def test_the_rules_of_a_user_are_listed_with_why_they_are_kept(call: Call, ask: Call, service: Service) -> None:
    said = ["Never deploy on Fridays.", "From now on answer in metric units."]
    for number, text in enumerate(said):
        call("ingest_message", **ADA, id=f"rule{number}", text=text)
    talk(call, 120)
    assert call("memory_guidance", **ADA) == {"rules": [], "cursor": None, "total": 0}
    call("memory_compact", **ADA)
    first = call("memory_guidance", userId="ada", limit=1)
    rest = call("memory_guidance", userId="ada", after=first["cursor"])
    for odd in ("999999.1", "-1.1", "1.1"):
        refused = ask("memory_guidance", {"userId": "ada", "after": odd})
        assert f"{odd!r} is no cursor" in json.dumps(refused["error"])
    rules = [*first["rules"], *rest["rules"]]
    assert [(rule["turn"], rule["text"], rule["reason"]) for rule in rules] == [
        ("rule0", said[0], "rule"),
        ("rule1", said[1], "rule"),
    ]
    assert [rule["forEveryAnswer"] for rule in rules] == [False, True]
    assert all(rule["takesBack"] == rule["takenBackBy"] == [] for rule in rules)
    assert first["total"] == rest["total"] == 2
    assert call("memory_guidance", **ADA)["rules"] == rules
    assert call("memory_guidance", userId="ada", sessionId="s2")["rules"] == []
    assert call("memory_guidance", userId="bob")["rules"] == []
    assert ask("memory_guidance", {**ADA, "limit": 0})["error"]["code"] == -32602
    call("memory_forget", **ADA, id="rule0")
    assert [rule["turn"] for rule in call("memory_guidance", **ADA)["rules"]] == ["rule1"]


def test_forgetting_takes_what_is_named_and_never_more(call: Call, ask: Call) -> None:
    talk(call, 4)
    talk(call, 4, userId="ada", sessionId="s2")
    assert ask("memory_forget", {"userId": "ada"})["error"]["code"] == -32602
    assert ask("memory_forget", {**ADA, "all": True})["error"]["code"] == -32602
    assert call("memory_forget", **ADA, id="t0")["records"] == 1
    assert call("memory_history", **ADA)["turns"] == 3
    assert call("memory_forget", userId="ada", sessionId="s2")["records"] >= 4
    assert ask("memory_history", {"userId": "ada", "sessionId": "s2"})["error"]["code"] == -32001
    call("memory_forget", userId="ada", all=True)
    assert call("status")["turns"] == 0


def test_rules_are_checked_before_and_after_they_are_loaded(call: Call, service: Service) -> None:
    documents = {"a.md": "- Always run the tests.\n", "b.md": "- Never run the tests.\n"}
    report = call("rules_check", documents=documents)
    assert report["ok"] is False and len(report["contradictions"]) == 1
    assert [node["tier"] for node in report["nodes"]] == [1, 1]
    service.memory.load_document("a.md", documents["a.md"])
    assert call("rules_check")["ok"] is True and len(call("rules_check")["nodes"]) == 1


def test_the_store_is_verified_backed_up_and_indexed(call: Call, ask: Call, service: Service) -> None:
    talk(call, 4)
    assert call("verify")["ok"] is True
    path = call("backup", name="monday.libravdb")["path"]
    assert path == str(service.config.home / "backups" / "monday.libravdb")
    assert ask("backup", {"name": "monday.libravdb"})["error"]["code"] == -32602
    state = call("reindex", wait=True, indexes=True)
    assert state["ok"] is True and state["pending"] == 0 and state["searchesByMeaning"] is True


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "..", ".", ".hidden", "a\\b", "C:x", "a\0b", "/etc/x", "x" * 300, "a\nb", "~/x/"]
)
def test_no_path_of_a_request_reaches_the_file_system(ask: Call, service: Service, name: str) -> None:
    assert ask("backup", {"name": name})["error"]["code"] == -32602
    assert not (service.config.home / "backups").exists()


def test_a_fault_of_ours_is_answered_and_logged(ask: Call, service: Service, caplog: pytest.LogCaptureFixture) -> None:
    service.memory.close()
    assert ask("ingest_message", {**ADA, "text": "late"})["error"]["code"] == -32031
    service.metrics.gauge("broken", lambda: 1 / 0)
    error = ask("metrics")["error"]
    assert error["code"] == -32603 and error["message"] == "internal error: ZeroDivisionError"
    assert "ZeroDivisionError" in caplog.text


def test_calls_are_counted_by_method_in_the_text_format_of_prometheus(call: Call, ask: Call) -> None:
    talk(call, 3)
    ask("memory_get", {**ADA, "id": "nope"})
    ask("no_such_method")
    text = call("metrics")["text"]
    assert 'libravdb_call_seconds_count{method="ingest_message"} 3\n' in text
    assert 'libravdb_call_seconds_bucket{method="ingest_message",le="+Inf"} 3\n' in text
    assert 'libravdb_call_failures_total{method="memory_get"} 1\n' in text
    assert "no_such_method" not in text


def test_the_form_of_a_turn_has_every_field_of_a_turn() -> None:
    turn = Turn("t1", "text", "ada", "s1", "user", 1, "Ada", {"a": {"b": (1, 2)}})
    assert turn_form(turn) == {"kind": "turn", **object_form(turn)}


@pytest.mark.parametrize("what", [{"id": "t1"}, {"sessionId": "s"}, {"all": True}])
def test_what_is_forgotten_is_gone_from_the_copies_of_hosts_too(
    service: Service, call: Call, what: dict[str, object]
) -> None:
    every = every_method()

    def ask_any(method: str, **params: object) -> None:
        found = read_call(every, Request(method, params, 1), SAME_USER)
        assert not isinstance(found, Answer)
        assert b'"error"' not in run(service, found).line

    said = {"userId": "ada", "sessionId": "s"}
    ask_any("insert_session_turn", sessionId="s", id="s:t1", text="the xylophone is in the attic", metadata=said)
    for collection in ("turns:ada", "user:ada"):
        ask_any("insert_text", collection=collection, id="ada:t1", text="the xylophone is in the attic", metadata=said)
    call("memory_forget", userId="ada", **what)
    for info in service.store.collections():
        assert "xylophone" not in "".join(record.text for record in service.store.page(info.name).records), info.name
