"""A tiny encoder-decoder of the T5 family with random weights, in three layouts, and the same in numpy without a cache.

Positions are added to the tokens, so that a cache that is one token off shows; the end mark gets likelier the longer
the text, so that texts end.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Layout = Literal["plain", "separate", "merged"]

WORDS = (
    "billing moves to port from friday monday restart never the service user wants tea coffee green blue certificate "
    "old new before after not deploy branch release notes assistant"
).split()
VOCABULARY = {token: place for place, token in enumerate(["<pad>", "</s>", "<unk>", *WORDS])}
START, END, UNKNOWN = 0, 1, 2
HIDDEN, HEADS, LAYERS, LONGEST = 8, 2, 2, 64
WIDTH = HIDDEN // HEADS
FAR = np.float32(-1e9)
PARTS = ("q", "k", "v", "o", "cross_q", "cross_k", "cross_v", "cross_o", "mix")


def make_weights(seed: int = 9, end_pull: float = 0.4) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    weights: dict[str, Any] = {
        "words": random.normal(size=(len(VOCABULARY), HIDDEN)),
        "places": random.normal(size=(LONGEST, HIDDEN)),
        "out": random.normal(size=(HIDDEN, len(VOCABULARY))) * 0.4,
        "bias": np.zeros(len(VOCABULARY)),
    }
    for layer in range(LAYERS):
        weights |= {f"{part}{layer}": random.normal(size=(HIDDEN, HIDDEN)) * 0.5 for part in PARTS}
    weights["places"][:, 0] = np.arange(LONGEST) * end_pull
    weights["out"][0] = 0
    weights["out"][0, END] = 1
    weights["bias"][[START, UNKNOWN]] = -50
    return {name: np.asarray(value, np.float32) for name, value in weights.items()}


# ── the same model in numpy ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Reference:
    weights: dict[str, Any]

    def steps(self, ids: tuple[int, ...], count: int) -> list[tuple[int, float]]:
        """Tokens and their log p; ends early where two tokens are so close that rounding may choose between them."""
        hidden = self._encode(ids)
        written, found = [START], []
        for _ in range(count):
            logits = self._decode(hidden, written).astype(np.float64)
            second, first = np.sort(logits)[-2:]
            if first - second < 1e-3:
                break
            token = int(logits.argmax())
            found.append((token, float(logits[token] - np.log(np.exp(logits).sum()))))
            written.append(token)
        return found

    def _encode(self, ids: tuple[int, ...]) -> Any:
        rows = self.weights["words"][list(ids)]
        return rows + rows.mean(axis=0)

    def _decode(self, hidden: Any, written: list[int]) -> Any:
        state = self.weights["words"][written] + self.weights["places"][: len(written)]
        later = np.triu(np.full((len(written), len(written)), FAR), 1)
        for layer in range(LAYERS):
            state = state + self._attend(state, state, layer, "", later)
            state = state + self._attend(state, hidden, layer, "cross_", 0)
            state = state + np.tanh(state @ self.weights[f"mix{layer}"])
        return state[-1] @ self.weights["out"] + self.weights["bias"]

    def _attend(self, state: Any, other: Any, layer: int, kind: str, bias: Any) -> Any:
        def heads(rows: Any, part: str) -> Any:
            return (rows @ self.weights[f"{kind}{part}{layer}"]).reshape(-1, HEADS, WIDTH).transpose(1, 0, 2)

        scores = heads(state, "q") @ heads(other, "k").transpose(0, 2, 1) + bias
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (shares / shares.sum(axis=-1, keepdims=True)) @ heads(other, "v")
        return mixed.transpose(1, 0, 2).reshape(-1, HIDDEN) @ self.weights[f"{kind}o{layer}"]


# ── the same model in ONNX ───────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Nodes:
    """The nodes of one graph; names inside it begin with `prefix`, since branches may not shadow one another."""

    prefix: str
    made: list[Any] = field(default_factory=list)

    def add(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        name = name or f"{self.prefix}{len(self.made)}"
        self.made.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def heads(self, rows: str, weight: str) -> str:
        split = self.add("Reshape", self.add("MatMul", rows, weight), "split_shape")
        return self.add("Transpose", split, perm=[0, 2, 1, 3])

    def attend(self, state: str, keys: str, values: str, bias: str, kind: str, layer: int) -> str:
        turned = self.add("Transpose", keys, perm=[0, 1, 3, 2])
        scores = self.add("Add", self.add("MatMul", self.heads(state, f"{kind}q{layer}"), turned), bias)
        mixed = self.add("MatMul", self.add("Softmax", scores, axis=-1), values)
        joined = self.add("Reshape", self.add("Transpose", mixed, perm=[0, 2, 1, 3]), "join_shape")
        return self.add("Add", state, self.add("MatMul", joined, f"{kind}o{layer}"))

    def own_bias(self, positions: str, until: str) -> str:
        """Nobody sees what comes later."""
        seen = self.add("Range", "zero", until, "one")
        later = self.add("Greater", seen, self.add("Unsqueeze", positions, "last_axis"))
        return self.add("Where", later, "far", "none")


def decoder_nodes(prefix: str, *, cached: bool, dummies: bool = False) -> tuple[Nodes, list[str]]:
    """The nodes, and the names of their outputs: logits, then the cache."""
    nodes = Nodes(prefix)
    written = nodes.add("Size", "input_ids")
    before = (
        nodes.add("Squeeze", nodes.add("Shape", "past_key_values.0.decoder.key", start=2, end=3)) if cached else "zero"
    )
    until = nodes.add("Add", before, written)
    positions = nodes.add("Range", before, until, "one")
    state = nodes.add("Add", nodes.add("Gather", "words", "input_ids"), nodes.add("Gather", "places", positions))
    own_bias = nodes.own_bias(positions, until)
    unread = nodes.add("Sub", "one_f", nodes.add("Cast", "encoder_attention_mask", to=TensorProto.FLOAT))
    cross_bias = nodes.add("Unsqueeze", nodes.add("Mul", unread, "far"), "middle_axes")
    outputs: list[str] = []
    for layer in range(LAYERS):
        own = {}
        for part, name in (("k", "key"), ("v", "value")):
            own[part] = nodes.heads(state, f"{part}{layer}")
            if cached:
                own[part] = nodes.add("Concat", f"past_key_values.{layer}.decoder.{name}", own[part], axis=2)
            outputs.append(nodes.add("Identity", own[part], name=f"{prefix}present.{layer}.decoder.{name}"))
        state = nodes.attend(state, own["k"], own["v"], own_bias, "", layer)
        cross = {}
        for part, name in (("k", "key"), ("v", "value")):
            if cached:
                cross[part] = f"past_key_values.{layer}.encoder.{name}"
            else:
                cross[part] = nodes.heads("encoder_hidden_states", f"cross_{part}{layer}")
            if not cached or dummies:
                source = "dummy" if cached else cross[part]
                outputs.append(nodes.add("Identity", source, name=f"{prefix}present.{layer}.encoder.{name}"))
        state = nodes.attend(state, cross["k"], cross["v"], cross_bias, "cross_", layer)
        mixed = nodes.add("Tanh", nodes.add("MatMul", state, f"mix{layer}"))
        state = nodes.add("Add", state, mixed)
    logits = nodes.add("Add", nodes.add("MatMul", state, "out"), "bias", name=f"{prefix}logits")
    return nodes, [logits, *outputs]


def _float(name: str, shape: list[Any]) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _whole(name: str, shape: list[Any]) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.INT64, shape)


def _info(name: str) -> Any:
    if name.endswith("logits"):
        return _float(name, ["batch", "tokens", len(VOCABULARY)])
    return _float(name, ["batch", HEADS, f"{name} length", WIDTH])


def _past() -> list[Any]:
    return [
        _info(f"past_key_values.{layer}.{side}.{name}")
        for layer in range(LAYERS)
        for side in ("decoder", "encoder")
        for name in ("key", "value")
    ]


def _constants(weights: dict[str, Any]) -> list[Any]:
    values = weights | {
        "split_shape": np.array([0, 0, HEADS, WIDTH], np.int64),
        "join_shape": np.array([0, 0, HIDDEN], np.int64),
        "last_axis": np.array([-1], np.int64),
        "middle_axes": np.array([1, 2], np.int64),
        "zero": np.int64(0),
        "one": np.int64(1),
        "one_f": np.float32(1),
        "far": FAR,
        "none": np.float32(0),
        "dummy": np.zeros((1, HEADS, 1, WIDTH), np.float32),
    }
    return [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()]


def _file(nodes: list[Any], inputs: list[Any], outputs: list[Any], weights: dict[str, Any]) -> bytes:
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, _constants(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


_DECODER_INPUTS = [
    _whole("input_ids", ["batch", "tokens"]),
    _whole("encoder_attention_mask", ["batch", "read"]),
    _float("encoder_hidden_states", ["batch", "read", HIDDEN]),
]


def encoder_file(weights: dict[str, Any]) -> bytes:
    nodes = Nodes("e")
    rows = nodes.add("Gather", "words", "input_ids")
    kept = nodes.add("Unsqueeze", nodes.add("Cast", "attention_mask", to=TensorProto.FLOAT), "last_axis")
    total = nodes.add("ReduceSum", nodes.add("Mul", rows, kept), "axis", keepdims=1)
    mean = nodes.add("Div", total, nodes.add("ReduceSum", kept, "axis", keepdims=1))
    nodes.add("Add", rows, mean, name="last_hidden_state")
    inputs = [_whole("input_ids", ["batch", "read"]), _whole("attention_mask", ["batch", "read"])]
    outputs = [_float("last_hidden_state", ["batch", "read", HIDDEN])]
    return _file(nodes.made, inputs, outputs, weights | {"axis": np.array([1], np.int64)})


def decoder_file(weights: dict[str, Any]) -> bytes:
    nodes, outputs = decoder_nodes("", cached=False)
    return _file(nodes.made, _DECODER_INPUTS, [_info(name) for name in outputs], weights)


def decoder_with_past_file(weights: dict[str, Any]) -> bytes:
    nodes, outputs = decoder_nodes("", cached=True)
    return _file(nodes.made, [*_DECODER_INPUTS[:2], *_past()], [_info(name) for name in outputs], weights)


def merged_decoder_file(weights: dict[str, Any]) -> bytes:
    branches = {}
    for prefix, cached in (("then_", True), ("else_", False)):
        nodes, outputs = decoder_nodes(prefix, cached=cached, dummies=True)
        branches[f"{prefix}branch"] = helper.make_graph(nodes.made, prefix, [], [_info(name) for name in outputs])
    names = [name.removeprefix("else_") for name in outputs]
    chosen = helper.make_node("If", ["use_cache_branch"], names, **branches)
    flag = helper.make_tensor_value_info("use_cache_branch", TensorProto.BOOL, [1])
    return _file([chosen], [*_DECODER_INPUTS, *_past(), flag], [_info(name) for name in names], weights)


def tokenizer_file() -> str:
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    pieces = [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}]
    names = ("<pad>", "</s>", "<unk>")
    return json.dumps(
        {
            "version": "1.0",
            "added_tokens": [{"id": VOCABULARY[name], "content": name, **special} for name in names],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": pieces,
                "pair": pieces,
                "special_tokens": {"</s>": {"id": "</s>", "ids": [END], "tokens": ["</s>"]}},
            },
            "decoder": None,
            "model": {"type": "WordLevel", "vocab": VOCABULARY, "unk_token": "<unk>"},
        }
    )


def write_tiny(folder: Path, layout: Layout = "separate", weights: dict[str, Any] | None = None, **keys: Any) -> Path:
    """A folder as the seq2seq summariser wants it."""
    weights = weights or make_weights()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "encoder_model.onnx").write_bytes(encoder_file(weights))
    make = merged_decoder_file if layout == "merged" else decoder_file
    (folder / "decoder_model.onnx").write_bytes(make(weights))
    values: dict[str, Any] = {"model": "tiny", "prefix": "", "max_input_tokens": 48, "max_new_tokens": 40}
    if layout == "separate":
        (folder / "decoder_with_past_model.onnx").write_bytes(decoder_with_past_file(weights))
        values["decoder_with_past_file"] = "decoder_with_past_model.onnx"
    (folder / "tokenizer.json").write_text(tokenizer_file(), encoding="utf-8")
    lines = [f"{key} = {json.dumps(value)}" for key, value in (values | keys).items()]
    (folder / "manifest.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder
