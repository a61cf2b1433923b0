"""Authored documents, dreams and the lifecycle journal."""

from __future__ import annotations

import pytest
from tests.serve.reference.conftest import Call

TEXT = """---
hop_targets: [OTHER.md]
---

# Notes

- Never push to main.

> Prefer small commits.

The office has a red door.
"""
META = {
    "sourceRoot": "notes",
    "sourcePath": "notes/NOTES.md",
    "sourceKind": "generic",
    "fileHash": "sha256:0f",
    "sourceSize": 120,
    "sourceMtimeMs": 1700000000000.25,
    "ingestVersion": 3,
    "hashBackend": "wasm-fnv1a64",
}


def ingest(call: Call, name: str = "NOTES.md", text: str = TEXT, **more: object) -> None:
    assert call("ingest_markdown_document", sourceDoc=name, text=text, sourceMeta=META, **more) == {"ok": True}


def test_a_document_is_divided_into_tiers_with_its_source(call: Call) -> None:
    ingest(call, coreDoc=True, tokenizerId="any")
    tiers = {}
    for tier in ("hard", "soft", "variant"):
        tiers[tier] = call("list_collection", collection=f"authored:{tier}")["results"]
    assert [node["text"].strip() for node in tiers["soft"]] == ["> Prefer small commits."]
    assert "- Never push to main." in [node["text"].strip() for node in tiers["hard"]]
    lore = tiers["variant"][-1]
    facts = lore["metadata"]
    assert lore["id"] == f"NOTES.md#{facts['ordinal']:06d}"
    assert facts["source_doc"] == "NOTES.md"
    assert (facts["tier"], facts["authority"], facts["node_kind"]) == (0, 1.0, "paragraph")
    assert facts["hop_targets"] == ["OTHER.md"]
    assert (facts["source_root"], facts["source_path"], facts["source_kind"]) == ("notes", "notes/NOTES.md", "generic")
    assert (facts["file_hash"], facts["source_mtime_ms"]) == ("sha256:0f", 1700000000000.25)
    assert {"position", "token_estimate", "promoted"} <= set(facts)
    assert not {"core", "partition", "lore"} & set(facts)


def test_nodes_are_listed_by_document_and_place(call: Call) -> None:
    paragraphs = "\n\n".join(f"Sentence number {number} of the notes." for number in range(12))
    ingest(call, "notes b", paragraphs)
    ingest(call, "notes", paragraphs)
    nodes = call("list_collection", collection="authored:variant")["results"]
    places = [(node["metadata"]["source_doc"], node["metadata"]["position"]) for node in nodes]
    assert places == sorted(places)
    assert len(places) == 24


def test_a_document_that_is_loaded_again_is_replaced_whole(call: Call, listed: Call) -> None:
    ingest(call)
    ingest(call, text="Only this is left.")
    assert listed("authored:hard") == listed("authored:soft") == {}
    assert list(listed("authored:variant").values()) == ["Only this is left."]
    found = call("search_text", collection="authored:variant", text="what is left", k=1)["results"]
    assert found[0]["text"] == "Only this is left."
    ingest(call, text="")
    assert listed("authored:variant") == {}


def test_hard_rules_that_do_not_fit_are_refused_and_nothing_changes(ask: Call, call: Call, listed: Call) -> None:
    ingest(call)
    before = listed("authored:hard")
    rules = "\n".join(f"- Rule number {number} must be kept by everybody at all times." for number in range(500))
    error = ask("ingest_markdown_document", {"sourceDoc": "NOTES.md", "text": rules})["error"]
    assert error["data"]["kind"] == "rules_overrun"
    assert listed("authored:hard") == before


def test_a_deleted_document_takes_its_nodes_along(call: Call, listed: Call) -> None:
    ingest(call)
    ingest(call, "KEPT.md", "Lore.")
    assert call("delete_authored_document", sourceDoc="NOTES.md") == {"ok": True}
    assert call("delete_authored_document", sourceDoc="NOTES.md") == {"ok": True}
    assert listed("authored:hard") == listed("authored:soft") == {}
    assert list(listed("authored:variant").values()) == ["Lore."]


# ── dreams ───────────────────────────────────────────────────────────────────────────────────────────────────────


