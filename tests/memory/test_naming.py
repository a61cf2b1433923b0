"""Names of users and sessions: trimmed alike on every path, bounded, never another type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from libravdb_memory import Config, InvalidInputError, Memory
from libravdb_memory.namespaces import MAX_NAME_BYTES

BY_NAME: dict[str, Callable[..., Any]] = {
    "ingest": lambda memory, **names: memory.ingest("x", **names),
    "search": lambda memory, **names: memory.search("x", **names),
    "get": lambda memory, **names: memory.get("x", **names),
    "context": lambda memory, **names: memory.context("x", **names),
    "receipts": lambda memory, **names: memory.receipts(**names),
    "explain_gate": lambda memory, **names: memory.explain_gate("x", **names),
    "erase": lambda memory, **names: memory.erase(**names),
}


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store.libravdb", config=hashed) as opened:
        yield opened


@pytest.mark.parametrize("verb", BY_NAME)
@pytest.mark.parametrize("field", ["user", "session"])
def test_a_name_that_is_too_long_is_refused_by_every_verb(memory: Memory, verb: str, field: str) -> None:
    for name in ("n" * (MAX_NAME_BYTES + 1), "é" * (MAX_NAME_BYTES // 2 + 1)):
        with pytest.raises(InvalidInputError, match=f"at most {MAX_NAME_BYTES}") as refusal:
            BY_NAME[verb](memory, **{field: name})
        assert refusal.value.field == field


def test_a_name_of_the_greatest_length_serves_everywhere(memory: Memory) -> None:
    name = "é" * (MAX_NAME_BYTES // 2)
    turn = memory.ingest("herons nest in April", user=name, session=name)
    assert memory.wait(30)
    assert memory.get(turn.id, user=name, session=name) == turn
    assert [hit.id for hit in memory.search("herons", user=name, session=name)] == [turn.id]
    assert memory.erase(user=name, session=name).records == 1


def test_a_session_is_one_whatever_space_surrounds_its_name(memory: Memory) -> None:
    turn = memory.ingest("herons nest in April", user=" ada ", session=" s9 ")
    same = memory.ingest("herons nest in May", user="ada", session="s9")
    assert (turn.user, turn.session) == (same.user, same.session) == ("ada", "s9")
    assert memory.wait(30)
    assert memory.get(turn.id, user="ada\n", session="\ts9") == turn
    for session in ("s9", " s9"):
        assert len(memory.search("herons", user="ada", session=session)) == 2
        assert "in May" in memory.context("and now?", user="ada", session=session, budget=900).text
    assert len(memory.receipts(user="ada", session="s9 ")) == 2
    assert memory.erase(user="ada", session=" s9 ").records == 2


def test_a_blank_session_counts_as_none(memory: Memory) -> None:
    turn = memory.ingest("herons", user="ada", session="  ")
    assert turn.session == "default"
    assert memory.get(turn.id, user=" ", session="") == turn
