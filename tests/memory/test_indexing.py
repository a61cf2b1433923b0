"""Background embedding: visible failures, isolated refusals, resumable work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from libravdb_memory import Config, Memory
from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.errors import ModelUnavailableError, TextRefusedError
from libravdb_memory.indexing import Indexer
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Put
from libravdb_memory.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Failing(HashedEmbedder):
    """An engine that can be broken and mended."""

    broken = True

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.broken:
            raise ModelUnavailableError("failing", "the endpoint is down")
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if self.broken:
            raise ModelUnavailableError("failing", "the endpoint is down")
        return super().embed_query(text)


class Choosy(HashedEmbedder):
    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any("poison" in text for text in texts):
            raise TextRefusedError("choosy", "too strange")
        return super().embed_documents(texts)


class Crashing(HashedEmbedder):
    crashes = 1

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.crashes:
            self.crashes -= 1
            raise RuntimeError("a bug in the engine")
        return super().embed_documents(texts)


def test_a_failing_engine_is_visible_and_search_goes_on_by_wording(tmp_path: Path, hashed: Config) -> None:
    engine = Failing()
    with Memory.open(tmp_path / "store", config=hashed, embedder=engine) as memory:
        turn = memory.ingest("a heron by the river", user="ada", session="s1")
        assert not memory.wait(30)
        assert "the endpoint is down" in (memory.status().indexing.failure or "")
        hits = memory.search("heron", user="ada")
        assert [hit.id for hit in hits] == [turn.id]
        assert "the endpoint is down" in hits.degraded[0]
        engine.broken = False
        while not memory.wait(30):  # the attempt under way may still have met the broken engine
            assert engine.broken is False
        assert memory.status().indexing.failure is None
        assert memory.search("heron", user="ada").degraded == ()


def test_a_text_the_engine_refuses_does_not_hold_up_the_others(tmp_path: Path, hashed: Config) -> None:
    with Memory.open(tmp_path / "store", config=hashed, embedder=Choosy()) as memory:
        for number in range(40):
            memory.ingest("poison apple" if number in (3, 17) else f"apple {number}", user="ada", session="s1")
        assert memory.wait(30)
        assert memory.status().indexing.unembeddable == 2
        assert memory.status().indexing.pending == 0
        assert len(memory.search("poison", user="ada", k=40)) >= 2


def test_a_bug_in_an_engine_is_reported_and_retried(tmp_path: Path, hashed: Config) -> None:
    with Memory.open(tmp_path / "store", config=hashed, embedder=Crashing()) as memory:
        memory.ingest("a heron", user="ada", session="s1")
        while not memory.wait(30):
            assert "a bug in the engine" in (memory.status().indexing.failure or "")
        assert memory.status().indexing.pending == 0


def test_closing_does_not_wait_for_all_embedding(tmp_path: Path, hashed: Config) -> None:
    entered = threading.Event()

    class Slow(HashedEmbedder):
        calls = 0

        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            entered.set()
            self.calls += 1
            return super().embed_documents(texts)

    engine = Slow()
    memory = Memory.open(tmp_path / "store", config=hashed, embedder=engine)
    for number in range(300):
        memory.ingest(f"word {number}", user="ada", session="s1")
    entered.wait(30)
    memory.close()
    with Memory.open(tmp_path / "store", config=hashed, embedder=HashedEmbedder()) as again:
        assert again.wait(30)
        assert again.status().turns == 300
        assert again.verify().ok


# ── what may come later ──────────────────────────────────────────────────────────────────────────────────────────


class Leisurely:
    """An indexer over a real store that puts off a collection while it is told to, and notes what it embeds."""

    def __init__(self, folder: Path, longest_s: float) -> None:
        self.later: tuple[str, ...] = ("late",)
        self.embedded = SimpleQueue[str]()
        noting = self

        class Noting(HashedEmbedder):
            def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
                for text in texts:
                    noting.embedded.put(text)
                return super().embed_documents(texts)

        self.store = SqliteStore.open(folder)
        self.indexer = Indexer(self.store, Noting(), later=lambda: self.later, longest_put_off_s=longest_s)

    def say(self, collection: str, text: str) -> None:
        self.store.commit([Put(Draft(collection, text, text))])
        self.indexer.notify()

    def next(self) -> str:
        return self.embedded.get(timeout=30)


@pytest.fixture
def leisurely(tmp_path: Path) -> Iterator[Callable[[float], Leisurely]]:
    made: list[Leisurely] = []

    def make(longest_s: float) -> Leisurely:
        made.append(Leisurely(tmp_path / "store", longest_s))
        made[0].indexer.start()
        return made[0]

    yield make
    for each in made:
        each.indexer.stop()
        each.store.close()


def test_what_may_come_later_is_embedded_after_what_may_not_once_it_need_not_wait(
    leisurely: Callable[[float], Leisurely],
) -> None:
    each = leisurely(3600.0)
    each.say("late", "one")
    each.say("now", "two")
    assert each.next() == "two"
    assert each.embedded.empty()
    each.later = ()
    each.indexer.notify()
    assert each.next() == "one"
    assert each.indexer.wait(30)


def test_whoever_waits_gets_also_what_may_come_later(leisurely: Callable[[float], Leisurely]) -> None:
    each = leisurely(3600.0)
    each.say("now", "two")
    assert each.indexer.wait(30)
    each.say("late", "one")
    assert each.indexer.wait(30)
    assert [each.next(), each.next()] == ["two", "one"]
    assert each.store.count_unembedded(each.store.spaces()[0]) == 0


def test_nothing_comes_later_than_at_last(leisurely: Callable[[float], Leisurely]) -> None:
    each = leisurely(0.05)
    each.say("late", "one")
    assert each.next() == "one"
