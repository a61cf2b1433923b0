"""Erasing beside other work, and what an import may not bring."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from libravdb_memory import Config, InvalidInputError, Memory
from libravdb_memory.errors import StoreError, StoreFullError, StoreReadOnlyError
from libravdb_memory.identity import canonical_json, content_hash
from libravdb_memory.store.protocol import Erasure, Selection


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed) as opened:
        yield opened


def test_no_receipt_quotes_an_erased_turn_even_while_contexts_are_made(memory: Memory) -> None:
    for number in range(10):
        turn = memory.ingest(f"the secret walrus {number}", user="v", session="s1")
        stop = threading.Event()

        def ask(stop: threading.Event = stop) -> None:
            while not stop.is_set():
                memory.context("where is the animal?", user="v", session="s2", budget=300)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        assert memory.erase(turn.id, user="v").records == 1
        stop.set()
        for thread in threads:
            thread.join()
        assert not [receipt for receipt in memory.receipts(user="v", limit=200) if turn.text in str(receipt.offer)]


def test_an_erasure_that_is_broken_off_lets_no_receipt_be_written_that_quotes_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    turn = memory.ingest("the secret walrus", user="v", session="s1")
    with monkeypatch.context() as during:
        during.setattr(memory._building, "wait_for_those_under_way", interrupted)
        memory.context("the secret walrus", user="v", session="s2", budget=300)
        with pytest.raises(KeyboardInterrupt):
            memory.erase(turn.id, user="v")
    kept = memory.context("where is the animal?", user="v", session="s2", budget=300).receipt
    assert [receipt.id for receipt in memory.receipts(user="v", limit=200)] == [kept.id]


@pytest.mark.parametrize("refusal", [StoreFullError, StoreReadOnlyError])
def test_an_erasure_that_the_store_refuses_whole_leaves_no_trace(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, refusal: type[StoreFullError | StoreReadOnlyError]
) -> None:
    def refused(_: Selection) -> Erasure:
        raise refusal(memory.store.path)

    memory.ingest("the secret walrus", user="v", session="s1", id="t")
    earlier = memory.context("the secret walrus", user="v", session="s1", budget=300).receipt
    with monkeypatch.context() as during:
        during.setattr(memory.store, "erase", refused)
        for _ in range(2):
            with pytest.raises(refusal):
                memory.erase(user="v", session="s1")
    assert memory._receipts._erased == [], "its words are not held"
    later = memory.context("the secret walrus", user="v", session="s1", budget=300).receipt
    kept = [later.id, earlier.id]
    assert [receipt.id for receipt in memory.receipts(user="v")] == kept
    assert [memory.why(name).id for name in kept] == kept
    assert memory.erase(user="v", session="s1").records >= 1
    assert memory.receipts(user="v") == ()


def test_an_erasure_of_which_nobody_knows_how_far_it_came_lets_no_receipt_be_written_that_quotes_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    erase = memory.store.erase

    def erased(selection: Selection) -> Erasure:
        erase(selection)
        raise StoreError("what came behind the commit failed")

    turn = memory.ingest("the secret walrus", user="v", session="s1")
    memory.context("the secret walrus", user="v", session="s2", budget=300)
    with monkeypatch.context() as during:
        during.setattr(memory.store, "erase", erased)
        with pytest.raises(StoreError):
            memory.erase(turn.id, user="v")
    memory.context("the secret walrus", user="v", session="s2", budget=300)
    assert memory.receipts(user="v") == ()


def test_many_receipts_can_be_added_while_an_erasure_waits_for_a_context(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those who are under way write receipts when many wait; nobody waits for the other."""
    turn = memory.ingest("the secret walrus", user="v", session="s1")
    wait, asked = memory._building.wait_for_those_under_way, list[str]()

    def while_waiting() -> None:
        for _ in range(100):
            asked.append(memory.context("the secret walrus", user="v", session="s2", budget=300).receipt.id)
        wait()

    monkeypatch.setattr(memory._building, "wait_for_those_under_way", while_waiting)
    assert memory.erase(turn.id, user="v").records == 1
    assert len(asked) == 100 and memory.receipts(user="v", limit=200) == ()


def test_each_of_several_erasures_counts_its_own_turn(memory: Memory) -> None:
    turns = [memory.ingest(f"walrus {number}", user="v", session="s1") for number in range(4)]
    for _ in range(3):
        memory.context("walrus", user="v", session="s2", budget=400)
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda turn=turn: counts.append(memory.erase(turn.id, user="v").records))
        for turn in turns
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [1, 1, 1, 1]


@pytest.mark.parametrize("field", ["user", "session", "session_key", "agent_id"])
@pytest.mark.parametrize("value", [5, 0, False, b"x", []])
def test_a_name_that_is_no_text_is_refused_by_its_field(memory: Memory, field: str, value: object) -> None:
    for verb in (memory.ingest, memory.search, memory.context):
        with pytest.raises(InvalidInputError) as refusal:
            verb("text", **{field: value})  # type: ignore[arg-type]
        assert refusal.value.field == field


def test_erasing_a_blank_user_is_refused(memory: Memory) -> None:
    memory.ingest("kept")
    with pytest.raises(InvalidInputError):
        memory.erase(user=" ")
    assert memory.status().turns == 1


def line_of(collection: str, record_id: str, text: str, ts: int = 0, **metadata: object) -> str:
    digest = content_hash("", record_id, ts, text, canonical_json(metadata))  # type: ignore[arg-type]
    record = {"type": "record", "collection": collection, "group": "", "id": record_id, "ts": ts, "text": text}
    return json.dumps({**record, "metadata": metadata, "hash": digest})


@pytest.mark.parametrize(
    "line",
    [
        line_of("_internal:gate", "judged-through", "evil"),
        line_of("receipt:ada", "r", "not base64!!"),
        line_of("history:ada", "t", "late", ts=2**62),
        line_of("history:ada", " ", "blank id"),
        line_of("history:ada", "i" * 5000, "long id"),
        line_of("history:ada", "t", "large", n=10**100),
        '{"type":"record","collection":"history:ada","group":"","id":"t","ts":0,"text":"\\ud800","metadata":{}}',
        '{"type":"record","collection":"history:ada","group":"","id":"t","ts":0,"text":"","metadata":{"a":NaN}}',
        "[" * 100_000,
    ],
)
def test_an_import_obeys_the_rules_of_ingest(memory: Memory, line: str) -> None:
    with pytest.raises(InvalidInputError, match="import line 2"):
        memory.import_(['{"format":"libravdb-memory","version":1}', line])
    assert memory.status().turns == 0
