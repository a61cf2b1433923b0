"""What a context and a search cost beside the embedding of their question, and how that grows with the store.

Each question is embedded, searched for and given a context in turn, so that a busy moment of the machine hits all.
Stored turns get synthetic vectors and token rows, fitted to real ones: making them with the model would take minutes
and change no cost.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from libravdb_memory.assemble.fill import fill
from libravdb_memory.bench import figures, machine, synthetic
from libravdb_memory.bench.texts import conversation
from libravdb_memory.config import Config, load_config
from libravdb_memory.context import Context
from libravdb_memory.engines.protocol import Embedder, TokenEmbedder
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.memory import Memory
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.protocol import Progress, Put
from libravdb_memory.store.sqlite.store import SqliteStore
from libravdb_memory.tokens import EstimatingCounter

MOST_OF_AN_EMBEDDING = 1.5
MOST_FILL_MS = 2.0
_USER = "ada"
_BATCH = 500
_RULES = "\n".join(
    (
        "# Working agreement",
        *(f"- Never ship change {number} without its test." for number in range(12)),
        "",
        *(f"> Prefer the plain form of answer {number} over the clever one.\n" for number in range(8)),
        *(f"The project began as experiment {number} in a small office by the harbour.\n" for number in range(20)),
    )
)


_MOST_SEARCH_MS = {10_000: 3.0, 100_000: 12.0}
"""Beside the embedding, at so many turns of one user."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """A context is measured in a store of `turns`, searches in stores of each of `growth` too."""

    turns: int = 10_000
    growth: tuple[int, ...] = (1_000, 100_000)
    sessions: int = 40
    questions: int = 200
    budget: int = 2_000


QUICK = Sizes(turns=400, growth=(100,), sessions=8, questions=20)


def run(progress: Progress, *, quick: bool = False, folder: Path | None = None) -> dict[str, Any]:
    sizes = QUICK if quick else Sizes()
    stores = sorted({sizes.turns, *sizes.growth})
    results: dict[str, Any] = {}
    growth: dict[str, Any] = {}
    for done, turns in enumerate(stores):
        progress(done, len(stores))
        with tempfile.TemporaryDirectory(prefix="libravdb-bench-", dir=folder) as name:
            config = _config(Path(name))
            embedder = make_embedder(config.embedding)
            _store_turns(config, embedder, turns, sizes)
            with Memory.open(config=config, embedder=embedder) as memory:
                memory.load_document("AGENTS.md", _RULES)
                memory.wait()
                growth[f"{turns:,}"] = _searches(memory, embedder, turns, sizes)
                if turns == sizes.turns:
                    results = _contexts(memory, embedder, sizes)
    progress(len(stores), len(stores))
    return {
        "results": {**results, "search_beside_embedding_ms": growth},
        "targets_meant_for_these_sizes": sizes == Sizes(),
        "sizes": asdict(sizes),
        "machine": machine.describe(),
    }


def _config(home: Path) -> Config:
    return load_config(environ={"LIBRAVDB_HOME": str(home)})


def _store_turns(config: Config, embedder: Embedder, turns: int, sizes: Sizes) -> None:
    texts = conversation(turns)
    vectors = synthetic.vectors(turns, seed=7)
    rule = embedder.token_rule if isinstance(embedder, TokenEmbedder) else ""
    began = time.time_ns() // 1_000_000 - 90 * 86_400_000
    with SqliteStore.open(config.db_path, settings=config.store) as store:
        space = store.add_space(embedder.space.fingerprint, embedder.space.label, embedder.space.dimensions)
        store.activate_space(space)
        space = store.keep_tokens(space, rule)
        for first in range(0, turns, _BATCH):
            batch = range(first, min(first + _BATCH, turns))
            puts = [Put(_draft(number, texts[number], began, turns, sizes), append_only=True) for number in batch]
            refs = [record.ref for record in store.commit(puts).records]
            tokens = [synthetic.token_rows(texts[number]) for number in batch] if rule else None
            store.put_vectors(space, refs, vectors[first : first + len(refs)], tokens=tokens)
        store.search_vectors(history_of(_USER), vectors[0], 1)  # the index of a large store is built on first use
        while not store.settle(60.0):
            pass


def _draft(number: int, text: str, began: int, turns: int, sizes: Sizes) -> Draft:
    role = "user" if number % 2 == 0 else "assistant"
    return Draft(
        history_of(_USER),
        f"t{number:06d}",
        text,
        {"role": role},
        ts=began + number * 600_000,
        group=f"s{number * sizes.sessions // turns}",
    )


def _searches(memory: Memory, embedder: Embedder, turns: int, sizes: Sizes) -> dict[str, Any]:
    questions = _questions(sizes.questions)
    for question in questions:  # what a running memory has at hand
        memory.search(question, user=_USER)
    embeddings, searches = _in_turn(memory, embedder, questions, lambda question: memory.search(question, user=_USER))
    beside = (statistics.median(searches) - statistics.median(embeddings)) * 1e3
    details = {"search": figures.spread(searches), "embedding": figures.spread(embeddings)}
    if turns in _MOST_SEARCH_MS:
        return figures.at_most(beside, _MOST_SEARCH_MS[turns], **details)
    return {"value": round(beside, 4), **details}


def _contexts(memory: Memory, embedder: Embedder, sizes: Sizes) -> dict[str, Any]:
    built: list[Context] = []

    def assemble(question: str) -> None:
        session = f"s{sizes.sessions - 1}"
        built.append(memory.context(question, user=_USER, session=session, budget=sizes.budget))

    embeddings, contexts = _in_turn(memory, embedder, _questions(sizes.questions), assemble)
    fills = _fills(built)
    ratio = statistics.median(contexts) / statistics.median(embeddings)
    return {
        "context_to_query_embedding": figures.at_most(
            ratio, MOST_OF_AN_EMBEDDING, context=figures.spread(contexts), embedding=figures.spread(embeddings)
        ),
        "fill_p50_ms": figures.at_most(statistics.median(fills) * 1e3, MOST_FILL_MS, **figures.spread(fills)),
        "tokens_p50": statistics.median(context.tokens for context in built),
    }


def _in_turn(
    memory: Memory, embedder: Embedder, questions: Sequence[str], answer: Callable[[str], object]
) -> tuple[list[float], list[float]]:
    """Seconds to embed each question, and to answer it. What is written off the path, receipts and counts, is waited
    for in between: between two prompts of an agent there is time for it."""
    embeddings: list[float] = []
    answers: list[float] = []
    for question in questions:
        memory.wait()
        started = time.perf_counter()
        embedder.embed_query(question)
        between = time.perf_counter()
        answer(question)
        answers.append(time.perf_counter() - between)
        embeddings.append(between - started)
    return embeddings, answers


def _fills(built: Sequence[Context]) -> list[float]:
    """The pure stage alone, on what was offered to each context."""
    counter = EstimatingCounter()
    seconds: list[float] = []
    for context in built:
        started = time.perf_counter()
        fill(context.receipt.offer, counter, context.receipt.settings)
        seconds.append(time.perf_counter() - started)
    return seconds


def _questions(count: int) -> list[str]:
    """Questions as people ask them, about the things of the conversation: short, and each of its own wording."""
    turns = conversation(count * 8, seed=99)
    asked = [turn for turn in turns if 20 <= len(turn) <= 120]
    return [f"What do you know about this: {turn}" for turn in asked[:count]]
