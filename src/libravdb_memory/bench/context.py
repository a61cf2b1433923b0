"""What a context costs beside the embedding of its question, in one store of ten thousand turns.

The two are measured in turns, each question once for each, so that a busy moment of the machine hits both. Stored turns
get synthetic vectors, fitted to real ones: making them with the model would take minutes and change no cost.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from libravdb_memory.assemble.fill import fill
from libravdb_memory.bench import figures, machine, synthetic
from libravdb_memory.bench.texts import conversation
from libravdb_memory.config import Config, load_config
from libravdb_memory.context import Context
from libravdb_memory.engines.protocol import Embedder
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
_STEPS = 4
_RULES = "\n".join(
    (
        "# Working agreement",
        *(f"- Never ship change {number} without its test." for number in range(12)),
        "",
        *(f"> Prefer the plain form of answer {number} over the clever one.\n" for number in range(8)),
        *(f"The project began as experiment {number} in a small office by the harbour.\n" for number in range(20)),
    )
)


@dataclass(frozen=True, slots=True)
class Sizes:
    turns: int = 10_000
    sessions: int = 40
    questions: int = 200
    budget: int = 2_000


QUICK = Sizes(turns=400, sessions=8, questions=20)


def run(progress: Progress, *, quick: bool = False, folder: Path | None = None) -> dict[str, Any]:
    sizes = QUICK if quick else Sizes()
    with tempfile.TemporaryDirectory(prefix="libravdb-bench-", dir=folder) as name:
        config = _config(Path(name))
        embedder = make_embedder(config.embedding)
        progress(0, _STEPS)
        _store_turns(config, embedder, sizes)
        progress(1, _STEPS)
        with Memory.open(config=config, embedder=embedder) as memory:
            memory.load_document("AGENTS.md", _RULES)
            memory.wait()
            progress(2, _STEPS)
            measured = _measure(memory, embedder, sizes)
    progress(_STEPS, _STEPS)
    return {
        "results": measured,
        "targets_meant_for_these_sizes": sizes == Sizes(),
        "sizes": asdict(sizes),
        "machine": machine.describe(),
    }


def _config(home: Path) -> Config:
    return load_config(environ={"LIBRAVDB_HOME": str(home)})


def _store_turns(config: Config, embedder: Embedder, sizes: Sizes) -> None:
    texts = conversation(sizes.turns)
    vectors = synthetic.vectors(sizes.turns, seed=7)
    began = time.time_ns() // 1_000_000 - 90 * 86_400_000
    with SqliteStore.open(config.db_path, settings=config.store) as store:
        space = store.add_space(embedder.space.fingerprint, embedder.space.label, embedder.space.dimensions)
        store.activate_space(space)
        for first in range(0, sizes.turns, _BATCH):
            puts = [
                Put(_draft(number, texts[number], began, sizes), append_only=True)
                for number in range(first, min(first + _BATCH, sizes.turns))
            ]
            refs = [record.ref for record in store.commit(puts).records]
            store.put_vectors(space, refs, vectors[first : first + len(refs)])


def _draft(number: int, text: str, began: int, sizes: Sizes) -> Draft:
    role = "user" if number % 2 == 0 else "assistant"
    return Draft(
        history_of(_USER),
        f"t{number:06d}",
        text,
        {"role": role},
        ts=began + number * 600_000,
        group=f"s{number * sizes.sessions // sizes.turns}",
    )


def _measure(memory: Memory, embedder: Embedder, sizes: Sizes) -> dict[str, Any]:
    session = f"s{sizes.sessions - 1}"
    questions = _questions(sizes.questions)
    for question in questions[:5]:
        memory.context(question, user=_USER, session=session, budget=sizes.budget)
    embeddings: list[float] = []
    contexts: list[float] = []
    built: list[Context] = []
    for question in questions:
        started = time.perf_counter()
        embedder.embed_query(question)
        between = time.perf_counter()
        built.append(memory.context(question, user=_USER, session=session, budget=sizes.budget))
        contexts.append(time.perf_counter() - between)
        embeddings.append(between - started)
    fills = _fills(built)
    ratio = statistics.median(contexts) / statistics.median(embeddings)
    return {
        "context_to_query_embedding": figures.at_most(
            ratio, MOST_OF_AN_EMBEDDING, context=figures.spread(contexts), embedding=figures.spread(embeddings)
        ),
        "fill_p50_ms": figures.at_most(statistics.median(fills) * 1e3, MOST_FILL_MS, **figures.spread(fills)),
        "tokens_p50": statistics.median(context.tokens for context in built),
    }


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
