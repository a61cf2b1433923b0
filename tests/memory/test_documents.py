"""Authored documents: loaded whole or not at all, and seen by the next context."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.memory.conversing import with_assembly

from libravdb_memory import Config, InvalidInputError, Memory, NotFoundError
from libravdb_memory.errors import RulesOverrunError
from libravdb_memory.ingest.partition import Tier
from libravdb_memory.model import Document


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed) as opened:
        yield opened


def rules_in(memory: Memory) -> str:
    return memory.context("hello", user="ada", session="s", budget=4000).text


def test_the_next_context_sees_a_load_a_replacement_and_a_removal(memory: Memory) -> None:
    memory.load_document("a.md", "- Never force-push.\n")
    memory.load_document("b.md", "- Always sign commits.\n")
    assert rules_in(memory).index("Never force-push.") < rules_in(memory).index("Always sign commits.")
    memory.load_document("a.md", "- Never delete tags.\n")
    replaced = rules_in(memory)
    assert "force-push" not in replaced
    assert replaced.index("Never delete tags.") < replaced.index("Always sign commits.")
    memory.remove_document("a.md")
    assert "delete tags" not in rules_in(memory) and "Always sign commits." in rules_in(memory)
    with pytest.raises(NotFoundError):
        memory.remove_document("a.md")


def test_a_refused_load_changes_nothing(memory: Memory) -> None:
    memory.load_document("a.md", "- Never force-push.\n\nThe office is by the harbour.\n")
    before, records = rules_in(memory), memory.status().store.records
    with pytest.raises(RulesOverrunError, match=r"a\.md"):
        memory.load_document("a.md", "- Never " + "forget this " * 1000 + "\n")
    with pytest.raises(RulesOverrunError):
        memory.load_document("b.md", "- Never " + "forget this " * 1000 + "\n")
    assert rules_in(memory).split("<recalled")[0].strip() == before.split("<recalled")[0].strip()
    assert list(memory.documents()) == ["a.md"]
    assert memory.status().store.records >= records
    assert memory.verify().ok


def test_rules_survive_a_restart_in_the_same_bytes(tmp_path: Path, hashed: Config) -> None:
    with Memory.open(tmp_path / "store", config=hashed) as memory:
        memory.load_document("a.md", "---\nowner: ada\n---\n- Never force-push.\n\n> Prefer short answers.\n")
        before = rules_in(memory)
    with Memory.open(tmp_path / "store", config=hashed) as memory:
        assert rules_in(memory) == before != ""


def test_documents_loaded_at_once_are_all_there_and_whole(memory: Memory) -> None:
    def load(number: int) -> None:
        for version in range(3):
            memory.load_document(f"{number}.md", f"- Never skip step {number}.{version}.\n- Never hide it.\n")

    threads = [threading.Thread(target=load, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = rules_in(memory)
    for number in range(6):
        assert f"step {number}.2." in text and f"step {number}.1." not in text
    assert text.count("Never hide it.") == 6


def test_a_reader_meets_one_version_or_the_other_never_a_mixture(memory: Memory) -> None:
    versions = [f"- Never mix {letter}1.\n- Never mix {letter}2.\n" for letter in "xyz"]
    memory.load_document("a.md", versions[0])
    stop = threading.Event()
    seen: list[str] = []

    def read() -> None:
        while not stop.is_set():
            seen.append(rules_in(memory))

    reader = threading.Thread(target=read)
    reader.start()
    for round_ in range(12):
        memory.load_document("a.md", versions[round_ % 3])
    stop.set()
    reader.join()
    assert seen
    for text in seen:
        assert sum(f"mix {letter}1." in text and f"mix {letter}2." in text for letter in "xyz") == 1
        assert text.count("Never mix") == 2


@pytest.mark.slow
def test_a_thousand_documents_are_loaded_and_replaced(tmp_path: Path, hashed: Config) -> None:
    config = with_assembly(hashed, startup_budget=200_000)
    with Memory.open(tmp_path / "store", config=config) as memory:
        for number in range(1000):
            memory.load_document(f"{number}.md", f"- Never skip step {number}.\n\nLore of {number}.\n")
        memory.load_document("500.md", "- Never skip the new step.\n")
        context = memory.context("hello", user="ada", session="s", budget=60_000)
        assert context.degraded == () or "not embedded yet" in context.degraded[0]
        assert "step 499." in context.text and "the new step" in context.text and "step 500." not in context.text
        assert len(memory.documents()) == 1000


def test_a_change_loads_and_removes_in_one_commit(memory: Memory) -> None:
    memory.load_document("a.md", "- Never force-push.\n")
    before = memory.status().store.sequence
    memory.change_documents([Document("b.md", "- Never force-push.\n")], remove=["a.md", "never-there.md"])
    assert list(memory.documents()) == ["b.md"] and rules_in(memory).count("force-push") == 1
    assert memory.store.changes_since(before) and memory.verify().ok


def test_of_many_documents_only_the_one_that_does_not_fit_is_refused(memory: Memory) -> None:
    refused, taken = memory.change_documents(
        [Document("a.md", "- Never " + "forget this " * 1000), Document("b.md", "- Never hide it.")]
    )
    assert isinstance(refused, RulesOverrunError) and not isinstance(taken, RulesOverrunError)
    assert list(memory.documents()) == ["b.md"]


def test_what_is_removed_makes_room_for_what_is_loaded(memory: Memory) -> None:
    long = "- Never " + "forget this " * 400
    memory.load_document("a.md", long)
    with pytest.raises(RulesOverrunError):
        memory.load_document("b.md", long)
    (taken,) = memory.change_documents([Document("b.md", long)], remove=["a.md"])
    assert not isinstance(taken, RulesOverrunError)


def test_lore_states_no_rule_and_costs_no_budget(memory: Memory) -> None:
    note = "---\nowner: ada\n---\n- Never " + "forget the tide " * 1000 + "\n\nYou must feed the gulls.\n"
    (taken,) = memory.change_documents([Document("note.md", note, lore=True)])
    assert not isinstance(taken, RulesOverrunError)
    assert memory.documents()["note.md"].of_tier(Tier.VARIANT) == memory.documents()["note.md"].nodes
    memory.load_document("rules.md", "- Never force-push.\n")
    frame = rules_in(memory).split("</authored_context>")[0]
    assert "Never force-push." in frame and "gulls" not in frame and "owner" not in frame


def test_a_document_named_twice_in_one_change_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInputError):
        memory.change_documents([Document("a.md", "x"), Document("a.md", "y")])
    with pytest.raises(InvalidInputError):
        memory.change_documents([Document("a.md", "x")], remove=["a.md"])


def test_an_import_brings_its_rules_into_the_next_context(tmp_path: Path, hashed: Config, memory: Memory) -> None:
    out = io.StringIO()
    with Memory.open(tmp_path / "other", config=hashed) as other:
        other.load_document("a.md", "- Never force-push.\n")
        other.export(out)
    assert "force-push" not in rules_in(memory)
    memory.import_(out.getvalue().splitlines())
    assert "Never force-push." in rules_in(memory)
