"""An embedder for those who need a vector of every text, also of one that the engine refuses.

Law: a refused text gets a vector of zeros, which is similar to nothing; the others get theirs. Whatever else fails is
raised as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from libravdb_memory.engines.protocol import Embedder, EmbeddingSpace
from libravdb_memory.errors import TextRefusedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_log = logging.getLogger(__name__)


class LenientEmbedder:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def space(self) -> EmbeddingSpace:
        return self._embedder.space

    @property
    def ready(self) -> bool:
        return self._embedder.ready

    def warm_up(self) -> None:
        self._embedder.warm_up()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A batch that is refused is halved until the text is alone."""
        import numpy as np

        try:
            return self._embedder.embed_documents(texts)
        except TextRefusedError as error:
            if len(texts) > 1:
                middle = len(texts) // 2
                return np.concatenate((self.embed_documents(texts[:middle]), self.embed_documents(texts[middle:])))
            _log.warning("a text counts as similar to nothing: %s", error)
            return np.zeros((len(texts), self.space.dimensions), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder.embed_query(text)

    def close(self) -> None:
        self._embedder.close()
