"""What the gate makes of turns and of texts."""

from __future__ import annotations

from typing import TypedDict

Bin = TypedDict("Bin", {"from": float, "to": float, "count": int, "durable": int, "wanted": int})


class Regret(TypedDict):
    refused: int
    regretted: int
    kept: int
    used: int
    rate: float


class Step(TypedDict):
    start: float
    useful: float
    weight: float


class Calibration(TypedDict):
    steps: list[Step]
    proposed: float
    target: float


class GateReport(TypedDict):
    """`judged` and `durable` are of all turns, the rest of the newest `window`."""

    threshold: float
    judged: int
    durable: int
    window: int
    bins: list[Bin]
    regret: Regret
    calibration: Calibration | None


class Fired(TypedDict):
    family: str
    pattern: str
    weight: float
    spans: list[list[int]]


class Explanation(TypedDict):
    score: float
    durable: bool
    threshold: float
    signals: dict[str, float]
    fired: list[Fired]
    heard: str


class Signals(TypedDict):
    """`g` is the score, the others what it is made of."""

    g: float
    t: float
    h: float
    r: float
    d: float
    inputFreq: float
    memSaturation: float
    p: float
    a: float
    dtech: float
    gconv: float
    gtech: float
