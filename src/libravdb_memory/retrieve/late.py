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
_MOST_AT_ONCE = 1 << 18
"""Multiplications: for more, BLAS wakes its threads, and waiting for them costs far more than the work on a busy
machine."""


class Tokens:
    """The tokens of many candidates, one after the other; `of` takes what a store keeps for each."""

    def __init__(self, ids: NDArray[np.uint16], rows: NDArray[np.int8], lengths: NDArray[np.intp]) -> None:
        self.ids = ids
        self.rows = rows
        self.lengths = lengths

    @classmethod
    def of(cls, blobs: Sequence[bytes], dimensions: int) -> Tokens:
        """Each blob holds token after token: its id as little-endian u16, then its row."""
        width = _ID_BYTES + dimensions
        table = np.frombuffer(b"".join(blobs), np.int8).reshape(-1, width)
        lengths = np.array(list(map(len, blobs)), np.intp) // width
        ids = np.ascontiguousarray(table[:, :_ID_BYTES]).view("<u2")[:, 0]
        return cls(ids, table[:, _ID_BYTES:], lengths)


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
    products = _products(candidates.rows, query_rows.astype(np.float32) / (_ONE * _ONE))
    match[some] = np.clip(np.maximum.reduceat(products, starts, axis=0), 0.0, 1.0)
    same = candidates.ids[:, None] == query_ids[None, :]
    if same.any():
        count[some] = np.add.reduceat(same.astype(np.float64), starts, axis=0)
    return match, count


def _products(rows: NDArray[np.int8], wanted: NDArray[np.float32]) -> NDArray[np.float32]:
    products = np.empty((rows.shape[0], wanted.shape[0]), np.float32)
    columns = np.ascontiguousarray(wanted.T)
    step = max(_MOST_AT_ONCE // wanted.size, 1)
    for start in range(0, rows.shape[0], step):
        np.matmul(rows[start : start + step].astype(np.float32), columns, out=products[start : start + step])
    return products
