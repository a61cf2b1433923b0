"""What a call to the daemon costs over the same call of the library.

Both work on the same turns: the library on a copy of the daemon's store. The ways are taken in turn, round by round, so
that a busy moment of the machine hits all; what is told is the difference of their medians.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from libravdb_memory.bench import figures
from libravdb_memory.bench.load.crowd import BUDGET, Crowd
from libravdb_memory.bench.load.lines import Line
from libravdb_memory.memory import Memory
from libravdb_memory.serve.client import Client
from libravdb_memory.store.protocol import Progress

MOST_OVER_MS = 0.2
_PAUSE_S = 0.01
"""After a costly call: what it left to be done in the background must not meet the next."""

Way: TypeAlias = Callable[[int], object]


def overhead(
    memory: Memory, line: Line, client: Client, crowd: Crowd, rounds: tuple[int, int], progress: Progress
) -> dict[str, Any]:
    """`rounds` are those of a cheap call and of a costly one."""
    total = sum(rounds)

    def cheap_direct(number: int) -> object:
        place = crowd.place(number)
        return memory.get(f"t{number}", user=place["userId"], session=place["sessionId"])

    def cheap_daemon(number: int) -> object:
        return line.call("memory_get", **crowd.place(number), id=f"t{number}")

    def cheap_client(number: int) -> object:
        place = crowd.place(number)
        return client.get(f"t{number}", user=place["userId"], session=place["sessionId"])

    def nothing(_: int) -> object:
        return line.call("health")

    def costly_direct(number: int) -> object:
        place = crowd.place(number)
        return memory.context(_prompt(number), user=place["userId"], session=place["sessionId"], budget=BUDGET)

    def costly_daemon(number: int) -> object:
        return line.call("assemble_context", **crowd.place(number), prompt=_prompt(number), budget=BUDGET)

    cheap = in_turn(
        (cheap_direct, cheap_daemon, cheap_client, nothing), rounds[0], crowd.turns, 0.0, _shown(progress, 0, total)
    )
    costly = in_turn(
        (costly_direct, costly_daemon), rounds[1], crowd.turns, _PAUSE_S, _shown(progress, rounds[0], total)
    )
    return {
        "memory_get_ms": _over(cheap[0], cheap[1], through_python_client=_difference(cheap[0], cheap[2])),
        "assemble_context_ms": _over(costly[0], costly[1]),
        "call_that_does_nothing": figures.spread(cheap[3]),
    }


def in_turn(
    ways: Sequence[Way], rounds: int, turns: int, pause_s: float, show: Callable[[int], None]
) -> list[list[float]]:
    """Seconds of each way, round by round, after a few that do not count; who comes first changes."""
    seconds: list[list[float]] = [[] for _ in ways]
    warm = max(rounds // 10, 2)
    for number in range(-warm, rounds):
        for step in range(len(ways)):
            which = (number + step) % len(ways)
            time.sleep(pause_s)
            began = time.perf_counter()
            ways[which](abs(number) * 37 % turns)
            if number >= 0:
                seconds[which].append(time.perf_counter() - began)
        show(max(number + 1, 0))
    return seconds


def _shown(progress: Progress, before: int, total: int) -> Callable[[int], None]:
    return lambda done: progress(before + done, total)


def _over(direct: Sequence[float], daemon: Sequence[float], **further: Any) -> dict[str, Any]:
    least = round((_tenth(daemon) - _tenth(direct)) * 1e3, 4)
    details = {
        "between_the_quickest_tenths": least,
        "direct": figures.spread(direct),
        "daemon": figures.spread(daemon),
        **further,
    }
    return figures.at_most(_difference(direct, daemon), MOST_OVER_MS, **details)


def _difference(direct: Sequence[float], other: Sequence[float]) -> float:
    return round((statistics.median(other) - statistics.median(direct)) * 1e3, 4)


def _tenth(seconds: Sequence[float]) -> float:
    """What a tenth of the rounds stayed below: those that a busy machine disturbed least."""
    return sorted(seconds)[len(seconds) // 10]


def _prompt(number: int) -> str:
    return f"What did we say about the contract and server {number}?"
