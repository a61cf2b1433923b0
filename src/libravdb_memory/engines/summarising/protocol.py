"""What a summariser must do.

Laws:

1. A Summary is text: not blank, in the language of its sources, of at most `OVERLONG` times the tokens asked for. What
   is not is an error and never a Summary.
2. Whatever goes wrong is an EngineError: unavailable (or too late), refused, unusable, cancelled.
3. Same engine, same request, same summary, as far as the model behind it allows.
4. Loading happens on first use or in `warm_up`, never at import or construction.
5. `cancelled` is asked again and again while a model works; soon after it says yes, the call ends.
6. What a call of a model cost is told whatever comes of it: by the Summary, or by the `spent` of the EngineError.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from libravdb_memory.compact.views import View, shown
from libravdb_memory.errors import InvalidInputError
from libravdb_memory.tokens import TokenCounter, share_of

if TYPE_CHECKING:
    from libravdb_memory.compact.preserve import Vector

OVERLONG = 4


def never() -> bool:
    """For calls that nobody cancels."""
    return False


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """`turns` are sanitised, in order, each with who spoke; `prior` is what earlier summaries said.

    `tokens` is the most that the summary may cost, `density` the most as a share of what the turns cost. `topic` is
    what the turns are about together, as a direction in the space of recall, where that is known.
    """

    turns: tuple[View, ...]
    prior: str
    tokens: int
    density: float
    topic: Vector | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not any(turn.text.strip() for turn in self.turns):
            raise InvalidInputError("turns", "hold nothing to summarise")
        if self.tokens < 1:
            raise InvalidInputError("tokens", f"must be above 0, not {self.tokens}")
        if not (math.isfinite(self.density) and 0 < self.density <= 1):
            raise InvalidInputError("density", f"must lie above 0 and up to 1, not {self.density}")

    @property
    def shown(self) -> tuple[str, ...]:
        """The turns as a model reads them, each beginning with who speaks."""
        return shown(self.turns)

    @property
    def source(self) -> str:
        return "\n".join(self.shown)

    def allowed(self, counter: TokenCounter) -> int:
        """The tokens that both limits leave."""
        return max(min(self.tokens, share_of(counter.count(self.source), self.density)), 1)


@dataclass(frozen=True, slots=True)
class Summary:
    """`confidence` is exp(mean log p) of the model's own tokens, where they are known.

    `tokens_in` and `tokens_out` are what the model read and wrote, in its own tokens where those are known.
    """

    text: str
    confidence: float | None
    engine: str
    tokens_in: int
    tokens_out: int

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidInputError("text", "a summary cannot be blank")
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise InvalidInputError("confidence", f"must lie in 0..1, not {self.confidence}")


class Summariser(Protocol):
    @property
    def name(self) -> str:
        """Which engine, and which model; known without loading it."""
        ...

    @property
    def ready(self) -> bool:
        """The next call needs no loading, and the last one did not find the model missing."""
        ...

    def warm_up(self, cancelled: Callable[[], bool] = never) -> None:
        """Load or reach the model now. Raises ModelUnavailableError; safe from any thread, any number of times."""
        ...

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary: ...

    def close(self) -> None: ...