def dream(text: str, score: float = 0.8, recalls: int = 3, questions: int = 2) -> dict[str, object]:
    return {"text": text, "score": score, "recallCount": recalls, "uniqueQueries": questions, "section": "Deep sleep"}


def test_dreams_are_promoted_by_their_figures(call: Call, listed: Call) -> None:
    good = dream("Ada reviews every migration by hand.")
    poor = [
        dream("too short"),
        dream("a score that is a little too low", score=0.59),
        dream("not recalled often enough, once only", recalls=1),
        dream("recalled by one and the same question", questions=1),
    ]
    done = call("promote_dream_entries", userId="ada", sourceDoc="DREAMS.md", entries=[good, *poor], sourceRoot="/d")
    assert done == {"promoted": 1, "rejected": 4}
    assert listed("dream:ada") == {"DREAMS.md#dream#000000": "Ada reviews every migration by hand."}
    (found,) = call("search_text", collection="dream:ada", text="who reviews migrations?", k=2)["results"]
    assert found["metadata"]["source_doc"] == "DREAMS.md"
    assert found["metadata"]["source_root"] == "/d"
    assert found["metadata"]["section"] == "Deep sleep"


def test_a_new_run_replaces_the_dreams_of_its_diary_alone(call: Call, listed: Call) -> None:
    for diary in ("A.md", "B.md"):
        entries = [dream(f"dream {number} of the diary {diary}") for number in range(3)]
        call("promote_dream_entries", userId="ada", sourceDoc=diary, entries=entries)
    call("promote_dream_entries", userId="ada", sourceDoc="A.md", entries=[dream("another dream, and only this one")])
    assert sorted(listed("dream:ada")) == ["A.md#dream#000000", *(f"B.md#dream#00000{number}" for number in range(3))]
    nothing = call("promote_dream_entries", userId="ada", sourceDoc="A.md", entries=[dream("short")])
    assert nothing == {"promoted": 0, "rejected": 1}
    assert listed("dream:ada")["A.md#dream#000000"] == "another dream, and only this one"


# ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def hint(call: Call) -> Call:
    def hinted(number: int, session: str = "s1") -> None:
        answer = call(
            "session_lifecycle_hint",
            hook="before_reset",
            reason=f"reason {number}",
            sessionId=session,
            sessionFile="/f",
            messageCount=12.0,
            durationMs=1.5,
            transcriptArchived=True,
            nextSessionId="s9",
        )
        assert answer == {"ok": True, "hook": "before_reset", "sessionId": session, "reason": f"reason {number}"}

    return hinted


def test_hints_are_journaled_oldest_first_and_a_limit_takes_the_newest(call: Call, hint: Call) -> None:
    for number in range(5):
        hint(number, "s1" if number != 2 else "s2")

    def reasons(**params: object) -> list[str]:
        return [found["metadata"]["reason"] for found in call("list_lifecycle_journal", **params)["results"]]

    assert reasons() == [f"reason {number}" for number in range(5)]
    assert reasons(limit=2) == ["reason 3", "reason 4"]
    assert reasons(limit=-1) == reasons()
    assert reasons(sessionId="s1") == ["reason 0", "reason 1", "reason 3", "reason 4"]
    assert reasons(sessionId="s1", limit=1) == ["reason 4"]
    assert reasons(sessionId="s7") == []
    assert call("status")["lifecycleHintCount"] == 5


def test_a_hint_keeps_what_the_host_said(call: Call, hint: Call) -> None:
    hint(0)
    (found,) = call("list_lifecycle_journal")["results"]
    facts = found["metadata"]
    assert found["text"] == facts["hook"] == "before_reset"
    assert (facts["sessionId"], facts["messageCount"], facts["durationMs"]) == ("s1", 12, 1.5)
    assert (facts["transcriptArchived"], facts["nextSessionId"]) == (True, "s9")
    assert call("list_collection", collection="_internal:lifecycle_journal") == {"results": [found]}


def test_a_hint_is_no_memory(call: Call, hint: Call) -> None:
    hint(0)
    assert call("list_collection", collection="session:s1") == {"results": []}
    assert call("memory_search", userId="ada", query="reason before_reset")["results"] == []
