"""A rule that the user took back later does not stand alone: what took it back is kept and shown with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from libravdb_memory import Config, Memory, load_config
from libravdb_memory.namespaces import guidance_of
from libravdb_memory.store.paging import every

RULE, CHANGE = "Always use tabs in the parser.", "Forget the tabs in the parser, spaces are fine."
OTHER = "Finance changed their minds: the invoices go out on the 15th."


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load_config(
        environ={
            "LIBRAVDB_HOME": str(tmp_path),
            "LIBRAVDB_COMPACTION_TRIGGER_TOKENS": "0",
            "LIBRAVDB_ASSEMBLY_TAIL_SHARE": "0.01",
        }
    )


@pytest.fixture
def memory(config: Config) -> Iterator[Memory]:
    with Memory.open(config=config) as opened:
        yield opened


def talk(memory: Memory, session: str, *said: str, role: str = "user") -> None:
    """What was said, each time with talk about something else behind it."""
    for text in said:
        memory.ingest(text, user="ada", session=session, role=role)
        for number in range(6):
            memory.ingest(f"The tests of module {number} pass again.", user="ada", session=session, role="assistant")


def kept(memory: Memory) -> dict[str, object]:
    rules = every(memory._store, guidance_of("ada"))
    return {rule.text: rule.metadata["protection_reason"] for rule in rules}


def in_one_session(memory: Memory) -> None:
    talk(memory, "s", RULE, OTHER, CHANGE)
    memory.compact(user="ada", session="s")


def in_a_later_compaction(memory: Memory) -> None:
    talk(memory, "s", RULE, OTHER)
    memory.compact(user="ada", session="s")
    talk(memory, "s", CHANGE)
    memory.compact(user="ada", session="s")


def in_another_session(memory: Memory) -> None:
    talk(memory, "s", RULE, OTHER)
    memory.compact(user="ada", session="s")
    talk(memory, "other", CHANGE)
    memory.compact(user="ada", session="other")


@pytest.mark.parametrize("live", [in_one_session, in_a_later_compaction, in_another_session])
def test_what_takes_back_a_rule_is_kept_with_it_and_nothing_else_is(
    memory: Memory, live: Callable[[Memory], None]
) -> None:
    live(memory)
    assert kept(memory) == {RULE: "rule", CHANGE: "takes back a rule"}
    assert memory.wait(60)
    shown = memory.context("Write the parser.", user="ada", session="new", budget=2000).text
    assert 0 < shown.index(RULE) < shown.index(CHANGE) < shown.index("</elevated_guidance>")
    assert memory.verify().ok
    memory.compact(user="ada", session="s", rebuild=True)
    assert set(kept(memory)) == {RULE, CHANGE}


def test_neither_what_was_said_before_a_rule_nor_by_another_takes_it_back(memory: Memory) -> None:
    talk(memory, "s", CHANGE, RULE)
    talk(memory, "s", CHANGE, role="assistant")
    memory.ingest(CHANGE, user="bob", session="s")
    talk(memory, "s", OTHER)
    memory.compact(user="ada", session="s")
    memory.compact(user="bob", session="s")
    assert kept(memory) == {RULE: "rule"}


def test_where_few_words_are_shared_the_meaning_decides(memory: Memory) -> None:
    talk(memory, "s", "Invoices are sent on the 1st of the month.", OTHER)
    talk(memory, "s", "The invoices of Hansen and of the shipyard were replaced by one that lists the whole summer.")
    memory.compact(user="ada", session="s")
    assert list(kept(memory)) == ["Invoices are sent on the 1st of the month.", OTHER]


def test_without_a_model_the_words_decide(config: Config) -> None:
    with Memory.open(config=replace(config, embedding=replace(config.embedding, backend="hashed"))) as memory:
        in_one_session(memory)
        assert kept(memory) == {RULE: "rule", CHANGE: "takes back a rule"}
