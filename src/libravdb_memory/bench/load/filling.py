"""Turns into a daemon's store, until all of them are embedded and what overflows is compacted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from libravdb_memory.bench.load.lines import AsyncLine, Line
from libravdb_memory.bench.load.subject import LoadError, Subject
from libravdb_memory.store.protocol import Progress

_LINES = 8
_AHEAD = 32
_LOOK_S = 0.25
_STANDSTILL_S = 300.0


def fill(subject: Subject, said: Sequence[dict[str, Any]], progress: Progress) -> None:
    asyncio.run(_store(subject, said))
    settle(subject, progress, len(said))


def settle(subject: Subject, progress: Progress, total: int) -> None:
    """Wait until nothing is left to be done in the background."""
    line = Line(subject)
    best, moved = total + 1, time.monotonic()
    try:
        while (left := _left(line)) is not None:
            progress(max(total - left, 0), total)
            if left < best:
                best, moved = left, time.monotonic()
            if time.monotonic() - moved > _STANDSTILL_S:
                raise LoadError(f"the daemon does not get on with what it stored: {left} turns are not embedded")
            time.sleep(_LOOK_S)
        progress(total, total)
    finally:
        line.close()


def _left(line: Line) -> int | None:
    """Turns without a vector and sessions to compact; None when there are none."""
    status = line.call("status")
    indexing, compaction = status["indexing"], status["compaction"]
    if failure := indexing["failure"] or compaction["failure"]:
        raise LoadError(f"the daemon cannot index what it stored: {failure}")
    if not (indexing["pending"] or compaction["waiting"] or compaction["running"]):
        return None
    return int(indexing["pending"]) + int(compaction["waiting"])


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
