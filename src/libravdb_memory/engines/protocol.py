"""What an embedding engine must do.

Laws:

1. Same engine, same text, same vector: independent of batch, order and neighbours (up to float rounding of 1e-5).
2. Vectors are finite; normalised ones have length 1, except that of a text without any token, which is zero.
3. `space` is known without loading the model.
4. Loading happens on first use or in `warm_up`, never at import or construction.
5. Token rows come from the pass that makes the pooled vector, which is the same, bit for bit, with or without them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from libravdb_memory.identity import canonical_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pooling: TypeAlias = Literal["mean", "cls", "last", "none"]

TOKEN_DIMENSIONS = 128
_ID_BYTES = 2


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """The identity of a vector space: vectors of two spaces must never be compared.

    `revision` pins the weights (a sha256 of the model and tokenizer files, or a name the endpoint's owner vouches for).
    `long_text` names the rule for texts over `max_tokens`; `shortening` how longer vectors were cut to `dimensions`.
    """

    model: str
    revision: str
    dimensions: int
    normalised: bool
    pooling: Pooling
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 256
    long_text: str = "windows"
    shortening: str = ""

    @property
    def fingerprint(self) -> str:
        return f"sha256:{hashlib.sha256(canonical_json(asdict(self)).encode()).hexdigest()}"

    @property
    def label(self) -> str:
        return f"{self.model} ({self.dimensions}d, {self.revision[:19]})"


class Embedder(Protocol):
    @property
    def space(self) -> EmbeddingSpace: ...

    @property
    def ready(self) -> bool:
        """Loaded: the next call answers without the cost of loading."""
        ...

    def warm_up(self) -> None:
        """Load now. Raises ModelUnavailableError; safe to call from any thread, any number of times."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    def embed_query(self, text: str) -> NDArray[np.float32]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """The tokens of a text that carry meaning, in order: their ids, and unit vectors scaled to int8 (127 = 1.0)."""

    ids: NDArray[np.uint16]
    rows: NDArray[np.int8]

    def __post_init__(self) -> None:
        if self.ids.ndim != 1 or self.rows.ndim != 2 or len(self.ids) != len(self.rows):
            raise ValueError(f"one row for each id is needed, not shapes {self.ids.shape} and {self.rows.shape}")

    def __len__(self) -> int:
        return len(self.ids)

    def to_bytes(self) -> bytes:
        """Token after token, its id as little-endian u16 and then its row, so that texts can simply be joined."""
        import numpy as np

        return np.concatenate((self.ids.astype("<u2")[:, None].view(np.int8), self.rows), axis=1).tobytes()


def token_rows(data: bytes, dimensions: int = TOKEN_DIMENSIONS) -> TokenRows:
    """The inverse of `TokenRows.to_bytes`. Raises ValueError for bytes that are no whole number of rows."""
    import numpy as np

    count, rest = divmod(len(data), _ID_BYTES + dimensions)
    if rest:
        raise ValueError(f"{len(data)} bytes are no whole number of {dimensions}-dimensional token rows")
    table = np.frombuffer(data, np.int8).reshape(count, _ID_BYTES + dimensions)
    ids = np.ascontiguousarray(table[:, :_ID_BYTES]).view("<u2")[:, 0].astype(np.uint16, copy=False)
    return TokenRows(ids=ids, rows=table[:, _ID_BYTES:])


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An engine that also gives small vectors of a text's single tokens, for late interaction."""

    @property
    def token_rule(self) -> str:
        """The identity of the token rows: rows of two rules must never be compared; "" when this engine makes none.

        A tagged hash over projection, pruning rule, length and model revision, known without loading the model.
        """
        ...

    def read_documents(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[TokenRows]]:
        """`embed_documents`, and the token rows of each text, from the same pass."""
        ...

    def read_query(self, text: str) -> tuple[NDArray[np.float32], TokenRows]:
        """`embed_query`, and the token rows of the text, from the same pass."""
        ...
