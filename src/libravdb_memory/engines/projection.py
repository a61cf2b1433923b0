"""The tokens of a text as small vectors: which of them count, and how a hidden state becomes a row.

    row = unit(h V + b)        V, b: principal axes of hidden states and the folded mean, the model folder's tokens file

Laws:

1. A row depends on its own text alone: each text is projected by itself, in whatever batch the model ran.
2. Stop words and punctuation are dropped, unless nothing else is left. Prefix and frame are no tokens of the text.
3. Only the first MOST_TOKENS tokens are read, from the window that the pooled vector needs anyway: no further pass.
4. `rule` names everything that can change a row, and is known without loading the model.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from libravdb_memory.engines.manifest import Manifest
from libravdb_memory.engines.manifest_values import sha256_of
from libravdb_memory.engines.protocol import TOKEN_DIMENSIONS, TokenRows, token_rows
from libravdb_memory.errors import ModelUnavailableError, TextRefusedError
from libravdb_memory.identity import Json, canonical_json
from libravdb_memory.retrieve.query import STOP_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    F32 = NDArray[np.float32]

MOST_TOKENS = 126
UNIT = 127
_LARGEST_ID = 0xFFFF
_PRUNING = "no stop words, no punctuation, all when nothing is left"
# How tokenizers other than WordPiece mark the beginning of a word.
_WORD_MARKS = "▁Ġ"
_LETTER = re.compile(r"[^\W_]")


def rule(manifest: Manifest) -> str:
    """The identity of the rows that this model's folder gives; "" when it gives none."""
    if not manifest.tokens_file:
        return ""
    parts: Json = {
        "model": manifest.model,
        "revision": manifest.pinned_revision(),
        "output": manifest.output,
        "query_prefix": manifest.query_prefix,
        "document_prefix": manifest.document_prefix,
        "max_tokens": manifest.max_tokens,
        "projection": manifest.files.get(manifest.tokens_file) or sha256_of(manifest.tokens_path),
        "layout": "token after token",
        "dimensions": TOKEN_DIMENSIONS,
        "unit": UNIT,
        "most_tokens": MOST_TOKENS,
        "pruning": _PRUNING,
        "stop_words": [*sorted(STOP_WORDS)],
    }
    return f"sha256:{hashlib.sha256(canonical_json(parts).encode()).hexdigest()}"


def carries_meaning(token: str) -> bool:
    """Whether a token of the vocabulary is neither a stop word nor made of punctuation and symbols alone."""
    if token.lstrip(_WORD_MARKS).lower() in STOP_WORDS:
        return False
    # The first test alone decides for nearly all, and quickly; the second knows signs of other scripts.
    return bool(_LETTER.search(token)) or any(unicodedata.category(sign)[0] not in "PSZ" for sign in token)


def no_rows() -> TokenRows:
    return token_rows(b"")


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """`meaningful` says of each id of the vocabulary whether its token counts."""

    model: str
    axes: F32
    shift: F32
    meaningful: NDArray[np.bool_]

    def rows(self, ids: Sequence[int], hidden: F32) -> TokenRows:
        """The rows of a text's own tokens, given with their hidden states."""
        import numpy as np

        from libravdb_memory.engines import vectors

        own = np.asarray(ids[:MOST_TOKENS], np.int64)
        kept = self.meaningful[own]
        chosen = np.flatnonzero(kept) if kept.any() else np.arange(len(own))
        with np.errstate(over="ignore", invalid="ignore"):
            projected = vectors.product(hidden[chosen], self.axes) + self.shift
        if not np.isfinite(projected).all():
            raise TextRefusedError(self.model, "it gave a token a value that is not finite")
        return TokenRows(own[chosen].astype(np.uint16), np.rint(vectors.unit(projected) * UNIT).astype(np.int8))


def load_projection(manifest: Manifest, vocabulary: Sequence[str]) -> Projection:
    """Raises ModelUnavailableError when the file does not fit the model. `vocabulary` holds the token of each id."""
    import numpy as np

    if len(vocabulary) > _LARGEST_ID + 1:
        raise ModelUnavailableError(manifest.model, f"{manifest.tokens_file} allows for {_LARGEST_ID + 1:,} tokens")
    try:
        table = np.load(manifest.tokens_path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ModelUnavailableError(manifest.model, f"{manifest.tokens_path} cannot be read: {error}") from error
    expected = (manifest.dimensions + 1, TOKEN_DIMENSIONS)
    if table.dtype != np.float16 or table.shape != expected or not np.isfinite(table).all():
        reason = f"{manifest.tokens_path} is no finite float16 array of shape {expected}"
        raise ModelUnavailableError(manifest.model, reason)
    wide = table.astype(np.float32)
    meaningful = np.fromiter(map(carries_meaning, vocabulary), np.bool_, len(vocabulary))
    return Projection(manifest.model, wide[:-1], wide[-1], meaningful)
