"""How long calls take, for tests that ask whether somebody else made them slower."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median

from tests.serve.process import Client


@dataclass(frozen=True)
class Latency:
    """Seconds."""

    median: float
    slowest: float


def of_calls(client: Client, session: str, count: int = 60) -> dict[str, Latency]:
    """Of the calls of an ordinary conversation, in turn."""
    where = {"userId": "olga", "sessionId": session}
    taken: dict[str, list[float]] = {}
    for number in range(count):
        for method, params in (
            ("health", {}),
            ("ingest_message", {**where, "text": f"Lamp {number} of {session} is lit."}),
            ("memory_history", where),
            ("memory_search", {"userId": "olga", "query": "which lamp is lit?", "k": 3}),
            ("assemble_context", {**where, "prompt": "which lamp is lit?", "budget": 500}),
        ):
            began = time.monotonic()
            client.call(method, **params)
            taken.setdefault(method, []).append(time.monotonic() - began)
    return {method: Latency(median(seconds), max(seconds)) for method, seconds in taken.items()}


def assert_not_slowed(before: dict[str, Latency], after: dict[str, Latency]) -> None:
    """In the median, by no more than the noise of a busy machine."""
    for method, latency in after.items():
        assert latency.median < 4 * before[method].median + 0.05, (method, before[method], latency)
