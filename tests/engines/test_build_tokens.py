"""tools/build_tokens.py: its axes on data whose axes are known, its tolerance, and the file it made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import build_tokens
from libravdb_memory.engines.manifest import read_manifest
from libravdb_memory.engines.onnx import BUNDLED

SIZE, KEPT = 12, 5


def states(seed: int, count: int = 4000) -> Any:
    """Points whose spread along the first coordinates is the largest, around a mean that is not zero."""
    spread = np.linspace(4, 0.5, SIZE)
    return np.random.default_rng(seed).normal(size=(count, SIZE)) * spread + np.arange(SIZE)


def moments(seed: int) -> Any:
    return build_tokens.mean_and_covariance(iter(np.array_split(states(seed).astype(np.float32), 7)), SIZE)


def test_moments_gathered_in_blocks_are_those_of_the_whole() -> None:
    mean, covariance = moments(1)
    np.testing.assert_allclose(mean, states(1).mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(covariance, np.cov(states(1).T, bias=True), atol=1e-4)


def test_axes_are_orthonormal_sorted_by_spread_and_of_a_fixed_sign() -> None:
    _, covariance = moments(1)
    axes = build_tokens.principal_axes(covariance, KEPT)
    np.testing.assert_allclose(axes.T @ axes, np.eye(KEPT), atol=1e-9)
    kept = np.diag(axes.T @ covariance @ axes)
    assert np.all(np.diff(kept) < 0)
    np.testing.assert_allclose(kept, np.linalg.eigvalsh(covariance)[::-1][:KEPT])
    assert np.all(axes[np.abs(axes).argmax(axis=0), np.arange(KEPT)] > 0)


def test_the_last_row_takes_the_mean_away() -> None:
    mean, covariance = moments(1)
    table = build_tokens.projection(mean, covariance, KEPT).astype(np.float64)
    projected = states(1) @ table[:-1] + table[-1]
    np.testing.assert_allclose(projected.mean(axis=0), 0, atol=0.02)


def test_a_rebuild_agrees_and_other_axes_or_another_mean_do_not() -> None:
    mean, covariance = moments(1)
    table = build_tokens.projection(mean, covariance, KEPT)
    assert build_tokens.agrees(build_tokens.differences(table, mean, covariance))
    turned = np.roll(table, 3, axis=0)
    moved = table.copy()
    moved[-1] += 2
    for other in (turned, moved):
        assert not build_tokens.agrees(build_tokens.differences(other, mean, covariance))


def test_the_array_is_named_once_in_the_manifest_with_its_hash(tmp_path: Path) -> None:
    lines = ["# written", 'profile = "all-minilm-l6-v2"', "", "[files]", f'"model.onnx" = "{"0" * 64}"']
    (tmp_path / "manifest.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for content in (b"one", b"two"):
        build_tokens.add_tokens(tmp_path, content)
    manifest = read_manifest(tmp_path)
    assert manifest.tokens_path.read_bytes() == b"two"
    assert set(manifest.files) == {"model.onnx", "tokens.npy"}
    assert (tmp_path / "manifest.toml").read_text(encoding="utf-8").count("tokens_file") == 1


def test_the_bundled_array_is_a_set_of_axes_and_a_shift() -> None:
    table = np.load(BUNDLED / "tokens.npy", allow_pickle=False)
    assert (table.shape, table.dtype) == ((385, 128), np.float16)
    axes = table[:-1].astype(np.float64)
    np.testing.assert_allclose(axes.T @ axes, np.eye(128), atol=2e-3)


@pytest.mark.slow
def test_the_bundled_axes_keep_the_spread_of_the_texts_they_were_made_from() -> None:
    from libravdb_memory.engines.session import Session

    manifest = read_manifest(BUNDLED)
    texts = list(build_tokens.own_texts())[::16]
    mean, covariance = build_tokens.mean_and_covariance(
        build_tokens.hidden_states(texts, Session(manifest, 1), manifest.max_tokens), manifest.dimensions
    )
    found = build_tokens.differences(np.load(BUNDLED / "tokens.npy", allow_pickle=False), mean, covariance)
    # Axes drawn at random keep 128 of 384 parts.
    assert found["share_of_all_spread"] > 0.65
    assert found["shift"] < 0.2
