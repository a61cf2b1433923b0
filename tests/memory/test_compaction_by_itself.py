"""A session is compacted by itself once enough has piled up behind its tail, and not before: on the whole path, from
the turn that is stored to the summary that is there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.compactors import compactor_of

from libravdb_memory import Config, Memory
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compacting import OVERTAKEN, Compaction, Compactor
from libravdb_memory.compacting.making import Maker
from libravdb_memory.condensing import Cancelled, Condensed, Condenser, InVain, Sources
from libravdb_memory.overflow import Overflow
from libravdb_memory.store.protocol import Progress

DEFAULT = CompactionSettings()
TAIL = 4
Opening = Callable[..., Memory]


@pytest.fixture
def opened(tmp_path: Path, hashed: Config) -> Iterator[Opening]:
    """A memory as it comes, but for the shortest tail, so that what lies behind it can be counted."""
    memories: list[Memory] = []

    def opening(**settings: int) -> Memory:
        compaction = replace(hashed.compaction, **settings)
        config = replace(hashed, compaction=compaction, assembly=replace(hashed.assembly, tail_share=0.0))
        memories.append(Memory.open(tmp_path / f"store{len(memories)}", config=config))
        return memories[-1]

    yield opening
    for memory in memories:
        memory.close()


def say(memory: Memory, *tokens: int) -> None:
    """A turn of exactly so many tokens each, and whatever that sets off."""
    for price in tokens:
        number = memory.status().turns
        text = (
            f"Crate {number} went to hall H-{number:03d}; " + "the clerk of the hall wrote it into the book. " * price
        )
        memory.ingest(text[: 4 * price - 1] + ".", user="ada", session="s", role="assistant", id=f"t{number}")
        assert memory._counter.count(memory.get(f"t{number}", user="ada").text) == price
        assert memory.wait(60, compaction=True)


class Watched(Compactor):
    """How often it was asked to compact, and what came of it."""

    done: list[Compaction]

    def compact(
        self,
        namespace: str,
        session: str,
        now_ms: int,
        cancelled: Cancelled,
        progress: Progress | None = None,
        *,
        rebuild: bool = False,
    ) -> Compaction:
        self.done.append(super().compact(namespace, session, now_ms, cancelled, progress, rebuild=rebuild))
        return self.done[-1]


def watched(memory: Memory, condenser: type[Condenser] = Condenser) -> list[Compaction]:
    """The compactions that this memory makes from now on."""
    made = compactor_of(memory, None, Watched)
    maker = made._parts.maker
    assert isinstance(maker, Maker)
    maker.condenser = condenser(memory._embedder, memory._counter, memory._config.compaction, None)
    made.done = []
    memory._made = made
    return made.done


def test_two_thousand_tokens_behind_the_tail_start_a_compaction_and_one_fewer_does_not(opened: Opening) -> None:
    memory = opened()
    assert memory._config.compaction == DEFAULT and DEFAULT.trigger_tokens == 2000
    done = watched(memory)
    say(memory, *[100] * 19, 99, *[100] * TAIL)
    assert memory._compactor().waiting_tokens("ada", "s") == 1999
    assert done == [] and memory.status().summaries == 0
    say(memory, 100)
    assert [each.turns for each in done] == [21], "all that lay behind the tail by then"
    assert memory.status().summaries == len(done[0].summaries) == 2
    assert memory._compactor().waiting_tokens("ada", "s") == 0 and memory.verify().ok


def test_exactly_two_thousand_tokens_are_enough(opened: Opening) -> None:
    memory = opened()
    done = watched(memory)
    say(memory, *[100] * (19 + TAIL))
    assert done == []
    say(memory, 100)
    assert [each.turns for each in done] == [20] and done[0].source_tokens >= 2000


def test_as_much_again_starts_the_next_and_not_what_is_covered_already(opened: Opening) -> None:
    memory = opened()
    done = watched(memory)
    say(memory, *[100] * (20 + TAIL), *[100] * 19)
    assert len(done) == 1
    say(memory, 100)
    assert [each.turns for each in done] == [20, 20]


def test_what_lies_in_the_tail_does_not_start_a_compaction(opened: Opening) -> None:
    memory = opened()
    done = watched(memory)
    say(memory, 1999, *[1500] * TAIL)
    assert done == [] and memory.status().summaries == 0


def test_each_session_piles_up_by_itself(opened: Opening) -> None:
    memory = opened()
    done = watched(memory)
    say(memory, *[100] * (19 + TAIL))
    for number in range(19 + TAIL):
        memory.ingest("crate " * 66 + "1234", user="ada", session="another", id=f"other{number}")
        memory.ingest("crate " * 66 + "1234", user="bruno", session="s", id=f"theirs{number}")
    assert memory.wait(60, compaction=True)
    assert done == [] and memory.status().summaries == 0


def test_with_a_trigger_of_zero_no_session_is_ever_compacted_by_itself(opened: Opening) -> None:
    memory = opened(trigger_tokens=0)
    done = watched(memory)
    say(memory, *[2000] * (8 + TAIL))
    assert memory._compactor().waiting_tokens("ada", "s") == 16_000
    assert done == [] and memory.status().summaries == 0
    assert memory._overflow._thread is None
    assert memory.compact(user="ada", session="s").summaries, "when asked, it is"


class TurnsOnly(Condenser):
    """Tells turns in less, but not summaries; `meanwhile` is what happens while it is asked to."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def condense(
        self, sources: Sources, *, with_model: bool, cancelled: Cancelled, folding: bool = False
    ) -> Condensed | InVain:
        if folding:
            self.meanwhile()
            return InVain("summaries are left as they are")
        return super().condense(sources, with_model=with_model, cancelled=cancelled)


