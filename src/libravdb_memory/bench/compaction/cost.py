"""What compacting costs: its time beside one embedding of the same sentences, and what it does to whoever stores turns.

The two are measured in turn, so that a busy moment of the machine hits both; every round starts from a copy of one
store, in which nothing is compacted and everything embedded. The time is taken of a compaction that has the machine to
itself, of one during a talk, and of one while a program sends turns: each beside an embedding that has the machine to
itself.
"""

from __future__ import annotations

import shutil
import statistics
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any

from libravdb_memory.bench import figures
from libravdb_memory.bench.compaction.asking import SESSION, compacted
from libravdb_memory.bench.compaction.kept import facts_of_folds
from libravdb_memory.bench.retrieval.dataset import DataSet, Said
from libravdb_memory.bench.retrieval.timing import spread_ms
from libravdb_memory.bench.texts import conversation
from libravdb_memory.compact.sanitise import sanitise
from libravdb_memory.compact.views import View
from libravdb_memory.compact.voices import spoken
from libravdb_memory.compacting import Compaction
from libravdb_memory.config import Config
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.memory import Memory
from libravdb_memory.store.protocol import Progress

MOST_OF_AN_EMBEDDING = 1.3
MOST_OF_A_QUIET_INGEST = 2.0
_USER = "ada"
_TALK_PAUSE_S, _LOAD_PAUSE_S = 0.5, 0.02
"""Between two turns that arrive: nobody talks faster, and a program that sends what was said elsewhere."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Turns that are compacted, rounds, and turns that arrive in each while nothing else happens."""

    turns: int = 1_000
    rounds: int = 9
    arriving: int = 400


QUICK = Sizes(turns=120, rounds=1, arriving=20)


@dataclass(frozen=True, slots=True)
class _Timed:
    """Seconds of a compaction, of it and of embedding its summaries behind it, and of embedding its sentences."""

    seconds: float
    searchable_s: float
    embedding_s: float
    sentences: int
    done: Compaction


@dataclass(frozen=True, slots=True)
class _Busy:
    """Seconds of storing each turn that arrived during a compaction, and of the compaction."""

    arrivals: list[float]
    seconds: float


def measured(data: Sequence[DataSet], config: Config, folder: Path, sizes: Sizes, progress: Progress) -> dict[str, Any]:
    turns = _turns(data, sizes.turns)
    original = folder / "original"
    _store(turns, replace(config, db_path=original), progress)
    timed: list[_Timed] = []
    quiet: list[list[float]] = []
    talks: list[_Busy] = []
    loads: list[_Busy] = []
    folds: dict[str, Any] = {}
    for number in range(sizes.rounds):
        with _copy(original, config, folder) as memory:
            timed.append(_timed(memory, turns, embed_first=bool(number % 2)))
            folds = facts_of_folds(compacted(memory, _USER))
        with _copy(original, config, folder) as memory:
            texts = conversation(sizes.arriving, seed=number + 2)
            _arrivals(memory, texts[:1], _TALK_PAUSE_S)
            talks.append(_while_compacting(memory, texts[1:], _TALK_PAUSE_S))
        with _copy(original, config, folder) as memory:
            quiet.append(_arrivals(memory, texts, _LOAD_PAUSE_S))
            loads.append(_while_compacting(memory, texts, _LOAD_PAUSE_S))
        progress(number + 1, sizes.rounds)
    return {
        "compaction_to_embedding_its_sentences": _cost(timed),
        "facts_kept_by_folds_there": folds,
        "compaction_during_a_talk_to_embedding": _beside(timed, talks, MOST_OF_AN_EMBEDDING),
        "compaction_under_load_to_embedding": _beside(timed, loads),
        "ingest_p99_during_compaction": _ingest(quiet, [each.arrivals for each in loads]),
    }


# ── compacting beside embedding ──────────────────────────────────────────────────────────────────────────────────


def _timed(memory: Memory, turns: Sequence[Said], *, embed_first: bool) -> _Timed:
    tail = memory.history(user=_USER, session=SESSION).tail
    views = [View(sanitise(turn.text), turn.speaker or turn.role) for turn in turns[: len(turns) - tail]]
    sentences = list(dict.fromkeys(sentence.text for sentence in spoken(views)))
    embedding_s = _seconds(memory.embedder, sentences) if embed_first else 0.0
    started = time.perf_counter()
    done = memory.compact(user=_USER, session=SESSION)
    seconds = time.perf_counter() - started
    memory.wait()
    searchable_s = time.perf_counter() - started
    embedding_s = embedding_s or _seconds(memory.embedder, sentences)
    return _Timed(seconds, searchable_s, embedding_s, len(sentences), done)


def _seconds(embedder: Embedder, sentences: Sequence[str]) -> float:
    started = time.perf_counter()
    embedder.embed_documents(sentences)
    return time.perf_counter() - started


