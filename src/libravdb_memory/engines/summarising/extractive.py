"""Summaries made of the turns' own sentences, chosen by their vectors in the space of recall; no model of its own.

Laws:

1. Every sentence is one of the turns' own, in their order, judged without the name of who says it and shown with it;
   what earlier summaries say is not said again.
2. The summary costs no more than the request allows, by the counter that the request was made with.
3. Only sentences that are worth a vector by their words get one (see `compact.judging`). They are embedded together,
   and remembered for a while: asked again for the same turns in fewer words, few are embedded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from libravdb_memory.compact.views import View
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.engines.summarising.protocol import Summary, SummaryRequest, never
from libravdb_memory.errors import AnswerUnusableError, CallCancelledError, ConfigError, ModelUnavailableError
from libravdb_memory.tokens import EstimatingCounter, TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from libravdb_memory.compact.judging import Judged

    Rows = NDArray[np.float32]

K = TypeVar("K")
V = TypeVar("V")

# A call cannot be cancelled while the embedder works, so it is given no more than this at a time.
_SENTENCES_PER_ROUND = 512
MOST_REMEMBERED = 8192
MOST_JUDGED = 64
"""Requests that are prepared and not asked for: two compactions at once prepare no more."""


class ExtractiveSummariser:
    """Without an embedder, sentences are chosen by their words alone. Safe to use from many threads."""

    name = "extractive"

    def __init__(self, embedder: Embedder | None, counter: TokenCounter | None = None) -> None:
        self._embedder = embedder
        self._counter = counter or EstimatingCounter()
        self._known: dict[str, Rows] = {}
        self._judged: dict[tuple[View, ...], Judged] = {}
        self._remembering = threading.Lock()

    @property
    def ready(self) -> bool:
        return self._embedder is None or self._embedder.ready

    def warm_up(self, cancelled: Callable[[], bool] = never) -> None:
        if self._embedder is not None:
            with _settings_as_engine_errors():
                self._embedder.warm_up()

    def close(self) -> None:
        """The embedder is its owner's to close."""
        with self._remembering:
            self._known, self._judged = {}, {}

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        from libravdb_memory.compact.extract import extract
        from libravdb_memory.compact.voices import said_before

        judged, allowed = self._judgement(request.turns, to_keep=False), request.allowed(self._counter)
        listed = self._listed(judged, allowed)
        before = said_before(request.prior)
        rows = self._rows([*(judged.told[number].text for number in listed), *before], cancelled)
        if rows is None:
            found = extract(judged, allowed, self._counter)
        else:
            vectors, prior = dict(zip(listed, rows, strict=False)), rows[len(listed) :]
            found = extract(judged, allowed, self._counter, vectors, prior, request.topic)
        if not found.text:
            raise AnswerUnusableError(self.name, f"nothing can be said in {allowed} tokens")
        return Summary(found.text, None, self.name, self._counter.count(request.source), found.tokens)

    def prepare(self, requests: Sequence[SummaryRequest], cancelled: Callable[[], bool]) -> None:
        """Embed together what these requests will need, which costs less than doing so one by one."""
        texts: list[str] = []
        for request in requests:
            judged = self._judgement(request.turns)
            texts += (judged.told[number].text for number in self._listed(judged, request.allowed(self._counter)))
        self._rows(texts, cancelled)

    def vectors(self, texts: Sequence[str]) -> Rows:
        """For each text a row, from memory where it was prepared."""
        import numpy as np

        rows = self._rows(texts, never)
        return np.zeros((len(texts), 0), np.float32) if rows is None else rows

    def _judgement(self, turns: tuple[View, ...], *, to_keep: bool = True) -> Judged:
        """What was asked for is seldom asked for again, and is large."""
        from libravdb_memory.compact.judging import Judged
        from libravdb_memory.compact.voices import spoken

        judged = self._judged.get(turns) or Judged(spoken(turns))
        with self._remembering:
            others = {known: each for known, each in self._judged.items() if known != turns}
            self._judged = _newest(others, MOST_JUDGED - 1) | {turns: judged} if to_keep else others
        return judged

    def _listed(self, judged: Judged, allowed: int) -> list[int]:
        return [] if self._embedder is None else judged.shortlist(allowed, self._counter)

    def _rows(self, texts: Sequence[str], cancelled: Callable[[], bool]) -> Rows | None:
        """A vector for each text."""
        import numpy as np

        if cancelled():
            raise CallCancelledError(self.name)
        if self._embedder is None or not texts:
            return None
        known = self._known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        made = dict(zip(new, self._embedded(self._embedder, new, cancelled), strict=True))
        if made:
            with self._remembering:
                self._known = _newest(self._known, MOST_REMEMBERED - len(made)) | made
        return np.stack([made[text] if text in made else known[text] for text in texts])

    def _embedded(self, embedder: Embedder, texts: list[str], cancelled: Callable[[], bool]) -> Iterator[Rows]:
        for start in range(0, len(texts), _SENTENCES_PER_ROUND):
            if start and cancelled():
                raise CallCancelledError(self.name)
            with _settings_as_engine_errors():
                yield from embedder.embed_documents(texts[start : start + _SENTENCES_PER_ROUND])


def _newest(known: dict[K, V], most: int) -> dict[K, V]:
    """Those that came last: somebody may be about to ask for them."""
    return dict(islice(known.items(), max(len(known) - max(most, 0), 0), None))


@contextmanager
def _settings_as_engine_errors() -> Generator[None]:
    """An embedder with a bad setting is of no use to whoever wants a summary, and that is all."""
    try:
        yield
    except ConfigError as error:
        raise ModelUnavailableError(ExtractiveSummariser.name, str(error)) from error
