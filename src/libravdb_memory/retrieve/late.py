"""Late interaction: how well each token of a question is met by the tokens of each candidate.

    match[c, t]  = max over the tokens d of candidate c of  max(q_t · d, 0)
    count[c, t]  = how often candidate c holds token t itself

Vectors are unit rows scaled to int8. A candidate without tokens meets nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ONE = 127.0
_ID_BYTES = 2


class Tokens:
    """The tokens of many candidates, one after the other; `of` takes what a store keeps for each."""

    def __init__(self, ids: NDArray[np.uint16], rows: NDArray[np.int8], lengths: NDArray[np.intp]) -> None:
        self.ids = ids
        self.rows = rows
        self.lengths = lengths

    @classmethod
    def of(cls, blobs: Sequence[bytes], dimensions: int) -> Tokens:
        """Each blob holds the ids of its tokens as little-endian u16, then their rows."""
        width = _ID_BYTES + dimensions
        lengths = np.fromiter((len(blob) // width for blob in blobs), np.intp, len(blobs))
        ids = b"".join(blob[: _ID_BYTES * length] for blob, length in zip(blobs, lengths.tolist(), strict=True))
        rows = b"".join(blob[_ID_BYTES * length :] for blob, length in zip(blobs, lengths.tolist(), strict=True))
        return cls(np.frombuffer(ids, "<u2"), np.frombuffer(rows, np.int8).reshape(-1, dimensions), lengths)


def interact(
    query_ids: NDArray[np.uint16], query_rows: NDArray[np.int8], candidates: Tokens
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """`match` and `count`, one row for each candidate and one column for each token of the question."""
    shape = (candidates.lengths.shape[0], query_ids.shape[0])
    match, count = np.zeros(shape), np.zeros(shape)
    some = np.flatnonzero(candidates.lengths)
    if not some.shape[0] or not shape[1]:
        return match, count
    starts = (np.cumsum(candidates.lengths) - candidates.lengths)[some]
    products = candidates.rows.astype(np.float32) @ (query_rows.astype(np.float32) / (_ONE * _ONE)).T
    match[some] = np.maximum.reduceat(products, starts, axis=0)
    same = (candidates.ids[:, None] == query_ids[None, :]).astype(np.float32)
    count[some] = np.add.reduceat(same, starts, axis=0)
    return np.clip(match, 0.0, 1.0), count
