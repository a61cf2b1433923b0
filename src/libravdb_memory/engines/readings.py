"""What the index keeps of a text: its vector and, where the engine makes them, the rows of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from libravdb_memory.engines.protocol import Embedder, TokenEmbedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Readings: TypeAlias = "tuple[NDArray[np.float32], Sequence[bytes] | None]"
"""A vector for each text, and its token rows as the store takes them; None where the engine makes none."""


def token_rule_of(embedder: Embedder) -> str:
    """Empty where the engine makes no token rows."""
    return embedder.token_rule if isinstance(embedder, TokenEmbedder) else ""


def read_texts(embedder: Embedder, texts: Sequence[str]) -> Readings:
    if not isinstance(embedder, TokenEmbedder) or not embedder.token_rule:
        return embedder.embed_documents(texts), None
    vectors, tokens = embedder.read_documents(texts)
    return vectors, [rows.to_bytes() for rows in tokens]
