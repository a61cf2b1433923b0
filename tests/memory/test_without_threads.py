"""Where the system gives no new thread, what would be done beside is done in its turn, and gives the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from libravdb_memory import Config, Memory
from libravdb_memory.beside import begun
from libravdb_memory.engines.http_json import JsonClient, RequestFailed
from libravdb_memory.engines.summarising.interruptible import post

Refuse = Callable[[], None]


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Refuse:
    """From when it is called the system gives no new thread."""

    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    return lambda: monkeypatch.setattr(threading.Thread, "start", start)


@pytest.fixture
def config(hashed: Config) -> Config:
    compaction = replace(hashed.compaction, trigger_tokens=0, cluster_target=4)
    return replace(hashed, compaction=compaction, assembly=replace(hashed.assembly, startup_budget=100))


@pytest.fixture
def both(tmp_path: Path, config: Config) -> Iterator[list[Memory]]:
    """Two that hold the same."""
    memories = [Memory.open(tmp_path / name, config=config) for name in ("one", "other")]
    for memory in memories:
        for number in range(60):
            text = f"On day {number} the ferry left at {number + 3} with Oyelaran{number}, and it came back very late."
            memory.ingest(text, user="ada", session="s", id=f"t{number}", ts=number)
        assert memory.wait(60)
    yield memories
    for memory in memories:
        memory.close()


def test_a_search_and_a_context_are_the_same_without_threads(both: list[Memory], refuse: Refuse) -> None:
    def asked(memory: Memory) -> tuple[object, ...]:
        hits = memory.search("when did the ferry leave?", user="ada")
        context = memory.context("when did the ferry leave?", user="ada", session="new")
        return [hit.turn.id for hit in hits], hits.degraded, context.text, context.degraded

    expected = asked(both[0])
    refuse()
    assert asked(both[1]) == expected


def test_a_compaction_is_the_same_without_threads(both: list[Memory], refuse: Refuse) -> None:
    def compacted(memory: Memory) -> list[str]:
        done = memory.compact(user="ada", session="s")
        return [node.text for node in done.summaries]

    expected = compacted(both[0])
    assert len(expected) > 8, "more than one share is prepared"
    refuse()
    assert compacted(both[1]) == expected
    assert both[1].verify().ok


def test_what_was_done_at_once_for_want_of_a_thread_is_not_done_again_by_the_next_that_is_free(refuse: Refuse) -> None:
    held, done = threading.Event(), list[int]()
    pool = ThreadPoolExecutor(2)
    busy = pool.submit(held.wait, 30)
    refuse()
    result = begun(pool, lambda: done.append(threading.get_ident()))
    held.set()
    assert busy.result() and result() is None
    pool.shutdown()
    assert done == [threading.get_ident()]


def test_a_request_that_nobody_can_wait_for_fails_as_one_that_cannot_be_made(refuse: Refuse) -> None:
    client = JsonClient("http://127.0.0.1:9")
    refuse()
    with pytest.raises(RequestFailed, match="nobody could wait for the answer: can't start new thread"):
        post(client, {}, 30, lambda: False)