def _cost(timed: Sequence[_Timed]) -> dict[str, Any]:
    first = timed[0]
    return figures.at_most(
        statistics.median(each.seconds / each.embedding_s for each in timed),
        MOST_OF_AN_EMBEDDING,
        of_each_round=[round(each.seconds / each.embedding_s, 4) for each in timed],
        and_embedding_its_summaries=round(statistics.median(each.searchable_s / each.embedding_s for each in timed), 4),
        compacting_s=round(statistics.median(each.seconds for each in timed), 3),
        embedding_s=round(statistics.median(each.embedding_s for each in timed), 3),
        turns=first.done.turns,
        sentences=first.sentences,
        summaries=len(first.done.summaries),
        folds=len(first.done.folds),
    )


def _beside(timed: Sequence[_Timed], busy: Sequence[_Busy], most: float | None = None) -> dict[str, Any]:
    """The same of compactions while turns arrived, which are embedded too."""
    ratios = [beside.seconds / alone.embedding_s for alone, beside in zip(timed, busy, strict=True)]
    more = {
        "of_each_round": [round(ratio, 4) for ratio in ratios],
        "compacting_s": round(statistics.median(each.seconds for each in busy), 3),
        "turns_arriving": sum(len(each.arrivals) for each in busy),
    }
    median = statistics.median(ratios)
    return {"value": round(median, 4), **more} if most is None else figures.at_most(median, most, **more)


# ── storing turns meanwhile ──────────────────────────────────────────────────────────────────────────────────────


def _arrivals(
    memory: Memory, texts: Iterable[str], pause_s: float, until: threading.Event | None = None
) -> list[float]:
    """Seconds of storing each turn, at an even pace; all of them, or as many as arrive until something is done."""
    seconds: list[float] = []
    for text in texts:
        started = time.perf_counter()
        memory.ingest(text, user=_USER, session="beside")
        seconds.append(time.perf_counter() - started)
        if until is None:
            time.sleep(pause_s)
        elif until.wait(pause_s):
            break
    return seconds


def _while_compacting(memory: Memory, texts: Sequence[str], pause_s: float) -> _Busy:
    memory.wait()
    done = threading.Event()
    took: list[float] = []

    def compact() -> None:
        started = time.perf_counter()
        try:
            memory.compact(user=_USER, session=SESSION)
            took.append(time.perf_counter() - started)
        finally:
            done.set()

    thread = threading.Thread(target=compact, name="libravdb-bench-compaction")
    thread.start()
    try:
        arrivals = _arrivals(memory, cycle(texts), pause_s, done)
    finally:
        thread.join()
    return _Busy(arrivals, took[0])


def _ingest(quiet: Sequence[Sequence[float]], busy: Sequence[Sequence[float]]) -> dict[str, Any]:
    rounds = [_p99(beside) / _p99(alone) for alone, beside in zip(quiet, busy, strict=True)]
    together = [[second for part in parts for second in part] for parts in (quiet, busy)]
    alone, beside = (spread_ms(seconds) for seconds in together)
    return figures.at_most(
        statistics.median(rounds),
        MOST_OF_A_QUIET_INGEST,
        of_each_round=[round(value, 4) for value in rounds],
        quiet_ms=alone,
        during_compaction_ms=beside,
        turns_quiet=len(together[0]),
        turns_during_compaction=len(together[1]),
    )


def _p99(seconds: Sequence[float]) -> float:
    return spread_ms(seconds)["p99"]


# ── the store of every round ─────────────────────────────────────────────────────────────────────────────────────


def _turns(data: Sequence[DataSet], count: int) -> list[Said]:
    """Those of the conversations one after the other, then invented ones; roles and times as in one session."""
    real = [turn for part in data for talk in part.conversations for turn in talk.turns][:count]
    invented = [
        Said("", SESSION, "user" if place % 2 == 0 else "assistant", None, 0, text)
        for place, text in enumerate(conversation(count - len(real)))
    ]
    began = time.time_ns() // 1_000_000 - count * 60_000
    return [
        replace(turn, id=f"t{place:05}", session=SESSION, ts=began + place * 60_000)
        for place, turn in enumerate((*real, *invented))
    ]


def _store(turns: Sequence[Said], config: Config, progress: Progress) -> None:
    with Memory.open(config=config) as memory:
        for turn in turns:
            memory.ingest(
                turn.text, user=_USER, session=SESSION, role=turn.role, ts=turn.ts, id=turn.id, speaker=turn.speaker
            )
        memory.reindex(progress)


@contextmanager
def _copy(original: Path, config: Config, folder: Path) -> Generator[Memory]:
    """A memory over a copy of the store, at rest and with its model loaded."""
    copied = folder / "copy"
    shutil.copytree(original, copied)
    try:
        with Memory.open(config=replace(config, db_path=copied)) as memory:
            memory.embedder.warm_up()
            memory.wait()
            yield memory
    finally:
        shutil.rmtree(copied)
