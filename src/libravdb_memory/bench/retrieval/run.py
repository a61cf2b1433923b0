"""A run: read the files, store every turn, wait until all is embedded, ask every question, average.

The product is configured as for anybody on this machine; what was configured stands in the result, without paths.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from libravdb_memory.bench import machine
from libravdb_memory.bench.retrieval import compare
from libravdb_memory.bench.retrieval.asking import Answered, Asking, ingest, open_indexes, users_of
from libravdb_memory.bench.retrieval.dataset import DataSet, limited, read_all
from libravdb_memory.bench.retrieval.summary import counts_overall, summary
from libravdb_memory.bench.retrieval.timing import TimedEmbedder
from libravdb_memory.config import Config, known_settings, load_config
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.engines.token_counter import make_counter
from libravdb_memory.errors import InvalidInputError
from libravdb_memory.memory import Memory
from libravdb_memory.store.protocol import Progress

Stage: TypeAlias = Callable[[str, str], AbstractContextManager[Progress]]
"""Opens a progress bar: what is done, and what is counted."""


@dataclass(frozen=True, slots=True)
class Options:
    """`profile` None leaves the configured one; `filler` turns are added to every user; `limit` None asks all."""

    data: tuple[Path, ...]
    depths: tuple[int, ...] = (5, 10, 20)
    profile: str | None = None
    contexts: bool = True
    filler: int = 0
    limit: int | None = None
    against: Path | None = None


def run(options: Options, stage: Stage) -> dict[str, Any]:
    started = time.monotonic()
    old = compare.read_results(options.against) if options.against else None
    data = read_all(options.data)
    data = data if options.limit is None else limited(data, options.limit)
    with tempfile.TemporaryDirectory(prefix="libravdb-bench-") as folder:
        # Questions are asked in sessions of their own, where no summary is shown: making them would only take time.
        overrides = {"db_path": Path(folder), "retrieval.profile": options.profile, "compaction.trigger_tokens": 0}
        config = load_config(overrides=overrides)
        answers, results = _measured(options, config, data, stage)
    results |= {
        "config": settings_in_force(config)
        | {"bench.depths": list(options.depths), "bench.filler": options.filler, "bench.limit": options.limit},
        "machine": machine.describe(),
        "seconds": round(time.monotonic() - started, 1),
    }
    if old is not None:
        keys = [answer.key for answer in answers if counts_overall(answer)]
        results["against"] = compare.compare(old, results, keys)
    return results


def _measured(
    options: Options, config: Config, data: tuple[DataSet, ...], stage: Stage
) -> tuple[list[Answered], dict[str, Any]]:
    users = users_of(data)
    if not any(question.gold for user in users for question in user.conversation.questions):
        raise InvalidInputError("--data", "there is no question with gold turns")
    embedder = TimedEmbedder(make_embedder(config.embedding))
    with Memory.open(config=config, embedder=embedder) as memory:
        with stage("storing", "turns") as progress:
            ingest(memory, users, options.filler, progress)
        with stage("embedding", "turns") as progress:
            memory.reindex(progress)
        if options.filler:
            with stage("building indexes", "users") as progress:
                open_indexes(memory, users, progress)
        counter = make_counter(config.assembly.tokenizer)
        asking = Asking(memory, embedder, counter, options.depths, contexts=options.contexts)
        with stage("asking", "questions") as progress:
            answers = list(asking.answers(users, progress))
    return answers, summary(data, answers, asking.times, asking.degraded)


def settings_in_force(config: Config) -> dict[str, object]:
    """Every setting by its name; of a path only the last part, for what is measured is published."""
    values: dict[str, object] = {}
    for setting in known_settings():
        if setting.section and not setting.key.endswith("_paths"):
            values[setting.name] = _published(getattr(getattr(config, setting.section), setting.key), setting.is_path)
    values["assembly.tokenizer"] = Path(config.assembly.tokenizer).name
    return values


def _published(value: object, is_path: bool) -> object:
    """As JSON has it, so that it equals what an earlier run wrote."""
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        return [_published(item, is_path or isinstance(item, Path)) for item in items]
    return Path(str(value)).name if is_path and value else value
