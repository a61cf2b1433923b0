from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from libravdb_memory.engines import vectors

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
full_vectors = st.lists(finite, min_size=8, max_size=8).map(lambda values: np.array([values], np.float32))


@given(full_vectors, st.integers(1, 8), st.booleans())
def test_a_prefix_is_a_unit_vector_or_zero_and_never_nan(full: Any, size: int, layer_norm: bool) -> None:
    prefix = vectors.shorten(full, size, layer_norm)
    assert prefix.shape == (1, size)
    assert np.isfinite(prefix).all()
    length = float(np.linalg.norm(prefix))
    assert abs(length - 1) < 1e-5 or length == 0


def test_the_prefix_of_a_zero_vector_is_zero() -> None:
    assert not vectors.shorten(np.zeros((2, 8), np.float32), 4, layer_norm=True).any()
    assert not vectors.shorten(np.zeros((2, 8), np.float32), 4, layer_norm=False).any()


def test_a_prefix_follows_the_formula_its_authors_give() -> None:
    full = np.random.default_rng(1).normal(size=(3, 768))
    normal = (full - full.mean(axis=1, keepdims=True)) / np.sqrt(full.var(axis=1, keepdims=True) + 1e-5)
    expected = normal[:, :256] / np.linalg.norm(normal[:, :256], axis=1, keepdims=True)
    np.testing.assert_allclose(vectors.shorten(full.astype(np.float32), 256, layer_norm=True), expected, atol=1e-6)


@given(full_vectors)
@example(np.array([[1e-40, 0, 0, 0, 0, 0, 0, 2e-40]], np.float32))
@example(np.array([[3e38, 0, 0, 0, 0, 0, 0, -3.2e38]], np.float32))
def test_unit_keeps_the_direction_at_any_magnitude(full: Any) -> None:
    row = vectors.unit(full)[0]
    if full.any():
        assert abs(float(np.linalg.norm(row.astype(np.float64))) - 1) < 1e-5
        assert np.argmax(np.abs(row)) == np.argmax(np.abs(full[0]))
    else:
        assert not row.any()


def test_pooling_reads_only_what_the_mask_keeps() -> None:
    tokens = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    mask = np.array([[1, 1, 0], [1, 1, 1]])
    np.testing.assert_array_equal(vectors.pool(tokens, mask, "mean"), [[1, 2], [8, 9]])
    np.testing.assert_array_equal(vectors.pool(tokens, mask, "cls"), [[0, 1], [6, 7]])
    np.testing.assert_array_equal(vectors.pool(tokens, mask, "last"), [[2, 3], [10, 11]])


def test_padding_reaches_the_longest_of_the_batch_and_no_further() -> None:
    ids, mask = vectors.pad([(5, 6, 7), (8,)], fill=9)
    np.testing.assert_array_equal(ids, [[5, 6, 7], [8, 9, 9]])
    np.testing.assert_array_equal(mask, [[1, 1, 1], [1, 0, 0]])
