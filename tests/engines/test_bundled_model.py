"""The model that ships: its numbers, its meaning, and what keeps both the same everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from libravdb_memory.engines.manifest import read_manifest
from libravdb_memory.engines.onnx import BUNDLED, OnnxEmbedder
from libravdb_memory.engines.session import Session

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "minilm.json").read_text(encoding="utf-8"))
# The weights are pinned exactly, by hash. Vectors are not the same to the last bit on every CPU and runtime: rounding
# to integers, layer after layer, enlarges differences in the last bit of a float. The bounds are a few times what
# another runtime version showed; another model is beyond them by far.
TYPICAL_DIFFERENCE = 0.004
LARGEST_DIFFERENCE = 0.03


def test_the_first_components_of_twenty_texts_are_pinned(bundled: OnnxEmbedder) -> None:
    assert len(GOLDEN["texts"]) == 20
    rows = bundled.embed_documents([entry["text"] for entry in GOLDEN["texts"]])
    differences = np.abs(rows[:, :8] - np.array([entry["first_8"] for entry in GOLDEN["texts"]]))
    assert float(np.sqrt((differences**2).mean())) < TYPICAL_DIFFERENCE
    assert float(differences.max()) < LARGEST_DIFFERENCE


def test_the_weights_are_the_pinned_ones() -> None:
    assert read_manifest(BUNDLED).pinned_revision() == GOLDEN["revision"]


def test_the_pinned_vectors_are_near_those_of_full_precision() -> None:
    for entry in GOLDEN["texts"]:
        np.testing.assert_allclose(entry["first_8"], entry["first_8_f32"], atol=0.035)


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        ("I am allergic to peanuts", "Nuts make me ill, so I avoid them", "The train leaves at noon"),
        ("How do I reset my password?", "I forgot my login and need a new one", "The soup needs more salt"),
        ("The build fails on the main branch", "CI is red since the last merge", "My sister plays the violin"),
        ("We moved to Lisbon in spring", "Our new home is in Portugal", "The function returns a list"),
        ("The deadline was postponed by a week", "We have seven more days to deliver", "He painted the fence green"),
    ],
)
def test_a_paraphrase_is_nearer_than_another_subject(
    bundled: OnnxEmbedder, text: str, paraphrase: str, unrelated: str
) -> None:
    query, near, far = bundled.embed_documents([text, paraphrase, unrelated])
    assert float(query @ near) > float(query @ far) + 0.1


def test_the_end_of_a_long_text_counts(bundled: OnnxEmbedder) -> None:
    padding = "The weather was mild and the streets were quiet. " * 60
    query = bundled.embed_query("a violin concert")
    plain, told = bundled.embed_documents([padding, padding + "She gave a violin concert on stage. " * 20])
    assert float(query @ told) > float(query @ plain) + 0.1


def test_the_vectors_of_tokens_are_there_too() -> None:
    session = Session(read_manifest(BUNDLED), 1)
    ids = np.array([session.frame.around(session.tokens("two words"))])
    assert session.frame.around([]) == (101, 102)
    tokens = session.run(ids, np.ones_like(ids))
    assert tokens.shape == (1, 4, 384)
    mean = tokens[0].mean(axis=0)
    expected = OnnxEmbedder().embed_query("two words")
    np.testing.assert_allclose(mean / np.linalg.norm(mean), expected, atol=1e-6)


def test_threads_do_not_change_a_vector(bundled: OnnxEmbedder) -> None:
    texts = ["a few words", "and a somewhat longer sentence about nothing at all " * 8]
    np.testing.assert_allclose(
        OnnxEmbedder(threads=2).embed_documents(texts), bundled.embed_documents(texts), atol=1e-5
    )


def test_no_product_of_the_quantised_layers_can_saturate_sixteen_bits() -> None:
    model = onnx.load(str(BUNDLED / "model.onnx"))
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    layers = [node for node in model.graph.node if node.op_type == "MatMulIntegerToFloat"]
    assert len(layers) == 36
    for node in layers:
        weights = numpy_helper.to_array(constants[node.input[1]])
        assert weights.dtype == np.int8
        assert 2 * 255 * int(np.abs(weights.astype(np.int32)).max()) <= np.iinfo(np.int16).max


def test_no_layer_takes_its_scale_from_the_whole_batch() -> None:
    operators = {node.op_type for node in onnx.load(str(BUNDLED / "model.onnx")).graph.node}
    assert not {name for name in operators if name.startswith("DynamicQuantize")}
    assert Session(read_manifest(BUNDLED), 1).batching == "equal lengths"


def test_the_folder_is_small_and_carries_its_licence() -> None:
    assert sum(path.stat().st_size for path in BUNDLED.iterdir()) < 25_000_000
    assert "Apache License" in (BUNDLED / "LICENSE").read_text(encoding="utf-8")
    card = (BUNDLED / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert "Apache-2.0" in card
    assert "384" in card
