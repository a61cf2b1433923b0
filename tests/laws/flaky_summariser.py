"""A summariser that does whatever it is told to, above all what it should not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Literal, get_args

from tests.compactors import compactor_of

from libravdb_memory import Memory
from libravdb_memory.compacting import Compactor
from libravdb_memory.engines.summarising.protocol import Summary, SummaryRequest
from libravdb_memory.errors import CallCancelledError, ModelTimeoutError, ModelUnavailableError

Deed = Literal[
    "good", "tells all", "unavailable", "late", "breaks", "blank", "too long", "rubbish", "cancels", "overtaken"
]
DEEDS: tuple[Deed, ...] = get_args(Deed)


class FlakySummariser:
    """Does one deed after another, over and over; `meanwhile` is what happens while it is overtaken."""

    name = "flaky"

    def __init__(self, deeds: tuple[Deed, ...] = ("good",), meanwhile: Callable[[], object] | None = None) -> None:
        self.ready = True
        self.requests: list[SummaryRequest] = []
        self._deeds = cycle(deeds)
        self._meanwhile = meanwhile

    def warm_up(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.ready = True

    def close(self) -> None:
        self.ready = False

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        self.requests.append(request)
        deed = next(self._deeds)
        if deed == "unavailable":
            raise ModelUnavailableError(self.name, "it is not there")
        if deed == "late":
            raise ModelTimeoutError(self.name, "it is late")
        if deed == "breaks":
            raise RuntimeError("an error that nobody declared")
        if deed == "cancels":
            raise CallCancelledError(self.name)
        if deed == "overtaken" and self._meanwhile is not None:
            self._meanwhile()
        return Summary(self._text(deed, request), 0.7, self.name, 1, 1)

    def _text(self, deed: Deed, request: SummaryRequest) -> str:
        if deed == "blank":
            return ""
        if deed == "too long":
            return request.source * 3 + " and so on"
        if deed == "rubbish":
            return "%% ]] {}"
        told = request.prior.split() if deed == "tells all" else []
        kept = [*sorted(set(told), key=len)[-2:], *[word for word in told if word.startswith("zq")][:4]]
        return " ".join([*kept, *(word for turn in request.turns for word in turn.text.split()[:3])]) or "nothing"


def use(memory: Memory, model: FlakySummariser | None) -> None:
    """Let this memory compact with this model, or with extracts alone."""
    memory._made = compactor_of(memory, model, Compactor)
