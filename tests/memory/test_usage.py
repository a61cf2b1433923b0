"""Access counts and regret: for what was recalled, not for what stands in the prompt by law."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from libravdb_memory import Config, Memory
from libravdb_memory.namespaces import history_of
from libravdb_memory.usage import REGRET, USE


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store.libravdb", config=hashed) as opened:
        yield opened


def uses(memory: Memory, label: str = USE) -> dict[str, object]:
    store = memory._store
    records = {record.ref: record.text for record in store.page(history_of("ada")).records}
    return {records[ref]: data.get("count", True) for ref, data in store.marks(list(records), label).items()}


def test_recalled_records_are_counted_and_the_tail_is_not(memory: Memory) -> None:
    memory.ingest("herons nest in April", user="ada", session="old")
    memory.ingest("good morning heron", user="ada", session="s")
    assert memory.wait(30)
    for _ in range(3):
        memory.context("where do herons nest?", user="ada", session="s", budget=2000)
    assert memory.wait(30)
    assert uses(memory) == {"herons nest in April": 3}


def test_a_refused_turn_that_is_wanted_later_is_regretted_once(memory: Memory) -> None:
    for word in ("herons", "geese", "swans", "ducks"):
        memory.ingest(f"ok {word}", user="ada", session="old")
    assert memory.wait(30)
    refused = memory.status().gate.judged - memory.status().gate.durable
    assert refused > 0 and memory.status().gate.regretted == 0
    for _ in range(3):
        memory.search("ok", user="ada", k=10)
    assert memory.wait(30)
    assert memory.status().gate.regretted == refused == len(uses(memory, REGRET))


def test_only_what_the_gate_refused_is_regretted(memory: Memory) -> None:
    kept, refused, unjudged = "My name is Ada and I live in Porto by the herons.", "ok herons", "the herons of Porto"
    memory.ingest(kept, user="ada", session="old")
    memory.ingest(refused, user="ada", session="old")
    memory.ingest(unjudged, user="ada", session="old", role="assistant")
    assert memory.wait(30)
    assert (memory.status().gate.judged, memory.status().gate.durable) == (2, 1)
    memory.search("herons", user="ada", k=10)
    assert memory.wait(30)
    assert uses(memory) == {kept: 1, refused: 1, unjudged: 1}
    assert uses(memory, REGRET) == {refused: True}


def test_who_only_looks_leaves_no_trace(memory: Memory) -> None:
    memory.ingest("ok herons", user="ada", session="old")
    assert memory.wait(30)
    assert memory.search("herons", user="ada", count_use=False)
    assert memory.wait(30)
    assert uses(memory) == {} and memory.status().gate.regretted == 0


def test_counts_survive_a_close_and_an_erasure_between(tmp_path: Path, hashed: Config) -> None:
    path = tmp_path / "store.libravdb"
    with Memory.open(path, config=hashed) as memory:
        kept = memory.ingest("herons nest in April", user="ada", session="old")
        gone = memory.ingest("herons nest in May", user="ada", session="old")
        assert memory.wait(30)
        memory.search("herons", user="ada")
        memory.erase(gone.id, user="ada")
    with Memory.open(path, config=hashed) as memory:
        assert uses(memory) == {kept.text: 1}
        assert memory.verify().ok
