"""The gate: one score in [0, 1] for a user turn, and whether it becomes durable memory.

    score          = (1 - technical) * conversational + technical * engineering
    conversational = w1c * novelty + w2c * repetition + w3c * personal
    engineering    = w1t * specificity + w2t * actionability + w3t * structure
    durable        = score >= threshold, and the turn says anything at all

Laws: every signal lies in [0, 1]; the score lies between its two branches, equals the first when technical = 0 and the
second when technical = 1, and is continuous (linear) in technical. Nothing near in memory: novelty 1. Saturation 1:
repetition 0. The same text and neighbours give the same decision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.gate.patterns import ACTIONS, SPECIFIC, STRUCTURE, TECHNICAL
from libravdb_memory.gate.phrases import CONVERSATIONAL
from libravdb_memory.gate.settings import GateSettings
from libravdb_memory.gate.signals import Fired, Signal, clamp, density, frequency, novelty, presence, saturation
from libravdb_memory.gate.views import Span, read
from libravdb_memory.tokens import gate_length


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Cosines of the two searches of a decision: the nearest durable memories, and the nearest turns without the turn
    itself. More than the gate looks at is fine, in any order; what is not finite is refused."""

    durable: Sequence[float] = ()
    turns: Sequence[float] = ()

    def __post_init__(self) -> None:
        for name in ("durable", "turns"):
            object.__setattr__(self, name, _cosines(name, getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Decision:
    """All signals, so that a decision can be stored, explained and calibrated. `heard` is the text that was judged;
    the spans of what fired are places in it."""

    score: float
    durable: bool
    threshold: float
    technical: float
    novelty: float
    repetition: float
    personal: float
    frequency: float
    saturation: float
    specificity: float
    actionability: float
    structure: float
    conversational: float
    engineering: float
    fired: tuple[Fired, ...]
    heard: str

    def signals(self) -> dict[str, float]:
        """By the names that clients of the protocol read."""
        return {
            "g": self.score,
            "t": self.technical,
            "h": self.novelty,
            "r": self.repetition,
            "d": self.personal,
            "inputFreq": self.frequency,
            "memSaturation": self.saturation,
            "p": self.specificity,
            "a": self.actionability,
            "dtech": self.structure,
            "gconv": self.conversational,
            "gtech": self.engineering,
        }

    def metadata(self) -> dict[str, float]:
        """By the names under which a turn keeps them."""
        kept = {name: value for name, value in self.signals().items() if name in _KEPT}
        return {"gating_score": self.score} | {f"gating_{name}": value for name, value in kept.items()}


MAX_READ = 65_536
"""A longer turn is judged by its first and its last half of this many code points."""

_KEPT = frozenset("t h r d p a dtech gconv gtech".split())


def decide(text: str, neighbours: Neighbours, settings: GateSettings) -> Decision:
    """Judge one user turn. `text` is what the user said, without what memory itself had put there (see `echo`)."""
    seen = _seen(text)
    views = read(seen)
    technical = presence("technical", TECHNICAL, views, settings.tech_norm)
    personal = presence("personal", CONVERSATIONAL, views)
    specificity = density("specificity", SPECIFIC, views, gate_length(seen))
    actionability = presence("actionability", ACTIONS, views)
    structure = presence("structure", STRUCTURE, views)
    new, often, kept = novelty(neighbours.durable), frequency(neighbours.turns), saturation(neighbours.durable)
    repetition = often * (1.0 - kept)
    conversational = weigh(settings.conversational_weights, (new, repetition, personal.value))
    engineering = weigh(settings.technical_weights, (specificity.value, actionability.value, structure.value))
    score = blend(technical.value, conversational, engineering)
    return Decision(
        score=score,
        durable=score >= settings.threshold and bool(text.strip()),
        threshold=settings.threshold,
        technical=technical.value,
        novelty=new,
        repetition=repetition,
        personal=personal.value,
        frequency=often,
        saturation=kept,
        specificity=specificity.value,
        actionability=actionability.value,
        structure=structure.value,
        conversational=conversational,
        engineering=engineering,
        fired=_placed((technical, personal, specificity, actionability, structure), len(text) - len(seen)),
        heard=text,
    )


def weigh(weights: tuple[float, float, float], signals: tuple[float, float, float]) -> float:
    return clamp(math.fsum(weight * signal for weight, signal in zip(weights, signals, strict=True)))


def blend(technical: float, conversational: float, engineering: float) -> float:
    """Between the two branches; the clamp only takes back what rounding may add."""
    score = (1.0 - technical) * conversational + technical * engineering
    return min(max(score, min(conversational, engineering)), max(conversational, engineering))


def _seen(text: str) -> str:
    if len(text) <= MAX_READ:
        return text
    half = MAX_READ // 2
    return text[: half - 1] + "\n" + text[-half:]


def _placed(signals: Sequence[Signal], left_out: int) -> tuple[Fired, ...]:
    """Everything that fired, with spans of the whole text that was heard."""
    fired = tuple(item for signal in signals for item in signal.fired)
    if not left_out:
        return fired
    return tuple(replace(item, spans=tuple(_shifted(span, left_out) for span in item.spans)) for item in fired)


def _shifted(span: Span, left_out: int) -> Span:
    start, end = span
    return span if start < MAX_READ // 2 else (start + left_out, end + left_out)


def _cosines(name: str, values: Sequence[float]) -> tuple[float, ...]:
    cosines = tuple(float(value) for value in values)
    if not all(math.isfinite(cosine) for cosine in cosines):
        raise InvalidInputError(f"neighbours.{name}", "similarities must be finite numbers")
    return tuple(min(max(cosine, -1.0), 1.0) for cosine in cosines)
