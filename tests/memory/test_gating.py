"""The gate at work on a real store: what it reads, what it keeps, and that it never asks twice."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.memory.conversing import counted

from libravdb_memory import Config, Memory
from libravdb_memory.gating import DURABLE, JUDGED, REPETITION
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.protocol import Key, Marked
from libravdb_memory.store.sqlite.store import SqliteStore

FACT = "I prefer window seats, my sister Ada lives in Porto and we meet on 3 May 2024."
NOISE = "ok"


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store.libravdb", config=hashed) as opened:
        yield opened


def marks_of(memory: Memory, text: str, label: str) -> dict[str, object] | None:
    store, history = memory._store, history_of("ada")
    record = next(record for record in store.page(history).records if record.text == text)
    return {**found} if (found := store.marks([record.ref], label).get(record.ref)) is not None else None


def test_a_decision_takes_exactly_two_searches(tmp_path: Path, hashed: Config) -> None:
    with counted(tmp_path, hashed) as (memory, store):
        for number in range(5):
            memory.ingest(f"{FACT} {number}", user="ada", session="s")
            memory.ingest("Noted.", user="ada", session="s", role="assistant")
        assert memory.wait(30)
        history = history_of("ada")
        assert store.searches == [(history, Marked(DURABLE)), (history, Marked(REPETITION))] * 5


def test_a_turn_does_not_repeat_itself(memory: Memory) -> None:
    memory.ingest(FACT, user="ada", session="s")
    assert memory.wait(30)
    facts = marks_of(memory, FACT, JUDGED)
    assert facts is not None
    assert facts["inputFreq"] == 0 and facts["h"] == 1


def test_repetition_counts_only_what_came_before_in_order_of_arrival(memory: Memory) -> None:
    for number in range(4):
        memory.ingest("we ship the parser on friday", user="ada", session=f"s{number}")
    assert memory.wait(30)
    store = memory._store
    records = store.page(history_of("ada")).records
    found = store.marks([record.ref for record in records], JUDGED)
    assert [found[record.ref]["inputFreq"] for record in records] == pytest.approx([0, 0.2, 0.4, 0.6])


def test_the_threshold_is_enforced_and_every_signal_is_kept(memory: Memory) -> None:
    for number in range(7):
        memory.ingest(f"{FACT} {number}", user="ada", session="s")
    for _ in range(2):
        memory.ingest(NOISE, user="ada", session="s")
    memory.ingest(FACT, user="ada", session="s", role="assistant")
    assert memory.wait(30)
    store = memory._store
    judged = store.page(history_of("ada"), where=Marked(JUDGED)).records
    assert len(judged) == 9
    facts = store.marks([record.ref for record in judged], JUDGED)
    durable = store.marks([record.ref for record in judged], DURABLE)
    for record in judged:
        signals = facts[record.ref]
        assert {"g", "t", "h", "r", "d", "p", "a", "dtech", "gconv", "gtech"} <= set(signals)
        score = signals["g"]
        assert isinstance(score, float)
        assert (score >= 0.35) == bool(signals["durable"]) == (record.ref in durable)
    assert facts[judged[0].ref]["durable"] is True
    assert memory.status().gate.judged == 9
    assert 0 < memory.status().gate.durable < 9


def test_a_killed_gate_takes_up_where_it_stood_and_judges_nothing_twice(tmp_path: Path, hashed: Config) -> None:
    program = (
        "import os, sys\nfrom libravdb_memory import Memory, load_config\n"
        "config = load_config(environ={'LIBRAVDB_HOME': sys.argv[1], 'LIBRAVDB_EMBEDDING_BACKEND': 'hashed'})\n"
        "memory = Memory.open(sys.argv[2], config=config)\n"
        "for number in range(60):\n    memory.ingest(f'I prefer window seat {number}', user='ada', session='s')\n"
        "memory.wait(0.05)\nos._exit(9)\n"
    )
    path = tmp_path / "store.libravdb"
    done = subprocess.run([sys.executable, "-c", program, str(hashed.home), str(path)], check=False, timeout=120)
    assert done.returncode == 9
    with SqliteStore.open(path, settings=hashed.store) as store:
        before = {mark.ref: mark.data for mark in store.all_marks() if mark.label == JUDGED}
    with Memory.open(path, config=hashed) as memory:
        assert memory.wait(60)
        records = memory._store.page(history_of("ada")).records
        after = memory._store.marks([record.ref for record in records], JUDGED)
    assert len(after) == 60
    assert before.items() <= after.items()


def test_looking_again_judges_nothing_again(tmp_path: Path, hashed: Config) -> None:
    path = tmp_path / "store.libravdb"
    with Memory.open(path, config=hashed) as memory:
        memory.ingest(FACT, user="ada", session="s")
        assert memory.wait(30)
    from libravdb_memory.engines.hashed import HashedEmbedder

    other = HashedEmbedder(dimensions=128)
    with Memory.open(path, config=hashed, embedder=other, on_mismatch="reindex") as memory:
        before = marks_of(memory, FACT, JUDGED)
        memory.reindex()
        assert marks_of(memory, FACT, JUDGED) == before
        assert memory.status().gate.judged == 1


def test_what_memory_injected_is_no_news_when_it_comes_back(memory: Memory) -> None:
    story = "The grey heron nests on the northern shore of the lake near the old wooden mill since spring."
    memory.ingest(story, user="ada", session="old", role="assistant")
    memory.ingest("hello there", user="ada", session="s")
    assert memory.wait(30)
    context = memory.context("where does the heron nest?", user="ada", session="s", budget=2000)
    assert story in context.text
    memory.ingest(f"You said: {story}", user="ada", session="s")
    assert memory.wait(30)
    facts = marks_of(memory, f"You said: {story}", JUDGED)
    assert facts is not None and facts["echo"] is True and facts["durable"] is False
    assert marks_of(memory, f"You said: {story}", REPETITION) is None


def test_what_a_turn_adds_to_an_echo_is_judged_for_itself(memory: Memory) -> None:
    story = "The grey heron nests on the northern shore of the lake near the old wooden mill since spring."
    own = "My sister Ada moved to Porto on 3 May 2024 and prefers the window seat on every train."
    memory.ingest(story, user="ada", session="old", role="assistant")
    assert memory.wait(30)
    memory.context("where does the heron nest?", user="ada", session="s", budget=2000)
    memory.ingest(f"{story} {own}", user="ada", session="s")
    assert memory.wait(30)
    facts = marks_of(memory, f"{story} {own}", JUDGED)
    assert facts is not None and facts["echo"] is True and facts["durable"] is True


def test_an_explanation_speaks_of_the_words_that_were_judged(memory: Memory) -> None:
    story = "The grey heron nests on the northern shore of the lake near the old wooden mill since spring."
    own = "My sister Ada prefers the window seat."
    memory.ingest(story, user="ada", session="old", role="assistant")
    assert memory.wait(30)
    memory.context("where does the heron nest?", user="ada", session="s", budget=2000)
    decision = memory.explain_gate(f"{story} {own}", user="ada")
    assert decision.heard == own
    assert decision.fired and all(end <= len(own) for fired in decision.fired for _, end in fired.spans)
    assert memory.explain_gate(f"{story} So.", user="ada").durable is False, "as the gate itself decides"
    assert memory.explain_gate(own, user="ada").heard is own


def test_a_repeated_prompt_is_no_echo_of_what_was_recalled_for_it(memory: Memory) -> None:
    prompt = "please remember that the release train leaves every second thursday at noon sharp"
    for number in range(3):
        memory.context(prompt, user="ada", session=f"s{number}", budget=2000)
        memory.ingest(prompt, user="ada", session=f"s{number}")
        assert memory.wait(30)
    store = memory._store
    records = store.page(history_of("ada")).records
    found = store.marks([record.ref for record in records], JUDGED)
    assert [found[record.ref]["echo"] for record in records] == [False] * 3
    assert [found[record.ref]["inputFreq"] for record in records] == pytest.approx([0, 0.2, 0.4])


def test_an_erased_turn_is_no_neighbour_any_more(memory: Memory) -> None:
    turn = memory.ingest(FACT, user="ada", session="s")
    memory.ingest("something else entirely", user="ada", session="s")
    assert memory.wait(30)
    assert memory.explain_gate(FACT, user="ada").frequency == pytest.approx(0.2)
    memory.erase(turn.id, user="ada")
    assert memory.explain_gate(FACT, user="ada").frequency == 0
    assert memory._store.get(Key(history_of("ada"), turn.id, "s")) is None
