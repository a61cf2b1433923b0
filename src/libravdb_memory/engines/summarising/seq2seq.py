"""Summaries by a local encoder-decoder model of the T5 family, from a folder with a manifest.

Law: a summary is what the model wrote up to its own end mark; one that does not come to it is thrown away, not cut.

Loading happens once, on first use, under a lock, and ends with a trial run. Earlier summaries are not shown to the
model: one of this family would summarise them again instead of saying what is new.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from libravdb_memory.engines.summarising.answers import usable
from libravdb_memory.engines.summarising.fitting import fitted
from libravdb_memory.engines.summarising.protocol import OVERLONG, Summary, SummaryRequest, never
from libravdb_memory.engines.summarising.seq2seq_manifest import Seq2SeqManifest, read_seq2seq_manifest
from libravdb_memory.errors import (
    AnswerUnusableError,
    CallCancelledError,
    ConfigError,
    EngineError,
    ModelUnavailableError,
    TextRefusedError,
)
from libravdb_memory.spent import Spent
from libravdb_memory.tokens import EstimatingCounter, TokenCounter

if TYPE_CHECKING:
    from libravdb_memory.engines.summarising.greedy import Seq2SeqModel, Step

_STEPS_OF_A_TRIAL = 2


class Seq2SeqSummariser:
    def __init__(self, folder: Path, *, threads: int = 1, counter: TokenCounter | None = None) -> None:
        self.name = f"onnx-local:{folder.name}"
        self._folder = folder
        self._threads = threads
        self._counter = counter or EstimatingCounter()
        self._lock = threading.Lock()
        self._model: Seq2SeqModel | None = None

    @cached_property
    def _manifest(self) -> Seq2SeqManifest:
        try:
            return read_seq2seq_manifest(self._folder)
        except ConfigError as error:
            raise ModelUnavailableError(str(self._folder), str(error)) from error

    @property
    def ready(self) -> bool:
        return self._model is not None

    def warm_up(self, cancelled: Callable[[], bool] = never) -> None:
        self._loaded()

    def close(self) -> None:
        """Let go of the model; a later call loads it again."""
        with self._lock:
            self._model = None

    def summarise(self, request: SummaryRequest, cancelled: Callable[[], bool]) -> Summary:
        if cancelled():
            raise CallCancelledError(self._manifest.model)
        model = self._loaded()
        ids = self._input(model, request)
        steps: list[Step] = []
        try:
            self._write(model, ids, OVERLONG * request.tokens, cancelled, steps)
            answer = model.text([step.token for step in steps[:-1]])
            text = usable(answer, request, self._counter, self._manifest.model)
        except EngineError as error:
            error.costing(Spent(1, len(ids), len(steps)))
            raise
        return Summary(
            text=text,
            confidence=min(math.exp(sum(step.log_p for step in steps) / len(steps)), 1.0),
            engine=self.name,
            tokens_in=len(ids),
            tokens_out=len(steps),
        )

    def _loaded(self) -> Seq2SeqModel:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> Seq2SeqModel:
        from libravdb_memory.engines.summarising.greedy import Seq2SeqModel

        model = Seq2SeqModel(self._manifest, self._threads)
        try:
            for _ in zip(range(_STEPS_OF_A_TRIAL), model.steps(model.frame.around(model.tokens("a"))), strict=False):
                pass
        except TextRefusedError as error:
            raise ModelUnavailableError(error.model, error.reason) from error
        return model

    def _input(self, model: Seq2SeqModel, request: SummaryRequest) -> tuple[int, ...]:
        prefix = self._manifest.prefix
        room = self._manifest.max_input_tokens - len(model.frame.around(model.tokens(prefix)))
        turns = fitted(request.shown, room, lambda turn: len(model.tokens(turn + "\n")))
        if turns is None:
            reason = f"{len(request.turns)} turns do not fit into its {self._manifest.max_input_tokens} tokens"
            raise TextRefusedError(self._manifest.model, reason)
        # Joined, the turns may cost a token or two more than one by one.
        ids = model.tokens(prefix + "\n".join(turns))[: self._manifest.max_input_tokens - len(model.frame.around(()))]
        return model.frame.around(ids)

    def _write(
        self, model: Seq2SeqModel, ids: tuple[int, ...], most: int, cancelled: Callable[[], bool], steps: list[Step]
    ) -> None:
        """Every step up to the end mark, that included."""
        most = min(most, self._manifest.max_new_tokens)
        for step in model.steps(ids):
            steps.append(step)
            if step.token == self._manifest.end_token_id:
                return
            if len(steps) >= most:
                break
            if cancelled():
                raise CallCancelledError(self._manifest.model)
        raise AnswerUnusableError(self._manifest.model, f"it did not come to an end in {most} tokens")
