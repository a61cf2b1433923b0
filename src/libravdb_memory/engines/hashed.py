"""Embeddings without a model: words and character trigrams hashed, with a sign, into a small vector.

It knows spelling, not meaning: texts that share words are near each other. It is the fallback when no model may be
loaded, and the engine of tests that need none. Its vectors are the same on every machine and in every process.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from libravdb_memory.engines import windows
from libravdb_memory.engines.protocol import EmbeddingSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 256
_WORD = re.compile(r"\w{1,64}")
_RUN = re.compile(r"\S{1,64}")
_WORD_WEIGHT = 1.0
_TRIGRAM_WEIGHT = 0.4
_READ_TOKENS = 256


class HashedEmbedder:
    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        self.space = EmbeddingSpace(
            model="hashed-words-trigrams",
            revision="1",
            dimensions=dimensions,
            normalised=True,
            pooling="none",
            max_tokens=_READ_TOKENS,
            long_text=f"at most {windows.MOST_WINDOWS} pieces spread evenly",
        )

    @property
    def ready(self) -> bool:
        return True

    def warm_up(self) -> None:
        pass

    def close(self) -> None:
        pass

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        from libravdb_memory.engines import vectors

        rows = np.zeros((len(texts), self.space.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in _features(text):
                place, sign = _slot(feature, self.space.dimensions)
                row[place] += sign * weight
            if text.strip() and not row.any():  # every feature met its opposite
                row[_slot(text, self.space.dimensions)[0]] = 1.0
        return vectors.unit(rows)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self.embed_documents([text])[0]
        return row


def _features(text: str) -> Iterator[tuple[str, float]]:
    for piece in windows.sample(text.strip(), _READ_TOKENS):
        folded = piece.casefold()
        for word in _WORD.findall(folded):
            yield f"w{word}", _WORD_WEIGHT
        for run in _RUN.findall(folded):
            padded = f" {run} "
            for start in range(len(padded) - 2):
                yield f"t{padded[start : start + 3]}", _TRIGRAM_WEIGHT


@lru_cache(maxsize=1 << 16)
def _slot(feature: str, dimensions: int) -> tuple[int, float]:
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    return (number >> 1) % dimensions, 1.0 if number & 1 else -1.0
