"""What a compaction tells: the summaries it made, what it left as it was, and why."""

from __future__ import annotations

from dataclasses import dataclass

from libravdb_memory.compact.passed_over import NEVER_ASKED, Extracts, counted_extracts
from libravdb_memory.spent import NOTHING, Spent
from libravdb_memory.summaries import Node

TRIVIAL = "trivial: one turn alone has no summary"
OVERTAKEN = "something was erased or compacted meanwhile; the next compaction sees to it"
CANCELLED = "ended before it was through; what it has written stays, and the next compaction goes on from there"


@dataclass(frozen=True, slots=True)
class Declined:
    """Turns that stay as they are, or with `of_summaries` summaries that are not folded: the ids of the first and the
    last of them, how many, what they cost, and why."""

    first: str
    last: str
    count: int
    tokens: int
    reason: str
    of_summaries: bool = False


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did. `summaries` are the new ones of turns, `folds` those of summaries, `guidance` counts the
    rules kept word by word. `reason` says why there was nothing to do, or why it ended early; else it is empty. With
    `ended_early` it did not look at all that there was, so that another may find more. `spent` is all that a model was
    asked for, in vain or not, also before an early end."""

    namespace: str
    session: str
    summaries: tuple[Node, ...] = ()
    folds: tuple[Node, ...] = ()
    guidance: int = 0
    declined: tuple[Declined, ...] = ()
    reason: str = ""
    ended_early: bool = False
    spent: Spent = NOTHING

    @property
    def turns(self) -> int:
        """That are covered now and were not before."""
        return sum(node.turns for node in self.summaries)

    @property
    def source_tokens(self) -> int:
        return sum(node.source_tokens for node in self.summaries)

    @property
    def tokens(self) -> int:
        return sum(node.tokens for node in self.summaries)

    @property
    def extracts(self) -> tuple[Extracts, ...]:
        """Those that a model might have written, by the reason why it did not; none where no model is configured."""
        return counted_extracts(node.passed_over for node in self._made if node.passed_over is not None)

    @property
    def model_failure(self) -> str | None:
        """Why the last summary that a model was wanted for is not its own; empty when it is, None when none was."""
        for node in reversed(self._made):
            if node.passed_over is not None and node.passed_over.reason not in NEVER_ASKED:
                return counted_extracts([node.passed_over])[0].words()
            if node.method == "abstractive":
                return ""
        return None

    @property
    def _made(self) -> tuple[Node, ...]:
        return (*self.summaries, *self.folds)
