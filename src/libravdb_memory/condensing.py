"""One summary of some texts: the ladder climbed with real summarisers, judged in the space of recall.

Laws: what comes back says something, costs strictly less than its sources, and names every fact of theirs that it does
not hold; or nothing comes back, with the reason of each attempt. A summariser may fail in any way at all: the ladder
goes on to the next, and its last rung needs no model. Where a model was passed over, the summary says why. What went
wrong is remembered by whoever asked, not here, where others ask too. What calls of the model cost is told with what
came of them, also where that is nothing, or a cancelled call.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from libravdb_memory.compact.certificate import CertifiedSummary, certified
from libravdb_memory.compact.ladder import Attempt, Climb, Outcome, Step, climb, judge, most_tokens
from libravdb_memory.compact.passed_over import PassedOver, Reason, unasked
from libravdb_memory.compact.preserve import Method, Preservation, centroid, preservation, progresses, tokens_of
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compact.views import View
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.engines.summarising.extractive import ExtractiveSummariser
from libravdb_memory.engines.summarising.protocol import Summariser, Summary, SummaryRequest
from libravdb_memory.errors import (
    AnswerUnusableError,
    CallCancelledError,
    EngineError,
    LibraVDBError,
    ModelUnavailableError,
    TextRefusedError,
)
from libravdb_memory.spent import NOTHING, Spent, total
from libravdb_memory.summaries import Loss
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_log = logging.getLogger(__name__)
Cancelled: TypeAlias = Callable[[], bool]
_MOST_NAMED, _LONGEST_NAMED = 64, 120
"""Lost facts that are named, and characters of each; the figures count all of them."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What is to be said in less. `texts` are the truth, by which facts and tokens are counted; `views` are what a
    summariser is shown of them; `vectors` has a row for each."""

    texts: tuple[str, ...]
    views: tuple[View, ...]
    vectors: NDArray[np.float32]
    prior: str = ""


@dataclass(frozen=True, slots=True)
class InVain:
    """No summary: the `reason` of each attempt, and what the model was asked for all the same."""

    reason: str
    spent: Spent = NOTHING


@dataclass(frozen=True, slots=True)
class Condensed:
    """`spent` is for all that the model was asked, whoever wrote it in the end."""

    text: str
    tokens: int
    source_tokens: int
    method: Method
    engine: str
    confidence: float
    align: float
    cover: float
    loss: Loss
    pins_at: int | None
    passed_over: PassedOver | None
    spent: Spent
    vector: NDArray[np.float32] = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Judged:
    summary: Summary
    certified: CertifiedSummary
    kept: Preservation
    vector: NDArray[np.float32]


class Condenser:
    """`model` is None where no model is configured; extracts need none but the embedder of recall."""

    def __init__(
        self, embedder: Embedder, counter: TokenCounter, settings: CompactionSettings, model: Summariser | None
    ) -> None:
        self._embedder = embedder
        self._counter = counter
        self._settings = settings
        self._model = model
        self._extractive = ExtractiveSummariser(embedder, counter)
        self._plain = ExtractiveSummariser(None, counter)

    @property
    def has_model(self) -> bool:
        return self._model is not None

    def warm_up(self, cancelled: Cancelled) -> str | None:
        """Reach or load the model, so that it may be asked; without one nothing happens. Why it cannot be had, where
        that is so; then it is done without."""
        if self._model is None or self._model.ready:
            return None
        try:
            self._model.warm_up(cancelled)
        except CallCancelledError:
            raise
        except Exception as error:  # whatever a model does, there are extracts
            expected = isinstance(error, LibraVDBError)
            _log.warning("summaries are made without %s: %s", self._model.name, error, exc_info=not expected)
            return _words_of(error)
        return None

    @property
    def model_ready(self) -> bool:
        return self._model is not None and self._model.ready

    def unasked(self, scores: Sequence[float | None], away: str | None) -> PassedOver | None:
        """Why a model that is configured is not asked about turns with these scores of the gate. `away` is why it
        cannot be had, where that is so."""
        if self._model is None or away is not None:
            return self._passed("not ready", away)
        return unasked(self._model.name, scores, self._settings)

    def unasked_to_fold(self, away: str | None) -> PassedOver | None:
        """The same about summaries of which no model wrote any."""
        return self._passed("of extracts" if away is None else "not ready", away)

    def _passed(self, reason: Reason, away: str | None) -> PassedOver | None:
        return None if self._model is None else PassedOver(self._model.name, reason, detail=away or "")

    def forget(self) -> None:
        """What was prepared: it holds much of the texts."""
        self._extractive.close()
        self._plain.close()

    def close(self) -> None:
        self.forget()
        if self._model is not None:
            self._model.close()

    def prepare(self, clusters: Sequence[Sequence[View]], cancelled: Cancelled) -> None:
        """Embed together what extracts of these will need, which costs less than doing so one by one."""
        rung = self._settings.rungs[0]
        told = (tuple(views) for views in clusters if any(view.text.strip() for view in views))
        requests = [SummaryRequest(views, "", rung.tokens, rung.density) for views in told]
        self._extractive.prepare(requests, cancelled)

    def sentence_vectors(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Of any sentences; made where they are not remembered."""
        return self._extractive.vectors(sentences)

    def vectors(self, summaries: Sequence[str]) -> NDArray[np.float32]:
        """In the space of recall, by what they say without their pins: that is what is judged, and pinned facts would
        hide a summary that misses the point."""
        return self._embedder.embed_documents(summaries)

    def condense(
        self, sources: Sources, *, with_model: bool, cancelled: Cancelled, folding: bool = False
    ) -> Condensed | InVain:
        """A summary, or why there is none. `folding` is for what are summaries themselves."""
        settings = self._settings.of_folds if folding else self._settings
        source_tokens = tokens_of(sources.texts, self._counter)
        made: dict[Step, _Judged] = {}
        spent: list[Spent] = []

        def attempt(step: Step) -> Attempt:
            tried = self._tried(step, sources, settings, cancelled, spent)
            if isinstance(tried, Attempt):
                return tried
            made[step] = tried
            bare = self._counter.count(tried.summary.text)
            outcome = judge(step, tried.summary.text, bare, source_tokens, tried.kept.align, settings)
            if outcome == "too long":
                return Attempt(step, outcome, figure=bare, bound=most_tokens(step, source_tokens))
            if outcome == "off the mark":
                return Attempt(step, outcome, figure=tried.kept.align, bound=settings.min_align)
            if outcome == "accepted" and not progresses(sources.texts, tried.certified.text, self._counter):
                return Attempt(step, "too long", figure=tried.certified.tokens, bound=source_tokens - 1)
            return Attempt(step, outcome)

        try:
            climbed = climb(attempt, settings, model=with_model and self._model is not None)
        except CallCancelledError as error:
            error.costing(total(spent))
            raise
        if not climbed.accepted:
            return InVain(climbed.declined, total(spent))
        step = climbed.attempts[-1].step
        return _condensed(step.method, made[step], source_tokens, self._why_extract(climbed), total(spent))

    def _why_extract(self, climbed: Climb) -> PassedOver | None:
        tried = climbed.passed_over
        if tried is None or tried.outcome == "accepted" or self._model is None:
            return None
        if tried.outcome == "unusable" and tried.figure is not None:
            return PassedOver(self._model.name, "too long", tried.figure, tried.bound)
        return PassedOver(self._model.name, tried.outcome, tried.figure, tried.bound, tried.detail)

    def _tried(
        self, step: Step, sources: Sources, settings: CompactionSettings, cancelled: Cancelled, spent: list[Spent]
    ) -> _Judged | Attempt:
        """What a model was asked for is added to `spent`."""
        try:
            topic = centroid(sources.vectors)
            request = SummaryRequest(sources.views, sources.prior, step.rung.tokens, step.rung.density, topic)
            summary = self._summariser(step).summarise(request, cancelled)
        except CallCancelledError as error:
            spent.append(error.spent)
            raise
        except Exception as error:  # whatever a summariser does, the ladder goes on
            spent.append(error.spent if isinstance(error, EngineError) else NOTHING)
            _log.warning("no summary by %s: %s", step.name, error, exc_info=not isinstance(error, LibraVDBError))
            outcome: Outcome = "unusable" if isinstance(error, AnswerUnusableError) else "failed"
            if isinstance(error, AnswerUnusableError) and error.excess is not None:
                return Attempt(step, outcome, error.reason, *error.excess)
            return Attempt(step, outcome, _words_of(error))
        if step.method == "abstractive":
            spent.append(Spent(1, summary.tokens_in, summary.tokens_out))
        node = certified(sources.texts, summary.text, settings, self._counter)
        vector = self.vectors([summary.text])[0]
        return _Judged(summary, node, preservation(vector, sources.vectors), vector)

    def _summariser(self, step: Step) -> Summariser:
        if step.method == "abstractive" and self._model is not None:
            return self._model
        return self._plain if step.rung == self._settings.rungs[-1] else self._extractive


