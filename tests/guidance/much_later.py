"""A conversation that went on for long: what a user said first, five hundred other turns, and five compactions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from libravdb_memory.assemble.render import escape
from libravdb_memory.bench.retrieval.dataset import read_all
from libravdb_memory.memory import Memory
from libravdb_memory.namespaces import guidance_of
from libravdb_memory.store.paging import every

TECHNICAL = Path(__file__).parent.parent.parent / "benchmarks" / "data" / "technical"
LATER, COMPACTIONS, BUDGET = 500, 5, 4000


def go_on(memory: Memory, user: str, said: Sequence[str], between: int) -> None:
    """Stores what was said under `said0`, `said1`, … of the user's only session, which is named like the user."""
    talk = cycle([turn for data in read_all([TECHNICAL]) for each in data.conversations for turn in each.turns])

    def chat(number: int) -> None:
        for turn in islice(talk, number):
            memory.ingest(turn.text, user=user, session=user, role=turn.role)

    for number, text in enumerate(said):
        memory.ingest(text, user=user, session=user, id=f"said{number}")
        chat(between)
    for _ in range(COMPACTIONS):
        chat(LATER // COMPACTIONS)
        memory.wait()
        assert memory.compact(user=user, session=user).summaries


def kept_as_guidance(memory: Memory, user: str) -> frozenset[str]:
    """The ids of turns that became guidance."""
    return frozenset(str(record.metadata["source_turn_id"]) for record in every(memory._store, guidance_of(user)))


def shown(memory: Memory, user: str, number: int, rule: str, question: str) -> tuple[bool, bool]:
    """Whether the prompt shows the rule of that turn as guidance, and whether its words are anywhere in it."""
    context = memory.context(question, user=user, session=user, budget=BUDGET)
    elevated = {item.id for item in context.assembly.items if item.tier == "elevated"}
    present = escape(rule) in context.text
    return present and f"guidance:{user}:said{number}" in elevated, present
