"""What a measurement says: the value, what it should be, and whether it is."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any


def at_most(value: float, target: float, **details: Any) -> dict[str, Any]:
    return _figure(value, f"<= {target:g}", value <= target, details)


def at_least(value: float, target: float, **details: Any) -> dict[str, Any]:
    return _figure(value, f">= {target:g}", value >= target, details)


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median and tail, in milliseconds."""
    ordered = sorted(seconds)
    return {
        "p50_ms": round(statistics.median(ordered) * 1e3, 4),
        "p95_ms": round(ordered[int(0.95 * (len(ordered) - 1))] * 1e3, 4),
    }


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median over interleaved rounds of one to the other: what slows the machine slows both."""
    return statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))


def _figure(value: float, target: str, met: bool, details: dict[str, Any]) -> dict[str, Any]:
    return {"value": round(value, 4), "target": target, "met": met, **details}
