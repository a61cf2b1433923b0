"""How long questions take, with the work of the embedding model told apart."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from libravdb_memory.engines.protocol import Embedder, EmbeddingSpace, TokenEmbedder, TokenRows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")


class TimedEmbedder:
    """The engine itself, with the seconds that questions spent in it."""

    def __init__(self, engine: Embedder) -> None:
        self._engine = engine
        self.query_s = 0.0

    @property
    def space(self) -> EmbeddingSpace:
        return self._engine.space

    @property
    def ready(self) -> bool:
        return self._engine.ready

    def warm_up(self) -> None:
        self._engine.warm_up()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._engine.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._timed(self._engine.embed_query)(text)

    @property
    def token_rule(self) -> str:
        return self._engine.token_rule if isinstance(self._engine, TokenEmbedder) else ""

    def read_documents(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[TokenRows]]:
        return self._reader.read_documents(texts)

    def read_query(self, text: str) -> tuple[NDArray[np.float32], TokenRows]:
        return self._timed(self._reader.read_query)(text)

    def close(self) -> None:
        self._engine.close()

    @property
    def _reader(self) -> TokenEmbedder:
        assert isinstance(self._engine, TokenEmbedder), "asked for tokens only where there is a rule for them"
        return self._engine

    def _timed(self, work: Callable[P, R]) -> Callable[P, R]:
        def timed(*args: P.args, **kwargs: P.kwargs) -> R:
            started = time.perf_counter()
            try:
                return work(*args, **kwargs)
            finally:
                self.query_s += time.perf_counter() - started

        return timed


def spread_ms(seconds: Sequence[float]) -> dict[str, float]:
    """Median and tail, each a time that was measured (nearest rank)."""
    ordered = sorted(seconds)
    return {
        name: round(ordered[max(math.ceil(share * len(ordered)) - 1, 0)] * 1e3, 3)
        for name, share in (("p50", 0.5), ("p99", 0.99))
        if ordered
    }
