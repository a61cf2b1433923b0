"""Rules and turns that look like them, by two writers who knew nothing of how rules are found.

Both sets are hard on purpose: most rules are said in passing, half of the other turns are traps (rules for others or
for software, quoted, past, ironic). While anything was learned only figures were looked at, never which turns failed:
those of `fresh.jsonl` eight times, while bounds were chosen on turns of writers left out, those of `later.jsonl` twice,
at the end, and they were the same. Since then nothing was learned. The floors are the last figures, rounded down. What
is meant by *found*, *elevated* and *present*: see `test_returns`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from tests.guidance.learned import was_learned
from tests.guidance.much_later import go_on, kept_as_guidance, shown
from tests.guidance.turns_of_their_own import shards_of

from libravdb_memory.config import load_config
from libravdb_memory.memory import Memory

HERE = Path(__file__).parent
TOGETHER = 50
"""Rules of one user: more than most have."""


@dataclass(frozen=True, slots=True)
class Said:
    language: str
    text: str
    rule: str = ""
    later: str = ""
    trap: bool = False


@dataclass(frozen=True, slots=True)
class Bounds:
    """Shares: of rules found alone and much later, shown as guidance and in any form then; of other turns kept."""

    found: float
    elevated: float
    present: float
    ordinary: float
    traps: float


BOUNDS = {
    "fresh": Bounds(found=0.8, elevated=0.7, present=0.84, ordinary=0.03, traps=0.15),
    "later": Bounds(found=0.8, elevated=0.75, present=0.91, ordinary=0.02, traps=0.1),
}


@cache
def said_in(name: str) -> tuple[Said, ...]:
    """Without the few whose words stand in something that the weights were learned from, by chance."""
    every = [Said(**json.loads(line)) for line in (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return tuple(said for said in every if not was_learned(said.rule or said.text))


def rules_of(name: str) -> list[Said]:
    return [said for said in said_in(name) if said.rule]


def texts(name: str, *, trap: bool) -> list[str]:
    return [said.text for said in said_in(name) if not said.rule and said.trap == trap]


@pytest.mark.parametrize("name", BOUNDS)
def test_the_set_is_large_and_nothing_is_learned_from_it(name: str) -> None:
    assert len(rules_of(name)) >= 119
    assert len(texts(name, trap=False)) >= 120 and len(texts(name, trap=True)) >= 125
    assert all(said.rule in said.text and said.later for said in rules_of(name))
    assert not any(was_learned(said.text) for said in said_in(name))


@pytest.mark.parametrize("name", BOUNDS)
def test_most_rules_are_found_in_their_own_words(name: str) -> None:
    rules = rules_of(name)
    kept = shards_of([said.text for said in rules])
    stated = [said for said in rules if said.text in kept and said.rule in kept[said.text].text]
    assert len(stated) >= BOUNDS[name].found * len(rules)


@pytest.mark.parametrize("name", BOUNDS)
def test_hardly_any_ordinary_turn_is_taken_for_a_rule_and_few_traps_are(name: str) -> None:
    ordinary, traps = texts(name, trap=False), texts(name, trap=True)
    assert len(shards_of(ordinary)) <= BOUNDS[name].ordinary * len(ordinary)
    assert len(shards_of(traps)) <= BOUNDS[name].traps * len(traps)


@pytest.mark.long
@pytest.mark.parametrize("name", BOUNDS)
def test_rules_return_with_their_topic(name: str, tmp_path: Path) -> None:
    found, elevated, present = measure(name, tmp_path)
    assert found >= BOUNDS[name].found
    assert elevated >= BOUNDS[name].elevated
    assert present >= BOUNDS[name].present


def measure(name: str, home: Path) -> tuple[float, float, float]:
    config = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_COMPACTION_TRIGGER_TOKENS": "0"})
    with Memory.open(config=config) as memory:
        seen = [flags for user, own in _users(name).items() for flags in _seen(memory, user, own)]
    found, elevated, present = (sum(each) / len(seen) for each in zip(*seen, strict=True))
    return found, elevated, present


def _users(name: str) -> dict[str, list[Said]]:
    """Those who speak English in groups, with other turns of as many; then one for each other script."""
    users: dict[str, list[Said]] = {}
    rules = rules_of(name)
    groups = -(-sum(said.language == "en" for said in rules) // TOGETHER)
    for kind in (rules, [said for said in said_in(name) if not said.rule]):
        for number, said in enumerate(said for said in kind if said.language == "en"):
            users.setdefault(f"english {number % groups}", []).append(said)
        for said in kind:
            if said.language != "en":
                users.setdefault("scripts" if said.language == "ru" else "latin", []).append(said)
    return users


def _seen(memory: Memory, user: str, own: list[Said]) -> Iterator[tuple[bool, bool, bool]]:
    go_on(memory, user, [said.text for said in own], between=1)
    kept = kept_as_guidance(memory, user)
    for number, said in enumerate(own):
        if said.rule:
            yield (f"said{number}" in kept, *shown(memory, user, number, said.rule, said.later))
