"""Arithmetic on rows of vectors: pooling, unit length, prefixes. Imports numpy: import it where vectors are made.

Law: finite in, finite out. A row that is zero stays zero; no division is by zero.

A Matryoshka prefix is *regularised*: the full vector is brought to mean 0 and variance 1 (when the model's authors say
so), then cut, then brought to length 1, so that prefixes of one model are comparable with each other and never NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from libravdb_memory.engines.protocol import Pooling

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

_LAYER_NORM_EPSILON = 1e-5
_ROWS_AT_ONCE = 4


def unit(rows: F32) -> F32:
    # Squares of float32 values overflow or vanish in float32, never in float64.
    wide = rows.astype(np.float64)
    length = np.linalg.norm(wide, axis=-1, keepdims=True)
    return np.asarray(wide / np.where(length > 0, length, 1.0), np.float32)


def pool(tokens: F32, mask: I64, pooling: Pooling) -> F32:
    """Token vectors [batch, tokens, d] (or finished vectors [batch, d]) to one vector per row."""
    if pooling == "none":
        return tokens
    if pooling == "cls":
        first: F32 = tokens[:, 0]
        return first
    if pooling == "last":
        last: F32 = tokens[np.arange(len(tokens)), np.maximum(mask.sum(axis=1) - 1, 0)]
        return last
    kept = mask[..., None].astype(np.float32)
    return np.asarray((tokens * kept).sum(axis=1) / np.maximum(kept.sum(axis=1), 1.0), np.float32)


def shorten(rows: F32, dimensions: int, layer_norm: bool) -> F32:
    """The regularised prefix of each row, of length 1."""
    full = rows.astype(np.float64)
    if layer_norm:
        centred = full - full.mean(axis=-1, keepdims=True)
        full = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _LAYER_NORM_EPSILON)
    return unit(full[..., :dimensions].astype(np.float32))


def pad(inputs: list[tuple[int, ...]], fill: int) -> tuple[I64, I64]:
    """Token ids and mask, padded to the longest of this batch."""
    longest = max(map(len, inputs))
    ids = np.full((len(inputs), longest), fill, np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(inputs):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return ids, mask


def weighted_mean(rows: F32, weights: list[int]) -> F32:
    return np.average(rows.astype(np.float64), axis=0, weights=weights).astype(np.float32)


def product(rows: F32, matrix: F32) -> F32:
    """rows @ matrix, a few rows at a time: for more, BLAS wakes its threads, which then hold up the model's own."""
    count, width = rows.shape
    blocks = -(-count // _ROWS_AT_ONCE)
    padded = np.zeros((blocks * _ROWS_AT_ONCE, width), np.float32)
    padded[:count] = rows
    made: F32 = (padded.reshape(blocks, _ROWS_AT_ONCE, width) @ matrix).reshape(-1, matrix.shape[1])
    return made[:count]
