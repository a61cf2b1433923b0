"""Many clients at once, each with its next call as soon as the last one is answered; and what the daemon takes up.

Law: an answer counts when it is a result; anything else is an error, with its words.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from libravdb_memory.bench.load.crowd import Ask, Crowd
from libravdb_memory.bench.load.lines import AsyncLine
from libravdb_memory.bench.load.subject import Subject
from libravdb_memory.serve.gauges import cpu_seconds, resident_bytes
from libravdb_memory.store.protocol import Progress

_SAMPLES = 120
_FEWEST = 3


@dataclass(slots=True)
class Pressed:
    """Seconds of each call by its method, errors by their words, and (seconds since the start, resident bytes).
    `cpu_s` is what the daemon used of all processors, where the system tells."""

    seconds: float = 0.0
    cpu_s: float | None = None
    latencies: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    errors: Counter[str] = field(default_factory=Counter[str])
    resident: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])

    @property
    def answered(self) -> int:
        return sum(map(len, self.latencies.values()))


def press(subject: Subject, crowd: Crowd, connections: int, seconds: float, progress: Progress) -> Pressed:
    return asyncio.run(_press(subject, crowd, connections, seconds, progress))


async def _press(subject: Subject, crowd: Crowd, connections: int, seconds: float, progress: Progress) -> Pressed:
    pressed = Pressed()
    lines = await asyncio.gather(*(AsyncLine.open(subject) for _ in range(connections)))
    plans = [_begun(crowd.calls(number)) for number in range(connections)]
    used_before = cpu_seconds(subject.pid)
    began = time.monotonic()
    deadline = began + seconds
    watching = asyncio.create_task(_watch(subject.pid, pressed, began, seconds, progress))
    await asyncio.gather(*(_talk(*each, deadline, pressed) for each in zip(lines, plans, strict=True)))
    pressed.seconds = time.monotonic() - began
    if used_before is not None and (used := cpu_seconds(subject.pid)) is not None:
        pressed.cpu_s = used - used_before
    watching.cancel()
    progress(int(seconds), int(seconds))
    return pressed


def _begun(calls: Iterator[Ask]) -> Iterator[Ask]:
    """With the first of them made: writing texts must not take the time of those that are measured."""
    return chain([next(calls)], calls)


async def _talk(line: AsyncLine, calls: Iterator[Ask], deadline: float, pressed: Pressed) -> None:
    for method, params in calls:
        began = time.monotonic()
        if began >= deadline:
            break
        try:
            answer = await line.ask(method, params)
        except OSError as error:
            pressed.errors[f"{method}: {error}"] += 1
            break
        if (words := _error_in(answer)) is not None:
            pressed.errors[f"{method}: {words}"] += 1
        else:
            pressed.latencies.setdefault(method, []).append(time.monotonic() - began)
    await line.close()


def _error_in(answer: bytes) -> str | None:
    if b'"result":' in answer[:64]:
        return None
    form: dict[str, Any] = json.loads(answer)
    return str(form.get("error", form))


async def _watch(pid: int, pressed: Pressed, began: float, seconds: float, progress: Progress) -> None:
    while True:
        now = time.monotonic() - began
        if (resident := resident_bytes(pid)) is not None:
            pressed.resident.append((now, resident))
        progress(min(int(now), int(seconds)), int(seconds))
        await asyncio.sleep(seconds / _SAMPLES)


def growth(resident: Sequence[tuple[float, int]]) -> tuple[float, float] | None:
    """Resident MB after the warm-up, the first third, and at the end: each the mean of a tenth of the samples."""
    sizes = [size for _, size in resident]
    if len(sizes) < _FEWEST:
        return None
    window, warm = max(len(sizes) // 10, 1), len(sizes) // 3
    return _mean_mb(sizes[warm : warm + window]), _mean_mb(sizes[-window:])


def _mean_mb(sizes: Sequence[int]) -> float:
    return sum(sizes) / len(sizes) / 1e6
