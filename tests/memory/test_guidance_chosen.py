"""Which of a user's rules stand in a prompt where not all have room: those most like it, and those for every answer a
little before others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from libravdb_memory import Memory, load_config
from libravdb_memory.context import Context
from libravdb_memory.shards import Shard
from libravdb_memory.store.protocol import Put

TOPICAL = "Never deploy the billing service on a Friday."
MANNER = ("Answer in three short sentences.", "Always answer in English.", "Use plain words in all answers.")
OTHERS = (
    "Sort the imports alphabetically.",
    "Prices are shown without VAT.",
    "We never store passwords in plain text.",
    "Branches are named after their ticket.",
    "Exclude rows of the region TEST from every report.",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(config=load_config(environ={"LIBRAVDB_HOME": str(tmp_path)})) as opened:
        yield opened


def keep(memory: Memory, rules: Sequence[str]) -> None:
    for number, text in enumerate(rules):
        shard = Shard(f"t{number}", "s", text, 1_000 * number, 0.5, "rule")
        memory.store.commit([Put(shard.draft("ada"))])
    assert memory.wait(60)


def shown(context: Context) -> list[str]:
    items = [item for item in context.assembly.items if item.tier == "elevated"]
    return [text for text in (TOPICAL, *MANNER, *OTHERS) if any(text in context.text[i.start :][:120] for i in items)]


def test_all_rules_are_shown_where_all_have_room_however_unlike_the_prompt(memory: Memory) -> None:
    keep(memory, (*OTHERS, TOPICAL, *MANNER))
    context = memory.context("When shall we release it?", user="ada", session="new", budget=4000)
    unlike = {each.id for each in context.assembly.rejections if each.reason == "below the similarity bound"}
    assert TOPICAL in shown(context) and set(MANNER) <= set(shown(context))
    assert len(shown(context)) + len(unlike) == len((*OTHERS, TOPICAL, *MANNER))
    assert all(each.score == 0.0 for each in context.assembly.rejections if each.id in unlike)


def test_the_rule_that_a_prompt_is_about_is_not_crowded_out_by_those_for_every_answer(memory: Memory) -> None:
    keep(memory, (TOPICAL, *(f"{text[:-1]}, as I said {number} times." for number in range(9) for text in MANNER)))
    context = memory.context("Shall I deploy the billing service today?", user="ada", session="new", budget=600)
    assert TOPICAL in shown(context) and any(text[:-1] in context.text for text in MANNER)


def test_a_rule_for_every_answer_ranks_as_if_it_were_a_little_more_alike_and_is_never_below_the_bound(
    memory: Memory,
) -> None:
    keep(memory, (TOPICAL, *MANNER))
    bound = memory._config.assembly.guidance_similarity
    context = memory.context("Shall I deploy the billing service today?", user="ada", session="new", budget=4000)
    scored = {item.id: item for item in context.assembly.items if item.tier == "elevated"}
    assert len(scored) == 4
    for number in range(1, 4):
        item = scored[f"guidance:s:t{number}"]
        assert item.parts["every_answer"] == 1.0 and item.score is not None
        alike = item.parts["cosine"] + 0.3 * item.parts["keywords"] + 0.1
        assert item.score == pytest.approx(max(alike, bound + 0.001))
    assert scored["guidance:s:t0"].parts["every_answer"] == 0.0
