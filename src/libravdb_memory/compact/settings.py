"""What a user may tune about compaction, and the rungs of the ladder made from it.

Law: shares lie in [0, 1], counts are whole and not negative, and no rung of the ladder asks for nothing, or for more
than the one above it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from libravdb_memory.errors import ConfigError
from libravdb_memory.tokens import share_of


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    cluster_target: int = field(default=20, metadata={"help": "turns that one summary should cover"})
    trigger_tokens: int = field(
        default=2000, metadata={"help": "uncompacted tokens from which a session is compacted by itself; 0: never"}
    )
    normal_tokens: int = field(default=64, metadata={"help": "most tokens of a summary"})
    normal_density: float = field(default=0.4, metadata={"help": "most tokens of a summary, as a share of its turns"})
    aggressive_tokens: int = field(default=32, metadata={"help": "most tokens of a summary, second try"})
    aggressive_density: float = field(default=0.25, metadata={"help": "share of its turns, second try"})
    fallback_tokens: int = field(default=16, metadata={"help": "most tokens of a summary, last try"})
    fallback_density: float = field(default=0.25, metadata={"help": "share of its turns, last try"})
    min_align: float = field(
        default=0.65, metadata={"help": "similarity to its turns below which a model's summary is rejected"}
    )
    abstractive_from: float = field(
        default=0.60, metadata={"help": "mean gating score from which a model is asked to summarise"}
    )
    prior_tokens: int = field(default=96, metadata={"help": "tokens of earlier summaries shown to a summariser"})
    certificate_threshold: float = field(
        default=0.98, metadata={"help": "share of facts below which those that a summary lost are pinned to it"}
    )
    pin_share: float = field(default=0.5, metadata={"help": "most tokens of pinned facts, as a share of the turns"})
    pin_tokens: int = field(default=1500, metadata={"help": "most tokens of pinned facts"})
    fold_tokens: int = field(
        default=4000, metadata={"help": "tokens of a session's summaries above which they are folded; 0: never"}
    )
    fold_fan: int = field(default=8, metadata={"help": "most summaries folded into one"})
    fold_words: int = field(default=192, metadata={"help": "most tokens of a summary of summaries"})
    fold_pins: int = field(default=320, metadata={"help": "most tokens of facts pinned to a summary of summaries"})
    guidance_stability: float = field(
        default=0.35, metadata={"help": "stability weight from which a turn may become elevated guidance"}
    )
    guidance_prototype: float = field(
        default=0.78, metadata={"help": "similarity to known guidance that rescues a turn the scanner missed"}
    )
    guidance_tokens: int = field(
        default=48, metadata={"help": "tokens up to which a turn is kept whole as guidance; else its rules only"}
    )

    own_process: bool = field(
        default=True,
        metadata={
            "help": "make summaries in a process of its own, so that storing and asking wait for none of it; it has the"
            " model loaded once more while it works"
        },
    )

    def __post_init__(self) -> None:
        for item in fields(self):
            if problem := _problem(item.name, str(item.type), getattr(self, item.name)):
                raise ConfigError(f"compaction.{item.name}", problem)
        for upper, lower in _DESCENDING:
            if getattr(self, lower) > getattr(self, upper):
                raise ConfigError(f"compaction.{lower}", f"must not exceed {upper}")

    @property
    def of_folds(self) -> CompactionSettings:
        """For summaries of summaries: they cover more, and have room for less of it."""
        words = max(self.fold_words, self.aggressive_tokens)
        return replace(self, normal_tokens=words, pin_tokens=self.fold_pins)

    @property
    def rungs(self) -> tuple[Rung, Rung, Rung]:
        return (
            Rung("normal", self.normal_tokens, self.normal_density),
            Rung("aggressive", self.aggressive_tokens, self.aggressive_density),
            Rung("fallback", self.fallback_tokens, self.fallback_density),
        )


_LEAST = {
    "cluster_target": 2,
    "normal_tokens": 1,
    "aggressive_tokens": 1,
    "fallback_tokens": 1,
    "fold_fan": 2,
    "fold_words": 1,
}
_DESCENDING = (
    ("normal_tokens", "aggressive_tokens"),
    ("aggressive_tokens", "fallback_tokens"),
    ("normal_density", "aggressive_density"),
    ("aggressive_density", "fallback_density"),
)


def _problem(name: str, kind: str, value: object) -> str:
    if kind == "float" and not (isinstance(value, int | float) and 0.0 <= value <= 1.0):
        return f"must lie in [0, 1], not {value!r}"
    if name.endswith("_density") and not value:
        return "must be above 0: a summary of no tokens says nothing"
    if kind == "int" and (type(value) is not int or value < _LEAST.get(name, 0)):
        return f"must be a whole number of at least {_LEAST.get(name, 0)}, not {value!r}"
    return ""


@dataclass(frozen=True, slots=True)
class Rung:
    """How long a summary may be: `tokens`, and no more than the share `density` of what it covers."""

    name: str
    tokens: int
    density: float

    def limit(self, source_tokens: int) -> int:
        """Most tokens of a summary of so many: always fewer than they are, and one at least if that is fewer."""
        return min(self.tokens, max(share_of(source_tokens, self.density), 1), max(source_tokens - 1, 0))
