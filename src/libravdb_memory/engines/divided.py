"""An embedder that shares long lists of texts among several threads, for work in the background that has processors to
itself.

Law: the vectors are those of the embedder, in order. What a thread may do at the processors (see `places`) its helpers
may.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from typing import TYPE_CHECKING

from libravdb_memory.engines.places import places
from libravdb_memory.engines.protocol import Embedder, EmbeddingSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEAST = 32
"""Texts for each thread: fewer are not worth dividing."""


class DividedEmbedder:
    def __init__(self, embedder: Embedder, threads: int) -> None:
        self._embedder = embedder
        self._threads = threads

    @property
    def space(self) -> EmbeddingSpace:
        return self._embedder.space

    @property
    def ready(self) -> bool:
        return self._embedder.ready

    def warm_up(self) -> None:
        self._embedder.warm_up()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        shares = min(self._threads, len(texts) // _LEAST)
        if shares < 2:
            return self._embedder.embed_documents(texts)
        work, made = places.work, np.empty((len(texts), self.space.dimensions), np.float32)

        def embed(share: Sequence[int]) -> None:
            with places.behind(work):
                made[share] = self._embedder.embed_documents([texts[place] for place in share])

        with ThreadPoolExecutor(shares, "libravdb-embedding") as pool:
            list(pool.map(embed, _divided([len(text) for text in texts], shares)))
        return made

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder.embed_query(text)

    def close(self) -> None:
        self._embedder.close()


def _divided(lengths: Sequence[int], shares: int) -> list[list[int]]:
    """Places of the texts, in shares that take about as long. Those of a length stay together: a model runs them at
    once."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    done = list(accumulate(lengths[place] + 1 for place in order))
    divided: list[list[int]] = [[] for _ in range(shares)]
    for place, so_far in zip(order, done, strict=True):
        divided[min((so_far - 1) * shares // done[-1], shares - 1)].append(place)
    return [share for share in divided if share]
