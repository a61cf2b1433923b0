"""Rules as users of assistants state them, in the prompt 500 turns and 5 compactions later when their topic returns.

`returns.jsonl` was written before its author knew how rules are found. The tuning half was looked at while the first
weights and tables were changed; of the held-out half only the figures were, several times by now: `fresh.jsonl` is the
cleaner set. The bounds are the last figures, rounded down. A rule is *found* when its turn became guidance, *elevated*
when the prompt shows it as guidance, *present* when its words are anywhere in the prompt: as guidance, as the recalled
turn, or in a summary.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.guidance.learned import was_learned
from tests.guidance.much_later import go_on, kept_as_guidance, shown

from libravdb_memory.config import load_config
from libravdb_memory.memory import Memory

HERE = Path(__file__).parent
MOST_FALSE = 0.05
OTHER_SCRIPTS = frozenset({"ru", "ja", "zh"})


@dataclass(frozen=True, slots=True)
class Said:
    part: str
    language: str
    text: str
    rule: str = ""
    later: str = ""

    @property
    def user(self) -> str:
        """Who says it: the estimate of tokens prices a prompt by its densest script, so scripts are kept apart."""
        if self.language == "en":
            return "english"
        return "scripts" if self.language in OTHER_SCRIPTS else "latin"


ALL = [Said(**json.loads(line)) for line in (HERE / "returns.jsonl").read_text("utf-8").splitlines()]

MEASURED = [said for said in ALL if not was_learned(said.rule or said.text)]


@dataclass(frozen=True, slots=True)
class Measured:
    found: float
    elevated: float
    present: float
    false: float


FLOORS = [
    ("tuning", Measured(found=0.9, elevated=0.86, present=0.98, false=MOST_FALSE)),
    ("held_out", Measured(found=0.83, elevated=0.81, present=0.98, false=MOST_FALSE)),
]


def test_the_corpus_is_large_and_half_of_it_is_held_out() -> None:
    rules = [said for said in ALL if said.rule]
    assert len(rules) >= 120
    assert len(ALL) - len(rules) >= 150
    assert sum(said.language != "en" for said in rules) >= 30
    assert len({said.text for said in ALL}) == len(ALL)
    assert all(said.rule in said.text and said.later for said in rules)
    assert abs(sum(said.part == "held_out" for said in ALL) - len(ALL) / 2) <= 1


def test_hardly_anything_of_it_stands_in_what_was_learned_from_and_that_is_not_measured() -> None:
    assert sum(bool(said.rule) for said in MEASURED) >= 120
    assert len(MEASURED) >= 275
    assert not any(was_learned(said.text) for said in MEASURED)


@pytest.mark.long
@pytest.mark.parametrize(("part", "least"), FLOORS)
def test_a_rule_returns_with_its_topic(part: str, least: Measured, tmp_path: Path) -> None:
    measured = measure(part, tmp_path)
    assert measured.found >= least.found, measured
    assert measured.elevated >= least.elevated, measured
    assert measured.present >= least.present, measured
    assert measured.false <= MOST_FALSE, measured


def measure(part: str, home: Path) -> Measured:
    config = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_COMPACTION_TRIGGER_TOKENS": "0"})
    mine = [said for said in MEASURED if said.part == part]
    with Memory.open(config=config) as memory:
        seen = [each for user in ("english", "latin", "scripts") for each in _seen(memory, user, mine)]
    rules = [flags for said, flags in seen if said.rule]
    neutral = [flags[0] for said, flags in seen if not said.rule]
    found, elevated, present = (sum(each) / len(rules) for each in zip(*rules, strict=True))
    return Measured(found, elevated, present, sum(neutral) / len(neutral))


def _seen(memory: Memory, user: str, mine: list[Said]) -> Iterator[tuple[Said, tuple[bool, bool, bool]]]:
    """What a user said, with whether it was found, is elevated and is present."""
    own = [said for said in mine if said.user == user]
    go_on(memory, user, [said.text for said in own], between=1)
    kept = kept_as_guidance(memory, user)
    for number, said in enumerate(own):
        found = f"said{number}" in kept
        seen = shown(memory, user, number, said.rule, said.later) if said.rule else (False, False)
        yield said, (found, *seen)
