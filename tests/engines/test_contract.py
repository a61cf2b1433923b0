"""The laws of engines/protocol.py, for every engine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.engines.onnx import OnnxEmbedder
from libravdb_memory.engines.openai_compatible import OpenAICompatibleEmbedder
from libravdb_memory.engines.profiles import Profile
from libravdb_memory.engines.protocol import Embedder

any_text = st.text(st.characters(exclude_categories=()), max_size=60)
wordy = st.text("abc xyz 019", min_size=1, max_size=120)
texts = st.lists(any_text | wordy, max_size=6)


class GoodEndpoint(BaseHTTPRequestHandler):
    """Answers as an endpoint should, with hashed vectors twice as long as 1."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = HashedEmbedder(16).embed_documents(asked["input"]) * 2
        data = [{"index": index, "embedding": row.tolist()} for index, row in enumerate(rows)]
        answer = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


TINY = {
    "mean": {},
    "cls": {"pooling": "cls"},
    "last": {"pooling": "last"},
    "pooled by the model": {"variant": "pooled"},
    "token types": {"variant": "types"},
    "quantised over the batch": {"variant": "dynamic"},
    "quantised by a fixed step": {"variant": "rounded"},
    "prefixes": {"query_prefix": "query: ", "document_prefix": "doc: "},
    "small windows": {"max_tokens": 6},
    "matryoshka": {"matryoshka": [4, 12], "layer_norm": True},
}
NAMES = ["hashed", "bundled", "endpoint", *TINY]


@pytest.fixture(scope="module")
def engines(make_tiny: Any, bundled: OnnxEmbedder) -> Iterator[dict[str, Embedder]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), GoodEndpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    made: dict[str, Embedder] = {
        "hashed": HashedEmbedder(),
        "bundled": bundled,
        "endpoint": OpenAICompatibleEmbedder(url, Profile("remote", 16, "none", 8), batch_size=3),
    }
    for name, values in TINY.items():
        size = 4 if name == "matryoshka" else None
        made[name] = OnnxEmbedder(make_tiny(**values).folder, batch_size=3, dimensions=size)
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module", params=NAMES)
def engine(request: pytest.FixtureRequest, engines: dict[str, Embedder]) -> Embedder:
    return engines[request.param]


few = settings(max_examples=25)


@few
@given(batch=texts, order=st.randoms(use_true_random=False))
@example(batch=["a", "a" * 500, "", "\ud800", "\x00", " b"], order=None)
def test_a_vector_does_not_depend_on_the_texts_beside_it(engine: Embedder, batch: list[str], order: Any) -> None:
    together = engine.embed_documents(batch)
    places = list(range(len(batch)))
    if order is not None:
        order.shuffle(places)
    shuffled = engine.embed_documents([batch[place] for place in places])
    np.testing.assert_allclose(shuffled, together[places], atol=1e-5)
    for text, row in zip(batch, together, strict=True):
        np.testing.assert_allclose(engine.embed_documents([text])[0], row, atol=1e-5)


@few
@given(batch=texts)
def test_vectors_are_finite_and_of_length_one_or_zero(engine: Embedder, batch: list[str]) -> None:
    rows = engine.embed_documents(batch)
    assert rows.shape == (len(batch), engine.space.dimensions)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-4) | (lengths == 0))
    for text, length in zip(batch, lengths, strict=True):
        if not text.strip():
            assert length == 0
        if any("a" <= character <= "z" for character in text):
            assert length > 0.99


@few
@given(text=any_text | wordy)
def test_a_query_is_a_document_unless_prefixes_say_otherwise(engine: Embedder, text: str) -> None:
    query = engine.embed_query(text)
    assert query.shape == (engine.space.dimensions,)
    if engine.space.query_prefix == engine.space.document_prefix:
        np.testing.assert_allclose(query, engine.embed_documents([text])[0], atol=1e-5)


def test_white_space_around_a_text_means_nothing(engine: Embedder) -> None:
    plain, padded = engine.embed_documents(["a word", " \n a word\t"])
    np.testing.assert_allclose(plain, padded, atol=1e-5)


def test_different_texts_have_different_vectors(engine: Embedder) -> None:
    first, second = engine.embed_documents(["the cat sat", "12 quick zebras"])
    assert float(first @ second) < 0.999


def test_nothing_in_gives_nothing_out(engine: Embedder) -> None:
    assert engine.embed_documents([]).shape == (0, engine.space.dimensions)


def test_an_engine_works_again_after_it_was_closed(engine: Embedder) -> None:
    before = engine.embed_query("again")
    engine.close()
    np.testing.assert_array_equal(engine.embed_query("again"), before)
    assert engine.ready


def test_a_text_of_ten_megabytes_is_embedded(engine: Embedder) -> None:
    vector = engine.embed_query("lorem ipsum " * 850_000)
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-4


def test_every_engine_has_a_fingerprint_of_its_own(engines: dict[str, Embedder]) -> None:
    prints = [engine.space.fingerprint for engine in engines.values()]
    assert len(set(prints)) == len(prints)
