"""The newest turns of a session, read page by page from a real store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.growth import takes_eightfold

from libravdb_memory import Config, Memory
from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.engines.token_counter import make_counter
from libravdb_memory.identity import Json
from libravdb_memory.ingest.turns import draft_of
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.protocol import Put
from libravdb_memory.tailing import newest_records, tail_of


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path, config=hashed) as memory:
        yield memory


def converse(memory: Memory, between: int, *, call: Json = "c1") -> None:
    """A tool is called, much else is said, and then its result comes."""
    say = {"user": "ada", "session": "long"}
    memory.ingest("look it up", id="call", role="assistant", metadata={"tool_calls": [call]}, **say)
    for number in range(between):
        memory.ingest(f"meanwhile {number}", id=f"m{number}", role="assistant", **say)
    memory.ingest("found it", id="result", role="tool", metadata={"tool_call_id": "c1"}, **say)


def tail(memory: Memory) -> list[str]:
    settings = AssemblySettings(tail_turns=2, startup_budget=100)
    counter = make_counter(settings.tokenizer)
    return [record.id for record in tail_of(memory.store, counter, settings, history_of("ada"), "long")]


@pytest.mark.parametrize("between", [3, 22, 23, 24, 60, 200])
def test_a_result_comes_with_its_call_however_many_turns_lie_between(memory: Memory, between: int) -> None:
    converse(memory, between)
    assert tail(memory) == ["call", *(f"m{number}" for number in range(between)), "result"]


def test_a_call_may_be_given_whole_as_chat_endpoints_have_it(memory: Memory) -> None:
    converse(memory, 30, call={"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}})
    assert tail(memory)[0] == "call"


@pytest.mark.parametrize("call", [{"id": 7}, {}, 7, None, ["c1"]])
def test_a_call_without_an_id_holds_nothing_together(memory: Memory, call: Json) -> None:
    converse(memory, 30, call=call)
    assert tail(memory)[0] != "call"


def test_a_result_whose_call_was_never_stored_does_not_drag_the_session_in(memory: Memory) -> None:
    converse(memory, 400, call="another")
    found = tail(memory)
    assert found[-1] == "result" and len(found) < 30
    counter = make_counter(AssemblySettings().tokenizer)
    read = newest_records(memory.store, counter, history_of("ada"), "long", target=10, least=2)
    assert len(read) <= 264


def bundled(memory: Memory, session: str, length: int, before: int = 0) -> None:
    """So many turns of one bundle, behind so many of none."""
    history = [
        Turn(f"t{at}", "a turn", "ada", session, "user", at, metadata={"bundle": "b"} if at >= before else {})
        for at in range(before + length)
    ]
    memory.store.commit([Put(draft_of(turn), append_only=True) for turn in history])


def test_a_bundle_eight_times_as_long_takes_no_more_than_that_to_read(memory: Memory) -> None:
    counter, settings = make_counter(AssemblySettings().tokenizer), AssemblySettings()
    lengths = {"few": 600, "many": 4800}
    for session, length in lengths.items():
        bundled(memory, session, length)

    def read(session: str) -> None:
        assert len(tail_of(memory.store, counter, settings, history_of("ada"), session)) == lengths[session]

    assert takes_eightfold(lambda: read("few"), lambda: read("many"))


@pytest.mark.parametrize("length", [3, 24, 250, 600])
def test_the_first_bundle_of_the_base_tail_is_read_whole_and_not_much_before_it(memory: Memory, length: int) -> None:
    bundled(memory, "long", length, before=1000 - length)
    counter, settings = make_counter(AssemblySettings().tokenizer), AssemblySettings(tail_turns=2, startup_budget=1)
    read = newest_records(memory.store, counter, history_of("ada"), "long", target=1, least=2)
    assert [record.id for record in read] == [f"t{at}" for at in range(1000 - len(read), 1000)]
    assert length < len(read) <= max(length + 24, length + length // 2 + 1)
    assert len(tail_of(memory.store, counter, settings, history_of("ada"), "long")) == length
