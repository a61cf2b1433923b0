"""Making in a process of its own, so that whoever stores or asks meanwhile waits for none of it; here, where no process
can be had.

Law: what is made is the same either way. Why it is made here is told once, in the log.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from libravdb_memory.apart import Apart, Ask, NoProcessError, refuse_unknown_program
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compacting.making import Cluster, Fold, Made, Maker, Making, RulesOf
from libravdb_memory.condensing import Cancelled
from libravdb_memory.engines.places import processors
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.engines.readings import Readings
from libravdb_memory.engines.select import EmbeddingSettings, make_embedder
from libravdb_memory.engines.summarising.select import SummarySettings, make_summariser
from libravdb_memory.engines.token_counter import make_counter
from libravdb_memory.errors import CallCancelledError, ModelUnavailableError, ProcessLostError
from libravdb_memory.model import Record
from libravdb_memory.tokens import TokenCounter

_log = logging.getLogger(__name__)
_MOST_HANDS = 4
_PATIENCE_S, _PATIENCE_OF_A_TEXT_S = 1.0, 0.1
_READ_HERE_S = 60.0
"""After texts were waited for in vain."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that a maker is made of but the rules of a namespace, which `ask` gives. `space` is the fingerprint of the
    embedder's: one that is found to be another, for a model was put in its place, is not used."""

    space: str
    embedding: EmbeddingSettings
    summary: SummarySettings
    compaction: CompactionSettings
    tokenizer: str

    def __call__(self, ask: Ask) -> Maker:
        embedder = make_embedder(self.embedding)
        if embedder.space.fingerprint != self.space:
            raise ModelUnavailableError(embedder.space.model, "it is another model by now")
        return self.maker(embedder, make_counter(self.tokenizer), ask)

    def maker(self, embedder: Embedder, counter: TokenCounter, rules_of: RulesOf) -> Maker:
        model = None if self.summary.backend == "extractive" else make_summariser(self.summary, embedder, counter)
        return Maker(embedder, counter, self.compaction, model, rules_of)


def place_of_making(embedding: EmbeddingSettings, compaction: CompactionSettings) -> str:
    """Where summaries are made with these settings, in words."""
    if not is_apart(embedding, compaction):
        return "made in the same process"
    try:
        refuse_unknown_program()
    except NoProcessError as reason:
        return f"made in the same process, for {reason}"
    return "made in a process of its own"


def is_apart(embedding: EmbeddingSettings, compaction: CompactionSettings) -> bool:
    """Whether a process of its own is wanted, and worth it."""
    return compaction.own_process and embedding.backend != "hashed"


class MakingApart:
    """`here` makes one in this process. While `is_live` says that turns arrive, the other leaves a processor free."""

    def __init__(
        self, recipe: Recipe, rules_of: RulesOf, here: Callable[[], Making], is_live: Callable[[], bool]
    ) -> None:
        self._apart = Apart(recipe, rules_of, is_live)
        self._make_here = here
        self._here: Making | None = None
        self._making = threading.Lock()
        self._read_here_until = 0.0

    @property
    def hands(self) -> int:
        return 1 if self._here is not None else min(processors(), _MOST_HANDS)

    @property
    def pid(self) -> int | None:
        """Of the process, while there is one."""
        return self._apart.pid

    def warm_up(self, cancelled: Cancelled) -> str | None:
        away: str | None = self._asked("warm_up", cancelled=cancelled)
        return away

    def prepare(self, clusters: Sequence[Sequence[Record]], cancelled: Cancelled) -> None:
        self._asked("prepare", tuple(map(tuple, clusters)), cancelled=cancelled)

    def cover(self, cluster: Cluster, cancelled: Cancelled) -> Made:
        made: Made = self._asked("cover", cluster, cancelled=cancelled)
        return made

    def fold(self, fold: Fold, cancelled: Cancelled) -> Made:
        made: Made = self._asked("fold", fold, cancelled=cancelled)
        return made

    def read(self, texts: Sequence[str]) -> Readings | None:
        """Where others leave the process no processor, whoever asks had better do it."""
        if self._here is not None or self._apart.pid is None or time.monotonic() < self._read_here_until:
            return None
        patience_s = _PATIENCE_S + _PATIENCE_OF_A_TEXT_S * len(texts)
        try:
            read: Readings = self._apart.call("read_texts", tuple(texts), cancelled=_never, patience_s=patience_s)
        except TimeoutError:
            self._read_here_until = time.monotonic() + _READ_HERE_S
            return None
        except (NoProcessError, ProcessLostError, CallCancelledError):
            return None
        return read

    def rest(self) -> None:
        if self._here is not None:
            self._here.rest()
        elif self._apart.pid is not None:
            with suppress(NoProcessError, ProcessLostError, CallCancelledError, TimeoutError):
                self._apart.call("rest", cancelled=_never, patience_s=_PATIENCE_S)

    def close(self) -> None:
        self._apart.close()
        if self._here is not None:
            self._here.close()

    def _asked(self, method: str, *arguments: Any, cancelled: Cancelled) -> Any:
        if self._here is None:
            try:
                return self._apart.call(method, *arguments, cancelled=cancelled)
            except NoProcessError as error:
                self._go_on_here(error)
        return getattr(self._here, method)(*arguments, cancelled=cancelled)

    def _go_on_here(self, reason: NoProcessError) -> None:
        with self._making:
            if self._here is None:
                _log.warning("summaries are made in this process, and storing may wait for it: %s", reason)
                self._here = self._make_here()
