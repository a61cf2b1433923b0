"""compact_session, expand_summary, and the views of summaries."""

from __future__ import annotations

import io
import json

import pytest
from tests.serve.reference.conftest import Call

from libravdb_memory import sessions
from libravdb_memory.serve.service import Service

PARAMS = {
    "force": True,
    "targetSize": 20,
    "continuityMinTurns": 4,
    "continuityTailBudgetTokens": 128,
    "continuityPriorContextTokens": 96,
}


def test_compacted_turns_leave_the_active_view_and_stay_in_the_raw_history(
    call: Call, converse: Call, listed: Call
) -> None:
    said = converse(80)
    raw = listed("session_raw:s1")
    done = call("compact_session", sessionId="s1", **PARAMS)
    assert done["didCompact"] is True
    assert done["clustersFormed"] >= 1
    assert done["summaryMethod"] == "extractive"
    assert 0.0 < done["meanConfidence"] <= 1.0
    assert raw == listed("session_raw:s1")
    assert set(raw) == set(said)
    active = listed("session:s1")
    assert done["turnsRemoved"] == len(set(raw) - set(active))
    assert set(active) - set(raw) == {name for name in active if name.startswith("summary:")}
    again = call("compact_session", sessionId="s1", **PARAMS)
    assert (again["didCompact"], again["turnsRemoved"], again["meanConfidence"]) == (False, 0, 0.0)
    assert "summaryMethod" not in again


def test_a_summary_expands_to_the_turns_that_left(call: Call, converse: Call, listed: Call) -> None:
    converse(80)
    call("compact_session", sessionId="s1", **PARAMS)
    raw, active = listed("session_raw:s1"), listed("session:s1")
    below: dict[str, str] = {}
    for name in active:
        if name.startswith("summary:"):
            found = call("expand_summary", sessionId="s1", summaryId=name)["results"]
            below |= {result["id"]: result["text"] for result in found if result["metadata"]["type"] == "turn"}
    assert below == {name: text for name, text in raw.items() if name not in active}


def test_a_summary_tells_its_lineage_by_the_ids_of_the_protocol(call: Call, converse: Call) -> None:
    converse(80)
    call("compact_session", sessionId="s1", **PARAMS)
    results = call("list_by_meta", collection="session:s1", key="type", value="summary")["results"]
    assert results
    for result in results:
        facts = result["metadata"]
        covered = [found["id"] for found in call("expand_summary", sessionId="s1", summaryId=result["id"])["results"]]
        assert facts["source_ids"] == facts["continuity_lineage"]["source_turn_ids"] == covered
        assert facts["continuity_lineage"]["parent_summary_ids"] == []
        assert facts["decay_rate"] == 1 - facts["confidence"]
        assert {"align", "cover", "method", "token_count", "compacted_at"} <= set(facts)
        edges = call("list_by_meta", collection="session_edge:s1", key="summary_id", value=result["id"])["results"]
        assert {edge["metadata"]["child_id"] for edge in edges} == set(covered)
        assert edges[0]["id"] == f"edge:{result['id']}:{edges[0]['metadata']['child_id']}"
    assert [found["id"] for found in results] == [
        found["id"] for found in call("list_collection", collection="session_summary:s1")["results"]
    ]
    (state,) = call("list_collection", collection="session_state:s1")["results"]
    assert state["id"] == "__session_state__"


def test_what_is_not_there_expands_to_nothing(call: Call, converse: Call) -> None:
    converse(2)
    assert call("expand_summary", sessionId="s1", summaryId="summary:unknown", maxDepth=2) == {"results": []}
    assert call("expand_summary", sessionId="unknown", summaryId="summary:unknown") == {"results": []}


def test_a_deleted_summary_uncovers_its_turns(call: Call, converse: Call, listed: Call, service: Service) -> None:
    converse(80)
    call("compact_session", sessionId="s1", **PARAMS)
    for name in listed("session_summary:s1"):
        call("delete", collection="session:s1", id=name)
    assert listed("session:s1") == listed("session_raw:s1")
    assert service.memory.verify().ok


def test_an_unknown_session_is_compacted_to_nothing(call: Call) -> None:
    assert call("compact_session", sessionId="unknown") == {
        "didCompact": False,
        "clustersFormed": 0,
        "clustersDeclined": 0,
        "turnsRemoved": 0,
        "meanConfidence": 0.0,
    }


@pytest.mark.parametrize(
    ("rule", "reason", "scored_higher"),
    [
        ("Never delete a file without asking me.", "rule", False),
        ("From now on you must always answer in English and never delete a file without asking me.", "rule", True),
        ("I like to be asked before you delete a file.", "liking or custom", True),
    ],
    ids=["a rule", "a rule that the gate scores higher than what users say weighs", "a liking"],
)
def test_rules_that_were_stated_in_conversation_are_elevated(
    call: Call, speak: Call, service: Service, rule: str, reason: str, scored_higher: bool
) -> None:
    for number in range(990, 1000):
        speak(f"Row {number} of the table of deliveries was read; what is new gets a higher score.", number=number)
    assert service.memory.wait(60)
    speak(rule, number=1000)
    assert service.memory.wait(60)
    for number in range(1001, 1080):
        speak(f"Row {number} of the table of deliveries was read, checked and written again.", number=number)
    scored = {"collection": "session_raw:s1", "key": "source_turn_id", "value": "after-turn:1000"}
    (turn,) = call("list_by_meta", **scored)["results"]
    score = turn["metadata"]["gating_score"]
    assert (score > 0.5) == scored_higher
    call("compact_session", sessionId="s1", **PARAMS)
    (shard,) = call("list_collection", collection="elevated:user:ada")["results"]
    assert shard["id"] == "guidance:s1:after-turn:1000"
    exported = io.StringIO()
    service.memory.export(exported)
    rows = [json.loads(line) for line in exported.getvalue().split("\n")[:-1]]
    (row,) = (row for row in rows if row.get("type") == "record" and row["id"] == shard["id"])
    expected = {
        "type": "guidance_shard",
        "source_turn_id": "after-turn:1000",
        "stability_weight": score if scored_higher else 0.5,
        "provenance_class": "elevated_guidance",
        "protection_reason": reason,
    }
    for facts in (shard["metadata"], row["metadata"]):
        assert {name: facts.get(name) for name in expected} == expected
    assert shard["metadata"]["userId"] == "ada"
    found = call("search_text_collections", collections=["elevated:user:ada"], text="delete a file", k=3)["results"]
    assert [result["id"] for result in found] == [shard["id"]]


def test_a_session_without_turns_is_one_with_nothing_to_do(call: Call, service: Service) -> None:
    nothing = {
        "didCompact": False,
        "clustersFormed": 0,
        "clustersDeclined": 0,
        "turnsRemoved": 0,
        "meanConfidence": 0.0,
    }
    assert call("compact_session", sessionId="nowhere", **PARAMS) == nothing
    sessions.note(service.store, "emptied", "ada")
    assert call("compact_session", sessionId="emptied", **PARAMS) == nothing
