"""What the gate decided, read back."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from libravdb_memory import Config, Memory
from libravdb_memory.judgements import judgements
from libravdb_memory.store.sqlite.store import SqliteStore


def test_every_judged_turn_is_read_back_as_it_was_judged(tmp_path: Path, hashed: Config) -> None:
    file = tmp_path / "store"
    with Memory.open(file, config=hashed) as memory:
        expected = []
        for text in ("I prefer window seats on trains.", "ok", "ok", "My name is Ada and I live in Porto."):
            expected.append(memory.explain_gate(text, user="ada"))
            memory.ingest(text, user="ada", session="s1")
            assert memory.wait(30)
        memory.ingest("Noted.", user="ada", session="s1", role="assistant")
        memory.ingest("I prefer tea.", user="bob", session="s1")
        assert memory.wait(30)
        memory.search("window seats", user="ada", k=1)
    with closing(SqliteStore.open(file)) as store:
        found = list(judgements(store, "ada"))
    assert [each.turn.text for each in found][:1] == ["I prefer window seats on trains."]
    assert [(each.durable, dict(each.signals)) for each in found] == [
        (decision.durable, decision.signals()) for decision in expected
    ]
    assert [each.uses for each in found] == [1, 0, 0, 0]


def test_more_judgements_than_a_page_are_read(tmp_path: Path, hashed: Config) -> None:
    file = tmp_path / "store"
    with Memory.open(file, config=hashed) as memory:
        for n in range(510):
            memory.ingest(f"ticket {n}", user="ada", id=f"t{n}")
        assert memory.wait(60)
    with closing(SqliteStore.open(file)) as store:
        assert [each.turn.id for each in judgements(store, "ada")] == [f"t{n}" for n in range(510)]
