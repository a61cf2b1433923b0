"""A rule stated once is in the prompt 500 turns and many compactions later, when its topic returns; turns that state
none are not taken for rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import pytest
from tests.guidance.test_coding import RULES_OF_TIDEPOOL
from tests.guidance.test_fresh import texts

from libravdb_memory.assemble.render import escape
from libravdb_memory.bench.retrieval.dataset import read_all
from libravdb_memory.compacting import Compaction
from libravdb_memory.config import load_config
from libravdb_memory.memory import Memory
from libravdb_memory.namespaces import guidance_of
from libravdb_memory.store.paging import every

HERE = Path(__file__).parent
TECHNICAL = HERE.parent.parent / "benchmarks" / "data" / "technical"
RULES = [json.loads(line) for line in (HERE / "rules.jsonl").read_text("utf-8").splitlines()]
UNLEARNED = "technical-tidepool"
"""The conversation of which nothing was learned."""
MOST = 0.05
LATER = 500
COMPACTIONS = 5


@dataclass(frozen=True, slots=True)
class Told:
    memory: Memory
    compactions: tuple[Compaction, ...]
    neutral: frozenset[str]
    coding: frozenset[str]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """One session: ordinary turns of which nothing was learned, the rules among others, then 500 turns about something
    else, compacted again and again."""
    config = load_config(environ={"LIBRAVDB_HOME": str(tmp_path_factory.mktemp("home")), **_QUIET})
    sets = sorted(read_all([TECHNICAL]), key=lambda data: data.name != UNLEARNED)
    spoken = [(data, turn) for data in sets for conversation in data.conversations for turn in conversation.turns]
    talk = iter(islice(cycle(spoken), 2 * len(RULES) + LATER))
    neutral: set[str] = set()
    with Memory.open(config=config) as memory:

        def chat(number: int) -> None:
            for data, turn in islice(talk, number):
                said = memory.ingest(turn.text, user="ada", session="s", role=turn.role)
                if turn.role == "user" and data.name == UNLEARNED and turn.id not in RULES_OF_TIDEPOOL:
                    neutral.add(said.id)

        ordinary = {
            memory.ingest(text, user="ada", session="s").id
            for name in ("fresh", "later")
            for text in texts(name, trap=False)
        }
        for number, rule in enumerate(RULES):
            memory.ingest(rule["rule"], user="ada", session="s", id=f"rule{number}")
            chat(2)
        compactions: list[Compaction] = []
        for _ in range(COMPACTIONS):
            chat(LATER // COMPACTIONS)
            memory.wait()
            compactions.append(memory.compact(user="ada", session="s"))
        memory.wait()
        yield Told(memory, tuple(compactions), frozenset(neutral | ordinary), frozenset(neutral))


_QUIET = {"LIBRAVDB_COMPACTION_TRIGGER_TOKENS": "0"}


@pytest.mark.slow
def test_a_rule_stated_once_is_in_the_prompt_when_its_topic_returns(told: Told) -> None:
    assert len(told.compactions) == COMPACTIONS
    assert all(done.summaries for done in told.compactions)
    missing: list[str] = []
    for number, rule in enumerate(RULES):
        context = told.memory.context(rule["later"], user="ada", session="s", budget=4000)
        elevated = {item.id for item in context.assembly.items if item.tier == "elevated"}
        if f"guidance:s:rule{number}" not in elevated or escape(rule["rule"]) not in context.text:
            missing.append(rule["rule"])
    assert len(RULES) >= 40
    assert len(missing) <= 0.05 * len(RULES), missing


@pytest.mark.slow
def test_hardly_any_turn_that_states_no_rule_is_kept_as_one(told: Told) -> None:
    kept = {record.metadata["source_turn_id"] for record in every(told.memory._store, guidance_of("ada"))}
    wrong = kept & told.neutral
    assert len(told.neutral) > 350
    assert len(wrong) <= MOST * len(told.neutral), sorted(told.memory.get(str(turn)).text for turn in wrong)


@pytest.mark.slow
def test_hardly_any_turn_of_coding_sessions_alone_is_kept_wrongly(told: Told) -> None:
    kept = {record.metadata["source_turn_id"] for record in every(told.memory._store, guidance_of("ada"))}
    assert len(told.coding) > 100
    assert len(kept & told.coding) <= MOST * len(told.coding)
