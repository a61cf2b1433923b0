"""What an embedding engine must do.

Laws:

1. Same engine, same text, same vector: independent of batch, order and neighbours (up to float rounding of 1e-5).
2. Vectors are finite; normalised ones have length 1, except that of a text without any token, which is zero.
3. `space` is known without loading the model.
4. Loading happens on first use or in `warm_up`, never at import or construction.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from libravdb_memory.identity import canonical_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pooling: TypeAlias = Literal["mean", "cls", "last", "none"]


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
