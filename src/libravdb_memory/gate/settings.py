"""What a user may tune about the gate.

Law: each branch is a mean. Its three weights lie in [0, 1] and sum to 1, so no setting can push a score out of [0, 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

from libravdb_memory.errors import ConfigError

REFERENCE_THRESHOLD = 0.35
SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class GateSettings:
    w1c: float = field(default=0.35, metadata={"help": "conversational branch: weight of novelty"})
    w2c: float = field(default=0.40, metadata={"help": "conversational branch: weight of repetition not yet kept"})
    w3c: float = field(default=0.25, metadata={"help": "conversational branch: weight of personal facts"})
    w1t: float = field(default=0.40, metadata={"help": "technical branch: weight of specificity"})
    w2t: float = field(default=0.35, metadata={"help": "technical branch: weight of decisions, fixes and changes"})
    w3t: float = field(default=0.25, metadata={"help": "technical branch: weight of code structure"})
    tech_norm: float = field(default=1.5, metadata={"help": "technical evidence at which a turn is wholly technical"})
    threshold: float = field(
        default=REFERENCE_THRESHOLD, metadata={"help": "score from which a user turn becomes durable memory"}
    )

    def __post_init__(self) -> None:
        for setting in fields(self):
            _refuse_bad_number(setting.name, getattr(self, setting.name))
        _refuse_unbalanced("w1c, w2c, w3c", self.conversational_weights)
        _refuse_unbalanced("w1t, w2t, w3t", self.technical_weights)

    @property
    def conversational_weights(self) -> tuple[float, float, float]:
        return self.w1c, self.w2c, self.w3c

    @property
    def technical_weights(self) -> tuple[float, float, float]:
        return self.w1t, self.w2t, self.w3t


def _refuse_bad_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"gating.{name}", f"must be a finite number, not {value!r}")
    if name == "tech_norm":
        if value <= 0.0:
            raise ConfigError("gating.tech_norm", f"must be above 0, not {value}")
    elif not 0.0 <= value <= 1.0:
        raise ConfigError(f"gating.{name}", f"must lie in [0, 1], not {value}")


def _refuse_unbalanced(names: str, weights: tuple[float, float, float]) -> None:
    total = math.fsum(weights)
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise ConfigError(f"gating.{names}", f"must sum to 1, not {total:g}")
