"""Compaction beside everything else: whoever is overtaken gives way, and nothing half done is ever written."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.compactors import compactor_of
from tests.laws.flaky_summariser import FlakySummariser, use

from libravdb_memory import Config, Memory
from libravdb_memory.compacting import CANCELLED, OVERTAKEN, Compaction, Compactor
from libravdb_memory.engines.summarising.protocol import Summary, SummaryRequest
from libravdb_memory.errors import CallCancelledError, NotFoundError, StoreClosedError
from libravdb_memory.excluding import Excluding
from libravdb_memory.model import Turn
from libravdb_memory.namespaces import guidance_of, states_of, summaries_of
from libravdb_memory.quoting import Erased
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Key, Remove

TURNS = 24
PATIENCE_S = 60


class Halting(FlakySummariser):
    """Stops in the middle of its first summary until it is told to go on, or cancelled."""

    def __init__(self) -> None:
        super().__init__(("good",))
        self.begun, self.go_on = threading.Event(), threading.Event()

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        self.begun.set()
        while not self.go_on.wait(0.01):
            if cancelled():
                raise CallCancelledError(self.name)
        return super().summarise(request, cancelled)


@pytest.fixture
def config(hashed: Config) -> Config:
    deep = replace(hashed.compaction, cluster_target=3, fold_tokens=60, fold_fan=2, trigger_tokens=0)
    compaction = replace(deep, abstractive_from=0.0, min_align=0.0)
    return replace(hashed, compaction=compaction, assembly=replace(hashed.assembly, startup_budget=100))


@pytest.fixture
def memory(tmp_path: Path, config: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=config) as opened:
        for number in range(TURNS):
            say(opened, number)
        assert opened.wait(PATIENCE_S)
        yield opened


def say(memory: Memory, number: int, session: str = "s") -> Turn:
    text = f"Always remember lantern {number}, which harbour master Oyelaran{number} lit on the quay at {number + 3}"
    return memory.ingest(text, user="ada", session=session, id=f"t{number}")


def compacting(memory: Memory, into: list[object]) -> threading.Thread:
    def work() -> None:
        try:
            into.append(memory.compact(user="ada", session="s"))
        except Exception as error:
            into.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def halted(memory: Memory) -> tuple[Halting, threading.Thread, list[object]]:
    use(memory, model := Halting())
    outcome: list[object] = []
    thread = compacting(memory, outcome)
    assert model.begun.wait(PATIENCE_S)
    return model, thread, outcome


def records(memory: Memory) -> int:
    return sum(1 for name in (summaries_of("ada"), guidance_of("ada")) for _ in every(memory._store, name))


def assert_sound(memory: Memory, expected: list[str]) -> None:
    """Each turn once: below one summary, or bare; and the words as they were said."""
    assert memory.verify().ok
    found: list[str] = []
    for entry in memory.history(user="ada", session="s").entries:
        if isinstance(entry, Turn):
            found.append(entry.id)
        else:
            found += [turn.id for turn in memory.expand(entry.node.id, user="ada").items]
    assert found == expected


def names(*without: int, upto: int = TURNS) -> list[str]:
    return [f"t{number}" for number in range(upto) if number not in without]


# ── one against another ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("victim", ["a turn of it", "a turn of another session", "the session", "the user"])
def test_what_was_read_before_an_erasure_is_never_written_after_it(memory: Memory, victim: str) -> None:
    say(memory, 90, session="other")
    model, thread, outcome = halted(memory)
    if victim == "a turn of it":
        memory.erase("t1", user="ada", session="s")
    elif victim == "a turn of another session":
        memory.erase("t90", user="ada", session="other")
    else:
        memory.erase(user="ada", session="s" if victim == "the session" else None)
    model.go_on.set()
    thread.join(PATIENCE_S)
    (done,) = outcome
    assert isinstance(done, Compaction) and done.reason == OVERTAKEN and not done.summaries
    assert records(memory) == 0
    if victim in ("the session", "the user"):
        with pytest.raises(NotFoundError):
            memory.history(user="ada", session="s")
        return
    left = names(1) if victim == "a turn of it" else names()
    assert_sound(memory, left)
    assert memory.compact(user="ada", session="s").summaries
    assert_sound(memory, left)


def test_ingest_and_context_do_not_wait_for_a_summariser(memory: Memory) -> None:
    model, thread, outcome = halted(memory)
    for number in range(TURNS, TURNS + 5):
        say(memory, number)
    assert "lantern" in memory.context("which lantern?", user="ada", session="s", budget=400).text
    assert memory.wait(PATIENCE_S)
    assert not outcome
    model.go_on.set()
    thread.join(PATIENCE_S)
    (done,) = outcome
    assert isinstance(done, Compaction) and done.summaries and not done.reason
    assert_sound(memory, names(upto=TURNS + 5))


def test_two_compactions_of_one_session_cover_each_turn_once(memory: Memory) -> None:
    use(memory, FlakySummariser(("good", "breaks", "late")))
    outcome: list[object] = []
    threads = [compacting(memory, outcome) for _ in range(3)]
    for thread in threads:
        thread.join(PATIENCE_S)
    assert all(isinstance(done, Compaction) for done in outcome), outcome
    assert_sound(memory, names())


def test_of_two_that_know_nothing_of_each_other_only_one_wins(memory: Memory) -> None:
    """Two compactors without a common lock: the state of the session lets the second see that it is too late."""
    model, thread, outcome = halted(memory)
    other = compactor_of(memory, None, Compactor)
    won = other.compact("ada", "s", 1, lambda: False)
    assert won.summaries
    state = memory._store.get(Key(states_of("ada"), "state", "s"))
    model.go_on.set()
    thread.join(PATIENCE_S)
    (lost,) = outcome
    assert isinstance(lost, Compaction) and lost.reason == OVERTAKEN and not lost.summaries
    assert state is not None and memory._store.get(Key(states_of("ada"), "state", "s")) == state
    assert_sound(memory, names())


def test_a_compaction_gives_way_to_a_rebuild_that_has_begun(memory: Memory) -> None:
    """All summaries are away again, nothing is covered twice: only the state tells that somebody was faster."""
    model, thread, outcome = halted(memory)
    unfolded = replace(memory._config.compaction, fold_tokens=0)
    other = compactor_of(memory, None, Compactor, unfolded)
    other.compact("ada", "s", 1, lambda: False)
    away = [Key(record.collection, record.id, record.group) for record in every(memory._store, summaries_of("ada"))]
    assert away
    memory._store.commit([*map(Remove, away)])
    model.go_on.set()
    thread.join(PATIENCE_S)
    (lost,) = outcome
    assert isinstance(lost, Compaction) and lost.reason == OVERTAKEN and not lost.summaries
    assert_sound(memory, names())


# ── ends ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_closing_does_not_wait_for_a_summariser_and_leaves_the_session_as_it_was(
    memory: Memory, tmp_path: Path, config: Config
) -> None:
    _, thread, outcome = halted(memory)
    started = time.monotonic()
    memory.close()
    thread.join(PATIENCE_S)
    assert time.monotonic() - started < 10
    (done,) = outcome
    assert isinstance(done, StoreClosedError) or (isinstance(done, Compaction) and done.reason == CANCELLED)
    with Memory.open(tmp_path / "store", config=config) as again:
        assert_sound(again, names())
        assert again.compact(user="ada", session="s").summaries
        assert_sound(again, names())


def test_closing_ends_a_compaction_that_began_by_itself(tmp_path: Path, config: Config) -> None:
    eager = replace(config, compaction=replace(config.compaction, trigger_tokens=100))
    memory = Memory.open(tmp_path / "store", config=eager)
    use(memory, model := Halting())
    for number in range(TURNS):
        say(memory, number)
    assert model.begun.wait(PATIENCE_S)
    started = time.monotonic()
    memory.close()
    assert time.monotonic() - started < 10
    with Memory.open(tmp_path / "store", config=config) as again:
        assert_sound(again, names())


def test_erasures_and_compactions_at_random_lose_and_keep_exactly_what_they_should(memory: Memory) -> None:
    use(memory, FlakySummariser(("good", "tells all", "too long", "breaks")))
    stop = threading.Event()
    failures: list[BaseException] = []

    def compact() -> None:
        while not stop.is_set():
            try:
                memory.compact(user="ada", session="s")
            except BaseException as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=compact) for _ in range(2)]
    for thread in threads:
        thread.start()
    gone = [1, 7, 2, 12, 15]
    for step, number in enumerate(gone):
        say(memory, TURNS + step)
        memory.erase(f"t{number}", user="ada", session="s")
    stop.set()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not failures
    assert memory.wait(PATIENCE_S)
    words = {f"Oyelaran{number} " for number in gone}
    for name in (summaries_of("ada"), guidance_of("ada")):
        assert not [record for record in every(memory._store, name) for word in words if word in f"{record.text} "]
    memory.compact(user="ada", session="s")
    assert_sound(memory, names(*gone, upto=TURNS + len(gone)))


def test_what_begins_while_something_is_erased_writes_nothing_of_it(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An erasure reads receipts before it takes anything away. A rule of turns that no summary fits is written alone:
    nothing but its time could keep it out."""
    short = replace(config, assembly=replace(config.assembly, startup_budget=40, tail_turns=1))
    pairs = replace(short, compaction=replace(short.compaction, cluster_target=2))
    with Memory.open(tmp_path / "store", config=pairs) as memory:
        memory.ingest("Always answer with a heron.", user="ada", session="s", id="rule")
        for text in ("!!!", "the tail of it is here, and long enough to be one"):
            memory.ingest(text, user="ada", session="s")
        assert memory.wait(PATIENCE_S)
        writes, outcome = threading.Event(), list[object]()
        writing, losing = Excluding.writing, memory._receipts.losing

        def watched(excluding: Excluding, epoch: int) -> AbstractContextManager[None]:
            writes.set()
            return writing(excluding, epoch)

        def held(erased: Erased) -> AbstractContextManager[tuple[Key, ...]]:
            if not outcome and not writes.is_set():
                compacting(memory, outcome)
                assert writes.wait(PATIENCE_S)
            return losing(erased)

        monkeypatch.setattr(Excluding, "writing", watched)
        monkeypatch.setattr(memory._receipts, "losing", held)
        memory.erase("rule", user="ada", session="s")
        while not outcome:
            time.sleep(0.001)
        assert isinstance(outcome[0], Compaction) and outcome[0].reason == OVERTAKEN
        assert not list(every(memory._store, guidance_of("ada")))
        assert memory.verify().ok
