"""Rules and turns that look like them, by a writer who knew nothing of how rules are found.

`fresh.jsonl` is hard on purpose: most rules are said in passing, half of the other turns are traps (rules for others or
for software, quoted, past, ironic). Of it only figures were looked at, never which turns failed: before weights were
learned from `turns.jsonl`, while its bounds were chosen on turns of writers left out, and at the end. The floors are
the last figures, rounded down. What is meant by *found*, *elevated* and *present*: see `test_returns`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
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


ALL = [Said(**json.loads(line)) for line in (HERE / "fresh.jsonl").read_text("utf-8").splitlines()]
RULES = [said for said in ALL if said.rule]


def texts(*, trap: bool) -> list[str]:
    return [said.text for said in ALL if not said.rule and said.trap == trap]


def test_the_set_is_large_and_nothing_is_learned_from_it() -> None:
    assert len(RULES) >= 120
    assert len(texts(trap=False)) == len(texts(trap=True)) >= 130
    assert all(said.rule in said.text and said.later for said in RULES)
    for name in ("turns.jsonl", "training.jsonl"):
        learned = {json.loads(line)["text"] for line in (HERE / name).read_text("utf-8").splitlines()}
        assert learned.isdisjoint({said.text for said in ALL})


def test_most_rules_are_found() -> None:
    kept = shards_of([said.text for said in RULES])
    assert len(kept) >= 0.75 * len(RULES)
    stated = [said for said in RULES if said.text in kept and said.rule in kept[said.text].text]
    assert len(stated) >= 0.7 * len(RULES)  # in the words of the rule, whatever else is kept of the turn


def test_hardly_any_ordinary_turn_is_taken_for_a_rule_and_few_traps_are() -> None:
    ordinary, traps = texts(trap=False), texts(trap=True)
    assert len(shards_of(ordinary)) <= 0.03 * len(ordinary)
    assert len(shards_of(traps)) <= 0.2 * len(traps)


@pytest.mark.long
def test_rules_return_with_their_topic(tmp_path: Path) -> None:
    found, elevated, present = measure(tmp_path)
    assert found >= 0.75
    assert elevated >= 0.5
    assert present >= 0.75


def measure(home: Path) -> tuple[float, float, float]:
    config = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_COMPACTION_TRIGGER_TOKENS": "0"})
    with Memory.open(config=config) as memory:
        seen = [flags for user, own in _users().items() for flags in _seen(memory, user, own)]
    found, elevated, present = (sum(each) / len(RULES) for each in zip(*seen, strict=True))
    return found, elevated, present


def _users() -> dict[str, list[Said]]:
    """Those who speak English in groups, with other turns of as many; then one for each other script."""
    users: dict[str, list[Said]] = {}
    for kind in (RULES, [said for said in ALL if not said.rule]):
        english = [said for said in kind if said.language == "en"]
        groups = -(-sum(said.language == "en" for said in RULES) // TOGETHER)
        for number, said in enumerate(english):
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
