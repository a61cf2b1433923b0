"""Counters and latencies of the daemon, told in the text format of Prometheus.

Laws: counting costs a lock and an addition. Names of methods come from the table, never from a request, so that nobody
can grow the list. The buckets of a histogram are cumulative and end with all.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@dataclass(slots=True)
class _Calls:
    """Of one method: how many ended well and how many did not, and how long they took."""

    failed: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))

    @property
    def count(self) -> int:
        return sum(self.buckets)


class Metrics:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, _Calls] = {}
        self._counts: dict[str, int] = {}
        self._gauges: dict[str, Callable[[], float]] = {}

    def called(self, method: str, seconds: float, *, failed: bool) -> None:
        with self._lock:
            calls = self._calls.setdefault(method, _Calls())
            calls.failed += failed
            calls.seconds += seconds
            calls.buckets[bisect_left(BOUNDS_S, seconds)] += 1

    def count(self, name: str, by: int = 1) -> None:
        with self._lock:
            self._counts[name] = self._counts.get(name, 0) + by

    def gauge(self, name: str, read: Callable[[], float]) -> None:
        """A figure that is read when somebody asks."""
        with self._lock:
            self._gauges[name] = read

    def counted(self, name: str) -> int:
        with self._lock:
            return self._counts.get(name, 0)

    def text(self) -> str:
        with self._lock:
            gauges = dict(self._gauges)
            lines = [*self._histograms(), *self._counters()]
        for name, read in sorted(gauges.items()):
            lines += [f"# TYPE libravdb_{name} gauge", f"libravdb_{name} {_figure(read())}"]
        return "\n".join(lines) + "\n" if lines else ""

    def _histograms(self) -> Iterator[str]:
        name = "libravdb_call_seconds"
        if self._calls:
            yield f"# HELP {name} Time from the arrival of a call to its answer."
            yield f"# TYPE {name} histogram"
        for method, calls in sorted(self._calls.items()):
            total = 0
            for bound, inside in zip((*map(_figure, BOUNDS_S), "+Inf"), calls.buckets, strict=True):
                total += inside
                yield f'{name}_bucket{{method="{method}",le="{bound}"}} {total}'
            yield f'{name}_sum{{method="{method}"}} {_figure(calls.seconds)}'
            yield f'{name}_count{{method="{method}"}} {total}'

    def _counters(self) -> Iterator[str]:
        if self._calls:
            yield "# HELP libravdb_call_failures_total Calls that were answered with an error."
            yield "# TYPE libravdb_call_failures_total counter"
        for method, calls in sorted(self._calls.items()):
            yield f'libravdb_call_failures_total{{method="{method}"}} {calls.failed}'
        for name, count in sorted(self._counts.items()):
            yield f"# TYPE libravdb_{name}_total counter"
            yield f"libravdb_{name}_total {count}"


def _figure(value: float) -> str:
    return f"{value:.9g}"
