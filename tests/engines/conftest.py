"""Small real models, made on the spot: a tokenizer of single characters and a graph of a few nodes.

The graph adds to each token's vector the mean over the unmasked tokens, so that a wrong mask, a wrong order or a leak
between the texts of a batch shows in the result.
"""

from __future__ import annotations

import json
import string
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from libravdb_memory.engines.onnx import OnnxEmbedder

TOOLS = str(Path(__file__).resolve().parents[2] / "tools")
if TOOLS not in sys.path:
    sys.path.insert(0, TOOLS)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
VOCABULARY = {token: place for place, token in enumerate(SPECIAL + list(string.ascii_letters + string.digits + ":_. "))}
HIDDEN = 12
TABLE = np.random.default_rng(5).normal(size=(len(VOCABULARY), HIDDEN)).astype(np.float32)

Variant = Literal["tokens", "types", "dynamic", "rounded", "pooled"]


@dataclass(frozen=True)
class Tiny:
    """A tiny model's folder, and what its vectors must be, computed here without it."""

    folder: Path

    def ids(self, text: str) -> list[int]:
        return [VOCABULARY.get(character, 1) for character in text if not character.isspace()]

    def hidden(self, own: list[int]) -> Any:
        rows = TABLE[[2, *own, 3]]
        return rows + rows.mean(axis=0)


def tokenizer_json() -> str:
    def piece(kind: str, name: str) -> dict[str, Any]:
        return {kind: {"id": name, "type_id": 0}}

    marks = {name: {"id": name, "ids": [VOCABULARY[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    single = [piece("SpecialToken", "[CLS]"), piece("Sequence", "A"), piece("SpecialToken", "[SEP]")]
    flags = {"special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    split = {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False}
    return json.dumps(
        {
            "version": "1.0",
            "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
            "padding": None,
            "added_tokens": [{"id": VOCABULARY[name], "content": name, **flags} for name in SPECIAL],
            "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, split]},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": single,
                "pair": [*single, piece("Sequence", "B")],
                "special_tokens": marks,
            },
            "decoder": None,
            "model": {"type": "WordLevel", "vocab": VOCABULARY, "unk_token": "[UNK]"},
        }
    )


def tiny_model(variant: Variant, table: Any = TABLE) -> bytes:
    constants = {"table": table, "last": np.array([-1], np.int64), "tokens": np.array([1], np.int64)}
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Cast", ["attention_mask"], ["kept"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["kept", "last"], ["weights"]),
        helper.make_node("Mul", ["words", "weights"], ["masked"]),
        helper.make_node("ReduceSum", ["masked", "tokens"], ["sum"], keepdims=1),
        helper.make_node("ReduceSum", ["weights", "tokens"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"]),
        helper.make_node("Add", ["words", "mean"], ["plain"]),
    ]
    inputs = ["input_ids", "attention_mask"]
    output, shape = "plain", ["batch", "tokens", table.shape[1]]
    if variant == "types":
        inputs.append("token_type_ids")
        nodes += [
            helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["types", "last"], ["shift"]),
            helper.make_node("Add", ["plain", "shift"], ["shifted"]),
        ]
        output = "shifted"
    if variant == "dynamic":
        nodes += [
            helper.make_node("DynamicQuantizeLinear", ["plain"], ["small", "scale", "zero"]),
            helper.make_node("DequantizeLinear", ["small", "scale", "zero"], ["rounded"]),
        ]
        output = "rounded"
    if variant == "rounded":
        constants |= {"step": np.float32(0.05), "zero": np.int8(0)}
        nodes += [
            helper.make_node("QuantizeLinear", ["plain", "step", "zero"], ["small"]),
            helper.make_node("DequantizeLinear", ["small", "step", "zero"], ["rounded"]),
        ]
        output = "rounded"
    if variant == "pooled":
        nodes.append(helper.make_node("Squeeze", ["mean", "tokens"], ["vector"]))
        output, shape = "vector", ["batch", table.shape[1]]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    return model.SerializeToString()


MakeTiny = Callable[..., Tiny]


@pytest.fixture(scope="session")
def make_tiny(tmp_path_factory: pytest.TempPathFactory) -> MakeTiny:
    def make(
        variant: Variant = "tokens", manifest: str = "", *, table: Any = TABLE, axes: Any = None, **values: object
    ) -> Tiny:
        folder = tmp_path_factory.mktemp("tiny")
        (folder / "model.onnx").write_bytes(tiny_model(variant, table))
        (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
        pooling = "none" if variant == "pooled" else "mean"
        keys = {"model": "tiny", "dimensions": HIDDEN, "pooling": pooling, "max_tokens": 32} | values
        if axes is not None:
            np.save(folder / "tokens.npy", axes)
            keys["tokens_file"] = "tokens.npy"
        lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
        (folder / "manifest.toml").write_text("\n".join([*lines, manifest]), encoding="utf-8")
        return Tiny(folder)

    return make


@pytest.fixture(scope="session")
def bundled() -> Iterator[OnnxEmbedder]:
    embedder = OnnxEmbedder()
    yield embedder
    embedder.close()
