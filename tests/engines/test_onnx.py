"""What OnnxEmbedder computes, checked against the tiny models' arithmetic done by hand, and how it fails."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from libravdb_memory.engines import session as session_module
from libravdb_memory.engines import vectors
from libravdb_memory.engines.manifest import read_manifest
from libravdb_memory.engines.onnx import MOST_TOKENS_PER_BATCH, OnnxEmbedder
from libravdb_memory.engines.session import Batching
from libravdb_memory.errors import ConfigError, ModelUnavailableError, TextRefusedError


def unit(row: Any) -> Any:
    return row / np.linalg.norm(row)


@pytest.mark.parametrize(
    ("pooling", "reduce"),
    [
        ("mean", lambda hidden: hidden.mean(axis=0)),
        ("cls", lambda hidden: hidden[0]),
        ("last", lambda hidden: hidden[-1]),
    ],
)
def test_pooling_is_what_the_manifest_says(make_tiny: Any, pooling: str, reduce: Any) -> None:
    tiny = make_tiny(pooling=pooling)
    found = OnnxEmbedder(tiny.folder).embed_documents(["abc", "longer text"])
    for row, text in zip(found, ["abc", "longer text"], strict=True):
        np.testing.assert_allclose(row, unit(reduce(tiny.hidden(tiny.ids(text)))), atol=1e-6)


def test_a_model_that_is_not_normalised_keeps_its_lengths(make_tiny: Any) -> None:
    tiny = make_tiny(normalise=False)
    embedder = OnnxEmbedder(tiny.folder)
    expected = tiny.hidden(tiny.ids("abc")).mean(axis=0)
    np.testing.assert_allclose(embedder.embed_query("abc"), expected, atol=1e-6)
    assert not embedder.space.normalised


def test_prefixes_stand_before_queries_and_documents(make_tiny: Any) -> None:
    tiny = make_tiny(query_prefix="query: ", document_prefix="doc: ")
    embedder = OnnxEmbedder(tiny.folder)
    query, document = (unit(tiny.hidden(tiny.ids(text)).mean(axis=0)) for text in ("query: abc", "doc: abc"))
    np.testing.assert_allclose(embedder.embed_query("abc"), query, atol=1e-6)
    np.testing.assert_allclose(embedder.embed_documents(["abc"])[0], document, atol=1e-6)


def test_a_long_text_is_the_mean_of_its_windows_weighted_by_tokens(make_tiny: Any) -> None:
    tiny = make_tiny(max_tokens=10)
    ids = tiny.ids("abcdefghijklm")
    rows = [unit(tiny.hidden(ids[cut]).mean(axis=0)) for cut in (slice(0, 8), slice(6, 13))]
    expected = unit(8 * rows[0] + 7 * rows[1])
    np.testing.assert_allclose(OnnxEmbedder(tiny.folder).embed_query("abcdefghijklm"), expected, atol=1e-6)


def test_every_window_of_a_long_document_begins_with_the_prefix(make_tiny: Any) -> None:
    tiny = make_tiny(max_tokens=10, document_prefix="d: ")
    lead, ids = tiny.ids("d:"), tiny.ids("abcdefghi")
    rows = [unit(tiny.hidden(lead + ids[cut]).mean(axis=0)) for cut in (slice(0, 6), slice(4, 9))]
    expected = unit(6 * rows[0] + 5 * rows[1])
    np.testing.assert_allclose(OnnxEmbedder(tiny.folder).embed_documents(["abcdefghi"])[0], expected, atol=1e-6)


def test_a_shorter_vector_is_the_regularised_prefix(make_tiny: Any) -> None:
    tiny = make_tiny(matryoshka=[4, 12], layer_norm=True)
    short = OnnxEmbedder(tiny.folder, dimensions=4)
    full = np.asarray([tiny.hidden(tiny.ids("abc")).mean(axis=0)])
    np.testing.assert_allclose(short.embed_query("abc"), vectors.shorten(full, 4, layer_norm=True)[0], atol=1e-6)
    assert short.space.dimensions == 4
    assert short.space.fingerprint != OnnxEmbedder(tiny.folder).space.fingerprint


def test_a_size_the_model_was_not_trained_for_is_refused(make_tiny: Any) -> None:
    with pytest.raises(ConfigError, match=r"embedding\.dimensions.*\[4, 12\], not 5"):
        _ = OnnxEmbedder(make_tiny(matryoshka=[4, 12]).folder, dimensions=5).space


def test_names_of_special_tokens_inside_a_text_are_plain_text(make_tiny: Any) -> None:
    tiny = make_tiny()
    ids = tiny.ids("[SEP]")
    expected = unit(tiny.hidden(ids).mean(axis=0))
    np.testing.assert_allclose(OnnxEmbedder(tiny.folder).embed_query("[SEP]"), expected, atol=1e-6)


def test_the_output_can_be_named(make_tiny: Any) -> None:
    assert OnnxEmbedder(make_tiny(output="plain").folder).embed_query("a").any()
    with pytest.raises(ModelUnavailableError, match="no output 'other', only"):
        OnnxEmbedder(make_tiny(output="other").folder).warm_up()


@pytest.mark.parametrize("batching", ["padded", "equal lengths", "one by one"])
@given(lengths=st.lists(st.integers(1, 700), max_size=60), size=st.integers(1, 40))
def test_batches_hold_every_input_once_and_are_bounded_in_texts_and_tokens(
    batching: Batching, lengths: list[int], size: int
) -> None:
    embedder = OnnxEmbedder(batch_size=size)
    batches = list(embedder._batches(lengths, batching))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = len(batch) * max(lengths[place] for place in batch)
        assert len(batch) == 1 or (len(batch) <= size and padded <= MOST_TOKENS_PER_BATCH)
        assert batching == "padded" or len({lengths[place] for place in batch}) == 1
        assert batching != "one by one" or len(batch) == 1


def test_how_a_model_is_batched_follows_from_its_operators(make_tiny: Any) -> None:
    found = {
        variant: session_module.Session(read_manifest(make_tiny(variant).folder), 1).batching
        for variant in ("tokens", "types", "dynamic", "rounded")
    }
    assert found == {"tokens": "padded", "types": "padded", "dynamic": "one by one", "rounded": "equal lengths"}


def test_eight_threads_that_call_at_once_load_the_model_once(make_tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[object] = []

    class Counted(session_module.Session):
        def __init__(self, *arguments: Any) -> None:
            loads.append(self)
            super().__init__(*arguments)

    monkeypatch.setattr(session_module, "Session", Counted)
    embedder = OnnxEmbedder(make_tiny().folder)
    assert not embedder.ready
    start = threading.Barrier(8)

    def call(_: int) -> Any:
        start.wait()
        return embedder.embed_query("abc")

    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(call, range(8)))
    assert len(loads) == 1
    assert embedder.ready
    assert all(np.array_equal(row, rows[0]) for row in rows)


def test_threads_share_a_loaded_model_without_mixing_texts(make_tiny: Any) -> None:
    embedder = OnnxEmbedder(make_tiny(max_tokens=16).folder, batch_size=3)
    jobs = [[f"text {number} {'x' * (number % 40)}" for number in range(start, start + 9)] for start in range(24)]
    expected = [embedder.embed_documents(job) for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        for found, known in zip(pool.map(embedder.embed_documents, jobs), expected, strict=True):
            np.testing.assert_array_equal(found, known)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(make_tiny: Any, name: str) -> None:
    folder = make_tiny(revision="1").folder
    (folder / name).unlink()
    embedder = OnnxEmbedder(folder)
    assert embedder.space.revision == "1"
    with pytest.raises(ModelUnavailableError, match=f"{name} is missing"):
        embedder.warm_up()
    assert not embedder.ready


@pytest.mark.parametrize(("name", "words"), [("model.onnx", "cannot be loaded"), ("tokenizer.json", "not a tokenizer")])
def test_a_damaged_file_is_named(make_tiny: Any, name: str, words: str) -> None:
    folder = make_tiny().folder
    (folder / name).write_bytes((folder / name).read_bytes()[:100])
    with pytest.raises(ModelUnavailableError, match=f"{name}.* {words}"):
        OnnxEmbedder(folder).warm_up()


def test_a_file_other_than_the_one_described_is_refused(make_tiny: Any) -> None:
    folder = make_tiny(manifest=f'[files]\n"model.onnx" = "{"0" * 64}"').folder
    with pytest.raises(ModelUnavailableError, match=r"model\.onnx is not the file its manifest describes"):
        OnnxEmbedder(folder).warm_up()


def test_a_model_mended_after_a_failure_is_loaded(make_tiny: Any) -> None:
    folder = make_tiny(revision="1").folder
    content = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").unlink()
    embedder = OnnxEmbedder(folder)
    with pytest.raises(ModelUnavailableError):
        embedder.embed_query("a")
    (folder / "model.onnx").write_bytes(content)
    assert embedder.embed_query("a").any()


def test_a_model_of_another_length_than_its_manifest_says_is_refused(make_tiny: Any) -> None:
    with pytest.raises(ModelUnavailableError, match=r"vectors of shape \(12,\), its manifest says 13"):
        OnnxEmbedder(make_tiny(dimensions=13).folder).warm_up()


def test_a_prefix_that_fills_the_whole_input_is_refused(make_tiny: Any) -> None:
    with pytest.raises(ModelUnavailableError, match="leaves no room"):
        OnnxEmbedder(make_tiny(max_tokens=6, document_prefix="abcdef").folder).warm_up()


def test_a_model_that_gives_no_number_is_refused_when_it_is_loaded(make_tiny: Any) -> None:
    with pytest.raises(ModelUnavailableError, match="not finite"):
        OnnxEmbedder(make_tiny(table=np.full((80, 12), np.nan, np.float32)).folder).warm_up()


def test_a_text_for_which_the_model_gives_no_number_is_refused_alone(make_tiny: Any) -> None:
    table = np.ones((80, 12), np.float32)
    (poisoned,) = make_tiny().ids("z")
    table[poisoned] = np.inf
    embedder = OnnxEmbedder(make_tiny(table=table).folder)
    with pytest.raises(TextRefusedError, match="not finite"):
        embedder.embed_query("a z")
    assert embedder.embed_query("a b").any()


def test_an_input_nobody_knows_is_refused_by_name(make_tiny: Any) -> None:
    folder = make_tiny().folder
    graph = helper.make_graph(
        [helper.make_node("Cast", ["pixel_values"], ["out"], to=TensorProto.FLOAT)],
        "other",
        [helper.make_tensor_value_info("pixel_values", TensorProto.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["batch", "tokens"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    onnx.save(model, str(folder / "model.onnx"))
    with pytest.raises(ModelUnavailableError, match="input 'pixel_values'"):
        OnnxEmbedder(folder).warm_up()
