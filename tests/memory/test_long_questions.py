"""A question or prompt of megabytes is answered by its two ends, says so, and costs no more than a long one."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from libravdb_memory import Config, Memory
from libravdb_memory.recall import SHORTENED

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
FILLER = "lorem ipsum " * 350_000


@pytest.fixture
def memory(hashed: Config) -> Iterator[Memory]:
    with Memory.open(config=hashed) as opened:
        opened.ingest("The heron nests behind the boathouse.", user="ada", session="s")
        opened.ingest("Invoices are paid on Fridays.", user="ada", session="s")
        opened.wait()
        yield opened


@pytest.mark.parametrize("question", ["Where is the heron? " + FILLER, FILLER + " Where is the heron?"])
def test_a_question_at_either_end_of_a_long_text_is_answered_and_the_rest_is_told_not_to_count(
    memory: Memory, question: str
) -> None:
    hits = memory.search(question, user="ada")
    assert "heron" in hits[0].text and SHORTENED in hits.degraded
    context = memory.context(question, user="ada", session="other")
    assert "heron" in context.text and context.degraded.count(SHORTENED) == 1
    assert context.receipt.notes.count(SHORTENED) == 1


def test_a_question_of_usual_length_counts_as_a_whole(memory: Memory) -> None:
    question = "Where is the heron? " * 100
    assert SHORTENED not in memory.search(question, user="ada").degraded
    context = memory.context(question, user="ada", session="s")
    assert SHORTENED not in context.degraded and context.receipt.prompt == question


def test_what_a_question_costs_does_not_grow_with_its_length(memory: Memory) -> None:
    def seconds(question: str) -> float:
        began = time.process_time()
        memory.search(question, user="ada")
        memory.context(question, user="ada", session="s")
        return time.process_time() - began

    usual = min(seconds(FILLER[:150_000]) for _ in range(3))
    assert min(seconds(FILLER) for _ in range(3)) < 3 * usual + 0.2


@pytest.mark.parametrize("kept", [1, 4, 20, 39])
@pytest.mark.parametrize("at_end", [True, False])
def test_a_secret_where_a_long_prompt_is_cut_is_in_no_receipt(memory: Memory, kept: int, at_end: bool) -> None:
    from libravdb_memory.retrieve.question import READ_AT_EACH_END

    place = len(FILLER) - READ_AT_EACH_END + kept - len(TOKEN) if at_end else READ_AT_EACH_END - kept
    prompt = f"{FILLER[: place - 1]} {TOKEN} {FILLER[place + len(TOKEN) + 1 :]}"
    kept_prompt = memory.context(prompt, user="ada", session="s").receipt.prompt
    assert TOKEN[8:14] not in kept_prompt and TOKEN[-6:] not in kept_prompt
    assert len(kept_prompt) <= 2 * READ_AT_EACH_END + 1
