"""The shares of a prompt's memory budget.

    hard_share (alpha1) + soft_share (alpha2) + tail_share (beta) <= 1;   elevated_share (rho_E) of what is there

Law: every share lies in [0, 1]; the recovery reserve is min(max(10% of the budget, 16), 128) tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from libravdb_memory.errors import ConfigError


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    hard_share: float = field(default=0.35, metadata={"help": "share of the start-up budget that hard rules may take"})
    soft_share: float = field(default=0.30, metadata={"help": "share of a budget that soft rules may take"})
    tail_share: float = field(default=0.25, metadata={"help": "share of a budget the recent tail is extended to"})
    elevated_share: float = field(default=0.15, metadata={"help": "share of a budget for elevated guidance"})
    tail_turns: int = field(default=4, metadata={"help": "newest turns that are always kept exactly"})
    token_budget_fraction: float = field(default=0.25, metadata={"help": "memory's share of a host's token budget"})
    startup_budget: int = field(default=4000, metadata={"help": "tokens against which hard rules are checked on load"})
    kept_receipts: int = field(default=200, metadata={"help": "receipts kept for each user, the newest"})
    tokenizer: str = field(
        default="", metadata={"help": "a tokenizer.json that counts tokens exactly; empty: the built-in estimate"}
    )
    guidance_similarity: float = field(
        default=0.12,
        metadata={"help": "similarity above which guidance may use its whole share, below it that share of the rest"},
    )

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.type == "float" and not 0.0 <= value <= 1.0:
                raise ConfigError(f"assembly.{item.name}", f"must lie in [0, 1], not {value}")
            if item.type == "int" and (type(value) is not int or value < 0):
                raise ConfigError(f"assembly.{item.name}", f"must be a whole number, not negative, not {value!r}")
        if self.hard_share + self.soft_share + self.tail_share > 1.0 + 1e-9:
            raise ConfigError("assembly.tail_share", "hard_share + soft_share + tail_share must not exceed 1")


def recovery_reserve(budget: int) -> int:
    """Tokens kept free for raw history when recall looks weak."""
    return min(max(budget // 10, 16), 128)