def _words_of(error: Exception) -> str:
    """What went wrong, without the name of the model."""
    if isinstance(error, ModelUnavailableError | AnswerUnusableError | TextRefusedError):
        return error.reason
    return str(error) if isinstance(error, LibraVDBError) else repr(error)


def _condensed(
    method: Method, judged: _Judged, source_tokens: int, passed_over: PassedOver | None, spent: Spent
) -> Condensed:
    node, certificate = judged.certified, judged.certified.certificate
    pinned = frozenset(node.pins.pinned)
    lost = [fact.text for fact in certificate.missing if fact not in pinned]
    return Condensed(
        text=node.text,
        tokens=node.tokens,
        source_tokens=source_tokens,
        method=method,
        engine=judged.summary.engine,
        confidence=judged.kept.confidence(judged.summary.confidence if method == "abstractive" else None),
        align=judged.kept.align,
        cover=judged.kept.cover,
        loss=Loss(
            facts=len(certificate.kept) + len(certificate.missing),
            kept=len(certificate.kept),
            pinned=len(pinned),
            dropped=tuple(text[:_LONGEST_NAMED] for text in lost[:_MOST_NAMED]),
            characters=certificate.characters,
            unread=certificate.unread,
        ),
        pins_at=len(node.text) - len(node.pins.text) if node.pins.text else None,
        passed_over=passed_over,
        spent=spent,
        vector=judged.vector,
    )