class Nothing(Condenser):
    def condense(
        self, sources: Sources, *, with_model: bool, cancelled: Cancelled, folding: bool = False
    ) -> Condensed | InVain:
        return InVain("turns are left as they are")


def test_turns_that_were_declined_are_not_tried_again_until_as_much_has_come(opened: Opening) -> None:
    memory = opened()
    done = watched(memory, Nothing)
    say(memory, *[100] * (20 + TAIL), *[100] * 19)
    assert [(len(each.summaries), sum(left.tokens for left in each.declined)) for each in done] == [(0, 2000)]
    say(memory, 100)
    assert [sum(left.tokens for left in each.declined) for each in done] == [2000, 4000]


def test_turns_that_cannot_be_compacted_yet_are_not_looked_at_with_every_turn(opened: Opening) -> None:
    """One turn has no summary, and all that follows it is one bundle, which belongs to the tail."""
    memory = opened()
    done = watched(memory)
    say(memory, 2500)
    for number in range(2 * 2000 // 100 - 1):
        text = "crate " * 66 + "1234"
        memory.ingest(text, user="ada", session="s", role="user", id=f"b{number}", metadata={"bundle": "b"})
        assert memory.wait(60, compaction=True)
    assert [each.reason.split(";")[0] for each in done] == ["only 1 turn is behind the tail and not yet compacted"]
    assert memory._overflow._piled["ada", "s"] < 2000
    memory.ingest("that was it", user="ada", session="s", id="end")
    say(memory, *[500] * 2 * TAIL)
    assert [len(each.summaries) > 0 for each in done] == [False, True], "once as much again has come"


def test_a_compaction_that_something_got_ahead_of_is_made_with_the_next_turn(opened: Opening) -> None:
    memory = opened()
    erasing = iter(["t3"])

    class Overtaken(Condenser):
        def condense(
            self, sources: Sources, *, with_model: bool, cancelled: Cancelled, folding: bool = False
        ) -> Condensed | InVain:
            for turn in erasing:
                memory.erase(turn, user="ada", session="s")
            return super().condense(sources, with_model=with_model, cancelled=cancelled)

    done = watched(memory, Overtaken)
    say(memory, *[100] * (20 + TAIL))
    assert [each.reason for each in done] == [OVERTAKEN]
    memory.ingest("crate " * 66 + "1234", user="ada", session="s", role="assistant", id="next")
    assert memory.wait(60, compaction=True)
    assert [each.reason for each in done] == [OVERTAKEN, ""]
    assert [each.turns for each in done] == [0, 20]


def test_declined_turns_that_were_erased_do_not_put_off_those_that_come(opened: Opening) -> None:
    memory = opened()
    done = watched(memory, Nothing)
    say(memory, *[100] * (20 + TAIL))
    for number in range(20):
        memory.erase(f"t{number}", user="ada", session="s")
    assert len(done) == 1 and memory.status().turns == TAIL
    for number in range(22):  # the first of them finds that the others are gone
        memory.ingest("crate " * 66 + "1234", user="ada", session="s", role="assistant", id=f"more{number}")
        assert memory.wait(60, compaction=True)
    assert len(done) == 2


def test_summaries_that_could_not_be_folded_do_not_put_off_the_turns_that_come(opened: Opening) -> None:
    memory = opened(cluster_target=5, fold_tokens=1)
    done = watched(memory, TurnsOnly)
    say(memory, *[100] * (20 + TAIL))
    assert [each.turns for each in done] == [20]
    assert [left.reason for left in done[0].declined] == ["summaries are left as they are"]
    assert sum(left.tokens for left in done[0].declined) > 100, "more than a turn"
    say(memory, *[100] * 19)
    assert len(done) == 1
    say(memory, 100)
    assert [each.turns for each in done] == [20, 20]


def test_turns_that_came_while_summaries_were_not_folded_count_in_full(opened: Opening) -> None:
    memory = opened(cluster_target=5, fold_tokens=1)
    more = iter(range(10))

    class WhileTurnsCome(TurnsOnly):
        @staticmethod
        def meanwhile() -> None:
            for number in more:
                memory.ingest("crate " * 66 + "1234", user="ada", session="s", role="assistant", id=f"more{number}")

    done = watched(memory, WhileTurnsCome)
    say(memory, *[100] * (20 + TAIL))
    assert sum(left.tokens for left in done[0].declined) > 100 and memory.status().turns == 30 + TAIL
    assert memory._compactor().waiting_tokens("ada", "s") == 1000
    say(memory, *[100] * 9)
    assert [each.turns for each in done] == [20]
    say(memory, 100)
    assert [each.turns for each in done] == [20, 20]


def refuse_threads(patch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refused(thread: threading.Thread) -> None:
        if thread.name == "libravdb-compaction":
            raise RuntimeError("can't start new thread")
        start(thread)

    patch.setattr(threading.Thread, "start", refused)


def test_a_thread_that_cannot_be_had_costs_no_turn_and_is_tried_for_again(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(trigger_tokens=100)
    with monkeypatch.context() as without:
        refuse_threads(without)
        for number in range(12):
            memory.ingest(f"Crate {number} went to hall {number}. " * 4, user="ada", session="s")
        assert not memory.wait(60, compaction=True)
        assert memory.status().turns == 12 and not memory.status().summaries
        assert memory.status().compaction.failure == "can't start new thread"
    memory.ingest("Crate 12 went to hall 12.", user="ada", session="s")
    assert memory.wait(60, compaction=True)
    assert memory.status().summaries and memory.status().compaction.failure is None


def test_a_memory_whose_thread_could_not_be_had_closes(
    tmp_path: Path, hashed: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(hashed, compaction=replace(hashed.compaction, trigger_tokens=100))
    with monkeypatch.context() as without, Memory.open(tmp_path / "store", config=config) as memory:
        refuse_threads(without)
        for number in range(12):
            memory.ingest(f"Crate {number} went to hall {number}. " * 4, user="ada", session="s")
    Memory.open(tmp_path / "store", config=config).close()


def test_a_session_at_work_does_not_wait_while_more_is_said_in_it(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def held(_: Overflow) -> None:
        begun.set()
        assert go_on.wait(60)

    monkeypatch.setattr(Overflow, "_let_embedding_go_first", held)
    memory = opened(trigger_tokens=20)
    text = "Crate 7 went to hall H-007; the clerk of the hall wrote that into the book of the year."
    for number in range(3):
        memory.ingest(text, user="ada", session="s", id=f"t{number}")
        assert begun.wait(60)
        state = memory.status().compaction
        assert (state.waiting, state.running) == (0, True)
    memory.ingest(text, user="ada", session="other")
    assert memory.status().compaction.waiting == 1
    go_on.set()
    assert memory.wait(60, compaction=True)
    assert memory.status().compaction.waiting == 0 and not memory.status().compaction.running
