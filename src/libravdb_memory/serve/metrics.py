"""Counters and latencies of the daemon, and the one list of all its figures.

Laws: counting costs a lock and an addition. Names of methods come from the table and kinds of failures from the classes
of errors, never from a request, so that nobody can grow the list. The buckets of a histogram are cumulative and end
with all. Every counter is told from the start, with zero.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from libravdb_memory.serve.exposition import Family, Sample, by_label, figure, text_of
from libravdb_memory.serve.exposition import gauge as gauge_family

BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
COUNTERS: Mapping[str, str] = {
    "bad_frames": "Lines of clients that were no calls.",
    "calls_refused": "Calls of no known method, or with parameters that cannot be read.",
    "connections": "Connections that were accepted.",
    "connections_cut_off": "Connections that were ended because their clients did not read.",
    "connections_refused": "Connections that were sent away: another user's, or one too many.",
    "http_refused": "HTTP requests from a wrong host or origin, or without a token that is known.",
}
Observer: TypeAlias = Callable[[str, float, bool], None]
"""Is told the method, the seconds it took and whether it failed."""


@dataclass(slots=True)
class _Calls:
    """Of one method: how many did not end well, and how long all took."""

    failed: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))


@dataclass(frozen=True, slots=True)
class Latency:
    """Of one method; `buckets` count the calls up to each bound, and those beyond the last."""

    method: str
    failed: int
    seconds: float
    buckets: tuple[int, ...]


class Metrics:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, _Calls] = {}
        self._failures: dict[str, int] = {}
        self._counts = dict.fromkeys(COUNTERS, 0)
        self._readings: list[Callable[[], Iterable[Family]]] = []
        self._observers: tuple[Observer, ...] = ()

    def called(self, method: str, seconds: float, *, failed: bool, kind: str = "") -> None:
        """`kind` is the class of what went wrong."""
        with self._lock:
            calls = self._calls.get(method)
            if calls is None:
                calls = self._calls[method] = _Calls()
            calls.failed += failed
            calls.seconds += seconds
            calls.buckets[bisect_left(BOUNDS_S, seconds)] += 1
            if kind:
                self._failures[kind] = self._failures.get(kind, 0) + 1
        for observer in self._observers:
            observer(method, seconds, failed)

    def count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1

    def counted(self, name: str) -> int:
        with self._lock:
            return self._counts[name]

    def gauge(self, name: str, read: Callable[[], float], help: str = "") -> None:
        """A figure that is read when somebody asks."""
        self.reading(lambda: (gauge_family(f"libravdb_{name}", help, read()),))

    def reading(self, read: Callable[[], Iterable[Family]]) -> None:
        """Figures that are read when somebody asks."""
        with self._lock:
            self._readings.append(read)

    def observe(self, observer: Observer) -> None:
        """Tell it of every call, in the thread that worked on it."""
        self._observers = (*self._observers, observer)

    def latencies(self) -> tuple[Latency, ...]:
        with self._lock:
            return tuple(Latency(name, of.failed, of.seconds, tuple(of.buckets)) for name, of in self._calls.items())

    def failures(self) -> dict[str, int]:
        """By the class of what went wrong."""
        with self._lock:
            return dict(self._failures)

    def text(self) -> str:
        return text_of(self.families())

    def families(self) -> tuple[Family, ...]:
        with self._lock:
            own = (*self._of_calls(), *self._of_counts())
            readings = tuple(self._readings)
        return (*own, *(family for read in readings for family in read()))

    def _of_calls(self) -> Iterator[Family]:
        calls = sorted(self._calls.items())
        latencies = tuple(sample for method, of in calls for sample in _histogram(method, of))
        yield Family("libravdb_call_seconds", "histogram", "Time from the arrival of a call to its answer.", latencies)
        yield by_label(
            "libravdb_call_failures_total",
            "counter",
            "Calls that were answered with an error.",
            "method",
            ((method, of.failed) for method, of in calls),
        )
        yield by_label(
            "libravdb_failures_total",
            "counter",
            "Errors that were answered, by their class; internal ones are faults of the daemon.",
            "kind",
            sorted({"internal": 0, **self._failures}.items()),
        )

    def _of_counts(self) -> Iterator[Family]:
        for name, count in sorted(self._counts.items()):
            yield Family(f"libravdb_{name}_total", "counter", COUNTERS[name], (Sample(count),))


def _histogram(method: str, calls: _Calls) -> Iterator[Sample]:
    of, total = ("method", method), 0
    for bound, inside in zip((*map(figure, BOUNDS_S), "+Inf"), calls.buckets, strict=True):
        total += inside
        yield Sample(total, (of, ("le", bound)), "_bucket")
    yield Sample(calls.seconds, (of,), "_sum")
    yield Sample(total, (of,), "_count")
