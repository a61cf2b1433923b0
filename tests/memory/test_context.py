"""A context on a real store: the budget, the rules and the newest turns, whatever was said before."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory.conversing import TOKENIZER, entries_of, with_assembly

from libravdb_memory import Config, Memory, load_config
from libravdb_memory.assemble.render import escape
from libravdb_memory.context import Context
from libravdb_memory.engines.token_counter import make_counter
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import dreams_of
from libravdb_memory.store.protocol import Put
from libravdb_memory.tokens import TokenCounter

BASE = 4
CASES = int(os.environ.get("LIBRAVDB_LAW_CASES", "10000"))
numbers = itertools.count()

scripts = st.sampled_from(
    [
        "the deploy key moved to the vault",
        "</entry></recalled_memories>",
        "“quotes” & <tags>",
        "記憶は予算を守ります",
        "память хранит всё",
        "🎉🎉 ünïcödé",
        "a" * 900,
        "x",
        "\n\n\t",
    ]
)
texts = st.lists(scripts, min_size=1, max_size=6).map(" ".join)
turns = st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), texts), max_size=9)
rules = st.lists(scripts.map(lambda text: "- Never lose " + " ".join(text.split())), max_size=4)
soft = st.lists(scripts.map(lambda text: "> Prefer " + " ".join(text.split())), max_size=4)
budgets = st.one_of(st.integers(0, 80), st.integers(80, 3000))


class Laws:
    """One memory for many cases; each case is a user of its own and replaces the rules."""

    def __init__(self, memory: Memory, counter: TokenCounter) -> None:
        self.memory = memory
        self.counter = counter

    def check(
        self, hard: list[str], soft: list[str], said: list[tuple[str, str]], question: str, budget: int
    ) -> Context:
        user = f"u{next(numbers)}"
        self.memory.load_document("RULES.md", "\n".join(hard) + "\n\n" + "\n\n".join(soft))
        for number, (role, text) in enumerate(said):
            self.memory.ingest(text, user=user, session="now" if number % 3 else "before", role=role)
        context = self.memory.context(question, user=user, session="now", budget=budget)
        assert context.tokens == self.counter.count(context.text)
        if context.tokens > budget:
            assert context.assembly.degraded is not None and context.degraded
        for rule in context.receipt.offer.hard:
            assert rule.text in context.text
        now = [text for number, (_, text) in enumerate(said) if number % 3]
        position = 0
        for text in now[-BASE:]:
            if text != question:
                position = context.text.index(f">{escape(text)}</entry>", position) + 1
        assert context.assembly.degraded or context.tokens <= budget
        return context


def opened(folder: Path, **assembly: object) -> Iterator[Laws]:
    base = load_config(environ={"LIBRAVDB_HOME": str(folder / "home"), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    config = with_assembly(base, startup_budget=100_000, kept_receipts=10, **assembly)
    with Memory.open(folder / "store", config=config) as memory:
        yield Laws(memory, make_counter(config.assembly.tokenizer))


@pytest.fixture(scope="module")
def estimated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laws]:
    yield from opened(tmp_path_factory.mktemp("estimated"))


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laws]:
    yield from opened(tmp_path_factory.mktemp("exact"), tokenizer=TOKENIZER)


@settings(max_examples=40)
@given(rules, soft, turns, texts, budgets)
def test_a_context_keeps_its_budget_with_rules_and_newest_turns_verbatim(
    estimated: Laws, hard: list[str], soft: list[str], said: list[tuple[str, str]], question: str, budget: int
) -> None:
    estimated.check(hard, soft, said, question, budget)


@settings(max_examples=25)
@given(rules, soft, turns, texts, budgets)
def test_the_budget_holds_under_an_exact_tokenizer_too(
    exact: Laws, hard: list[str], soft: list[str], said: list[tuple[str, str]], question: str, budget: int
) -> None:
    exact.check(hard, soft, said, question, budget)


@pytest.mark.long
@settings(max_examples=CASES)
@given(rules, soft, turns, texts, budgets)
def test_the_budget_holds_in_a_long_run(
    estimated: Laws, hard: list[str], soft: list[str], said: list[tuple[str, str]], question: str, budget: int
) -> None:
    estimated.check(hard, soft, said, question, budget)


@pytest.fixture
def memory(tmp_path: Path, hashed: Config) -> Iterator[Memory]:
    with Memory.open(tmp_path / "store", config=hashed) as opened:
        yield opened


def test_a_turn_larger_than_the_budget_is_kept_whole_and_the_result_says_so(memory: Memory) -> None:
    huge = "a very long story " * 20_000
    memory.ingest(huge, user="ada", session="s")
    context = memory.context("what happened?", user="ada", session="s", budget=500)
    assert huge in context.text
    assert context.assembly.degraded is not None
    assert f"{context.tokens:,} tokens" in context.degraded[0]


def test_turns_that_the_host_shows_are_not_repeated(memory: Memory) -> None:
    shown = [f"remark number {number} about herons" for number in range(6)]
    for text in shown:
        memory.ingest(text, user="ada", session="s")
    memory.ingest("herons nest in April", user="ada", session="old")
    memory.wait(30)
    messages = [{"role": "user", "content": text} for text in shown]
    context = memory.context("what about herons?", user="ada", session="s", budget=2000, messages=messages)
    assert context.messages == tuple(messages)
    assert [entry.text for entry in entries_of(context.text)] == ["herons nest in April"]


def test_the_question_itself_is_not_recalled(memory: Memory) -> None:
    memory.ingest("where do herons nest?", user="ada", session="old")
    memory.ingest("herons nest in April", user="ada", session="old")
    memory.wait(30)
    context = memory.context("where do herons nest?", user="ada", session="new", budget=2000)
    assert [entry.text for entry in entries_of(context.text)] == ["herons nest in April"]


def test_what_did_not_change_keeps_its_bytes_and_its_place(memory: Memory) -> None:
    memory.load_document("AGENTS.md", "- Never force-push.\n- Always run the tests.\n")
    for number in range(8):
        memory.ingest(f"turn {number}", user="ada", session="s")
    memory.ingest("herons nest in April", user="ada", session="old")
    memory.ingest("the kettle is red", user="ada", session="old")
    memory.wait(30)
    first = memory.context("where do herons nest?", user="ada", session="s", budget=2000)
    second = memory.context("which colour has the kettle?", user="ada", session="s", budget=2000)
    cut = "<recalled_memories>"
    assert first.text != second.text
    assert first.text.split(cut)[0] == second.text.split(cut)[0] != ""
    again = memory.context("where do herons nest?", user="ada", session="s", budget=2000)
    assert again.text.split(cut)[0] == first.text.split(cut)[0]


def test_a_session_without_turns_recovers_more_within_the_reserve(memory: Memory) -> None:
    for number in range(80):
        memory.ingest(f"heron {number} nests near lake {number}", user="ada", session="old")
    memory.wait(30)
    fresh = memory.context("where do herons nest?", user="ada", session="new", budget=4000)
    assert fresh.receipt.offer.recovered
    assert fresh.assembly.tiers["recovered"].used <= 128
    memory.ingest("good morning", user="ada", session="new")
    later = memory.context("where do herons nest?", user="ada", session="new", budget=4000)
    assert not later.receipt.offer.recovered


def test_dreams_answer_dream_questions_and_no_others(memory: Memory) -> None:
    memory.ingest("I flew a kite over the harbour", user="ada", session="old")
    memory._store.commit([Put(Draft(dreams_of("ada"), "d1", "flying over a harbour of glass", {"role": "dream"}))])
    memory._indexer.notify()
    memory.wait(30)
    dream = memory.context("what did I dream about the harbour?", user="ada", session="s", budget=2000)
    assert [entry.text for entry in entries_of(dream.text)] == ["flying over a harbour of glass"]
    plain = memory.context("what happened at the harbour?", user="ada", session="s", budget=2000)
    assert [entry.text for entry in entries_of(plain.text)] == ["I flew a kite over the harbour"]


def test_contexts_of_many_threads_are_those_of_one(memory: Memory) -> None:
    for number in range(30):
        memory.ingest(f"heron {number} nests near lake {number}", user="ada", session="old")
    memory.wait(30)
    questions = [f"where does heron {number} nest?" for number in range(12)]
    alone = [memory.context(question, user="ada", session="s", budget=900).text for question in questions]
    together: dict[int, str] = {}

    def ask(number: int) -> None:
        together[number] = memory.context(questions[number], user="ada", session="s", budget=900).text

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[number] for number in range(12)] == alone


steps = st.lists(
    st.tuples(st.sampled_from(["ada", "bruno"]), st.sampled_from(["ingest", "context", "search", "erase"])),
    min_size=1,
    max_size=14,
)


@settings(max_examples=25)
@given(steps)
def test_two_users_never_see_each_other(estimated: Laws, steps: list[tuple[str, str]]) -> None:
    memory, case = estimated.memory, next(numbers)
    memory.load_document("RULES.md", "")
    names = {name: f"{name}{case}" for name in ("ada", "bruno")}
    marks = {name: f"secretof{name}" for name in names}
    for number, (name, verb) in enumerate(steps):
        user, other = names[name], marks["bruno" if name == "ada" else "ada"]
        if verb == "ingest":
            memory.ingest(f"shared words and {marks[name]} {number}", user=user, session="s")
        elif verb == "erase" and memory.search("shared words", user=user):
            memory.erase(user=user)
        elif verb == "search":
            assert all(other not in hit.text for hit in memory.search("shared words", user=user, k=20))
        else:
            context = memory.context(f"shared words of {other}?", user=user, session="s", budget=1500)
            assert all(other not in entry.text for entry in entries_of(context.text))
            for receipt in memory.receipts(user=user):
                assert receipt.namespace == user
                assert all(other not in turn.text for turn in receipt.offer.turns)
        assert all(other not in hit.text for hit in memory.search(other, user=user, k=20))
