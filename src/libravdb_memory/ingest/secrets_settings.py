"""What a user may choose about secrets."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SecretsSettings:
    mask: bool = field(
        default=True,
        metadata={"help": "put a marker in the place of every recognised secret before a text is stored"},
    )
    keep_raw: bool = field(
        default=False,
        metadata={"help": "keep the original of a masked turn beside it, where no search and no prompt finds it"},
    )
