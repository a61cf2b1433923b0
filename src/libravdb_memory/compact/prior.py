"""What earlier summaries already said, shown to a summariser so that it says what changed.

Law: whole summaries, the nearest ones, oldest first, within the limit; only a nearest one that is too long by itself is
cut short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from libravdb_memory.compact.extract import clip
from libravdb_memory.compact.preserve import tokens_of
from libravdb_memory.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Prior:
    """What is shown, and of how many summaries, the newest ones."""

    text: str = ""
    count: int = 0


def prior_context(earlier: Sequence[str], limit: int, counter: TokenCounter) -> Prior:
    """`earlier` are the summaries before the cluster, oldest first."""
    shown: list[str] = []
    for summary in reversed(earlier):
        if tokens_of([summary, *shown], counter) > limit:
            break
        shown.insert(0, summary)
    if not shown and earlier:
        clipped = clip(earlier[-1], limit, counter)
        return Prior(clipped, 1 if clipped else 0)
    return Prior("\n".join(shown), len(shown))
