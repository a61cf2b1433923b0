"""Turns into a daemon's store, until all of them are embedded and judged and what overflows is compacted.

Either the daemon stores them, as it stores anybody's; or they are written before it starts, with synthetic vectors and
token rows that are fitted to real ones: making those with the model takes minutes and changes no cost of a search.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from libravdb_memory.bench import synthetic
from libravdb_memory.bench.load.lines import AsyncLine, Line
from libravdb_memory.bench.load.subject import LoadError, Subject
from libravdb_memory.config import Config
from libravdb_memory.engines.protocol import TokenEmbedder
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import history_of
from libravdb_memory.store.protocol import Progress, Put
from libravdb_memory.store.sqlite.store import SqliteStore

_LINES = 8
_AHEAD = 32
_LOOK_S = 0.25
_STANDSTILL_S = 300.0
_BATCH = 500
_APART_MS = 60_000


def fill(subject: Subject, said: Sequence[dict[str, Any]], progress: Progress) -> None:
    asyncio.run(_store(subject, said))
    settle(subject, progress, len(said), _of_users(said))


def write_synthetic(config: Config, said: Sequence[dict[str, Any]], progress: Progress) -> None:
    """Into a store that no daemon has open yet; the last of them was said just now."""
    embedder = make_embedder(config.embedding)
    rule = embedder.token_rule if isinstance(embedder, TokenEmbedder) else ""
    vectors = synthetic.vectors(len(said), seed=7)
    began = time.time_ns() // 1_000_000 - len(said) * _APART_MS
    config.db_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with SqliteStore.open(config.db_path, settings=config.store) as store:
        space = store.add_space(embedder.space.fingerprint, embedder.space.label, embedder.space.dimensions)
        store.activate_space(space)
        space = store.keep_tokens(space, rule)
        for first in range(0, len(said), _BATCH):
            batch = said[first : first + _BATCH]
            drafts = [_draft(turn, began + (first + at) * _APART_MS) for at, turn in enumerate(batch)]
            refs = [record.ref for record in store.commit([Put(draft, append_only=True) for draft in drafts]).records]
            tokens = [synthetic.token_rows(turn["text"]) for turn in batch] if rule else None
            store.put_vectors(space, refs, vectors[first : first + len(refs)], tokens=tokens)
            progress(first + len(batch), len(said))


def settle_judged(subject: Subject, said: Sequence[dict[str, Any]], progress: Progress) -> None:
    settle(subject, progress, len(said), _of_users(said))


def _draft(turn: dict[str, Any], ts: int) -> Draft:
    history, session = history_of(turn["userId"]), str(turn["sessionId"])
    return Draft(history, turn["id"], turn["text"], {"role": turn["role"]}, ts=ts, group=session)


def _of_users(said: Sequence[dict[str, Any]]) -> int:
    return sum(turn["role"] == "user" for turn in said)


def settle(subject: Subject, progress: Progress, total: int, judged: int = 0) -> None:
    """Wait until nothing is left to be done in the background, and so many turns are judged."""
    line = Line(subject)
    best, moved = total + judged + 1, time.monotonic()
    try:
        while (left := _left(line, judged)) is not None:
            progress(max(total - left, 0), total)
            if left < best:
                best, moved = left, time.monotonic()
            if time.monotonic() - moved > _STANDSTILL_S:
                raise LoadError(f"the daemon does not get on with what it stored: {left} turns are not embedded")
            time.sleep(_LOOK_S)
        progress(total, total)
    finally:
        line.close()


def _left(line: Line, judged: int) -> int | None:
    """Turns without a vector or a judgement and sessions to compact; None when there are none."""
    status = line.call("status")
    indexing, compaction = status["indexing"], status["compaction"]
    if failure := indexing["failure"] or compaction["failure"]:
        raise LoadError(f"the daemon cannot index what it stored: {failure}")
    unjudged = max(judged - int(status["gate"]["judged"]), 0)
    if not (indexing["pending"] or unjudged or compaction["waiting"] or compaction["running"]):
        return None
    return int(indexing["pending"]) + unjudged + int(compaction["waiting"])


async def _store(subject: Subject, said: Sequence[dict[str, Any]]) -> None:
    async def one(share: Sequence[dict[str, Any]]) -> None:
        line = await AsyncLine.open(subject)
        for first in range(0, len(share), _AHEAD):
            batch = share[first : first + _AHEAD]
            for turn in batch:
                line.send("ingest_message", turn)
            for _ in batch:
                if b'"error"' in (answer := await line.answer())[:64]:
                    raise LoadError(f"the daemon did not store a turn: {answer.decode(errors='replace')[:300]}")
        await line.close()

    await asyncio.gather(*(one(said[number::_LINES]) for number in range(_LINES)))
