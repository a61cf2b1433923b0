"""A compaction leaves nothing for the next one to do, and takes for a bundle only what stood together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.compactors import maker_of
from tests.laws.flaky_summariser import FlakySummariser, use

from libravdb_memory import Config, Memory
from libravdb_memory.compact.views import View
from libravdb_memory.condensing import Cancelled, Condensed, Condenser, InVain, Sources
from libravdb_memory.model import Turn

FULL = "the harbour master wrote every lamp, rope and anchor of the quay down and read it out to the crew at noon"


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    compaction = replace(hashed.compaction, cluster_target=3, trigger_tokens=0, abstractive_from=0.0, min_align=0.0)
    assembly = replace(hashed.assembly, startup_budget=100, tail_share=0.0)
    config = replace(hashed, compaction=compaction, assembly=assembly)
    with Memory.open(tmp_path / "store", config=config) as opened:
        yield opened


def say(memory: Memory, *turns: tuple[str, str]) -> None:
    for number, (role, text) in enumerate(turns):
        memory.ingest(text, user="ada", session="s", role=role, id=f"t{number}")


def bare(memory: Memory) -> list[str]:
    entries = memory.history(user="ada", session="s").entries
    return [entry.id for entry in entries if isinstance(entry, Turn)]


class Choosy(Condenser):
    """Tells turns in less only where one of them is long, or where these two stand together."""

    def condense(
        self, sources: Sources, *, with_model: bool, cancelled: Cancelled, folding: bool = False
    ) -> Condensed | InVain:
        texts = set(sources.texts)
        if FULL in texts or {"rope", "anchor"} <= texts:
            padded = replace(sources, texts=(*sources.texts, FULL), views=(*sources.views, View(FULL)))
            return super().condense(padded, with_model=with_model, cancelled=cancelled, folding=folding)
        return InVain("nothing to tell")


def test_turns_that_were_declined_are_tried_otherwise_when_their_neighbours_are_covered(memory: Memory) -> None:
    """Ten turns make clusters of 3, 2, 3 and 2; when the first is covered, the other seven make 3, 2 and 2."""
    maker = maker_of(memory)
    maker.condenser = Choosy(memory._embedder, memory._counter, memory._config.compaction, None)
    words = [FULL, "lit", "out", "lamp", "rope", "anchor", "noon", "crew", "quay", "tide"]
    say(memory, *[("tool", word) for word in (*words, *["end"] * 4)])
    done = memory.compact(user="ada", session="s")
    assert [node.children for node in done.summaries] == [("t0", "t1", "t2"), ("t3", "t4", "t5")]
    assert [(left.first, left.last, left.reason) for left in done.declined] == [
        ("t6", "t7", "nothing to tell"),
        ("t8", "t9", "nothing to tell"),
    ]
    again = memory.compact(user="ada", session="s")
    assert not again.summaries and again.declined == done.declined


def test_a_model_is_shown_the_summaries_before_its_turns_in_the_order_of_the_session(memory: Memory) -> None:
    say(memory, *[("user", f"number {number}: {FULL}") for number in range(13)])
    first, _, third = memory.compact(user="ada", session="s").summaries
    memory.erase("t4", user="ada")
    for number in range(13, 16):
        memory.ingest(f"number {number}: {FULL}", user="ada", session="s", id=f"t{number}")
    assert memory.wait(60)
    use(memory, model := FlakySummariser(("good",)))
    second, fourth = memory.compact(user="ada", session="s").summaries
    assert second.children == ("t3", "t5") and fourth.children == ("t9", "t10", "t11")
    assert second.prior == (first.id,)
    assert fourth.prior[-1] == third.id and model.requests[-1].prior.endswith(third.parts[0])


def test_a_turn_and_the_answer_to_another_are_no_bundle_across_a_summary(memory: Memory) -> None:
    """A question whose own answer is gone must not be bound to a later answer, least of all to one in the tail."""
    users = [("user", f"question {number}: {FULL}") for number in range(6)]
    say(memory, *users, *[("tool", FULL)] * 2, ("assistant", FULL), *[("user", "and then?")] * 3)
    memory.compact(user="ada", session="s")
    tail = ["t8", "t9", "t10", "t11"]
    assert bare(memory) == tail
    memory.erase("t0", user="ada")
    assert bare(memory) == ["t1", "t2", *tail]
    done = memory.compact(user="ada", session="s")
    assert [node.children for node in done.summaries] == [("t1", "t2")]
