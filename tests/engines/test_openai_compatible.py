"""The OpenAI-compatible engine against a real server on loopback that misbehaves on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from libravdb_memory.engines.openai_compatible import OpenAICompatibleEmbedder
from libravdb_memory.engines.profiles import PROFILES, Profile
from libravdb_memory.errors import ConfigError, ModelUnavailableError, TextRefusedError

Vectors = Callable[[list[str]], list[list[float]]]
Answer = Callable[["Handler", list[str]], None]
SECRET = "sk-very-secret"


def by_length(texts: list[str]) -> list[list[float]]:
    return [[1.0, float(len(text)), 0.5, 0.0] for text in texts]


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), asked))
        answers = self.server.answers
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        answer(self, asked["input"])

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class Endpoint(ThreadingHTTPServer):
    daemon_threads = False  # closing the server waits for its threads

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = [good]
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/"

    def handle_error(self, *_: Any) -> None:
        """Cut connections are part of the tests."""


def data(handler: Handler, entries: list[Any]) -> None:
    handler.reply(200, json.dumps({"object": "list", "data": entries}).encode())


def entries_of(texts: list[str]) -> list[dict[str, Any]]:
    return [{"index": index, "embedding": vector} for index, vector in enumerate(by_length(texts))]


def good(handler: Handler, texts: list[str]) -> None:
    data(handler, entries_of(texts))


def unordered(handler: Handler, texts: list[str]) -> None:
    data(handler, entries_of(texts)[::-1])


def status(code: int, body: bytes = b"sorry", **headers: str) -> Answer:
    return lambda handler, texts: handler.reply(code, body, **headers)


def raw(body: bytes) -> Answer:
    return lambda handler, texts: handler.reply(200, body)


def hang(handler: Handler, texts: list[str]) -> None:
    handler.server.released.wait(30)


def drip(handler: Handler, texts: list[str]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.server.released.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def cut(handler: Handler, texts: list[str]) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def cut_in_the_body(handler: Handler, texts: list[str]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.wfile.flush()
    cut(handler, texts)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


PROFILE = Profile("remote", 4, "none", 512)


def engine(
    endpoint: Endpoint, profile: Profile = PROFILE, **options: Any
) -> tuple[OpenAICompatibleEmbedder, list[float]]:
    pauses: list[float] = []
    options = {"sleep": pauses.append, "timeout_s": 5.0} | options
    return OpenAICompatibleEmbedder(endpoint.url, profile, **options), pauses


def expected(*texts: str) -> Any:
    rows = np.array(by_length(list(texts)))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_texts_are_sent_in_batches_to_the_embeddings_path(endpoint: Endpoint) -> None:
    embedder, _ = engine(endpoint, batch_size=2)
    rows = embedder.embed_documents(["a", "bb", "ccc"])
    np.testing.assert_allclose(rows, expected("a", "bb", "ccc"), atol=1e-6)
    assert [path for path, _, _ in endpoint.requests] == ["/v1/embeddings"] * 2
    assert [asked for _, _, asked in endpoint.requests] == [
        {"model": "remote", "input": ["a", "bb"]},
        {"model": "remote", "input": ["ccc"]},
    ]


def test_the_space_is_known_without_the_network() -> None:
    embedder = OpenAICompatibleEmbedder("http://127.0.0.1:9/v1", PROFILE, revision="2024-02")
    assert (embedder.space.dimensions, embedder.space.revision, embedder.ready) == (4, "2024-02", False)


def test_blank_texts_are_not_sent(endpoint: Endpoint) -> None:
    embedder, _ = engine(endpoint)
    assert not embedder.embed_documents(["", " \n"]).any()
    assert endpoint.requests == []


def test_vectors_follow_their_index_not_their_place(endpoint: Endpoint) -> None:
    endpoint.answers = [unordered]
    embedder, _ = engine(endpoint)
    np.testing.assert_allclose(embedder.embed_documents(["a", "bb", "ccc"]), expected("a", "bb", "ccc"), atol=1e-6)


def test_prefixes_are_sent(endpoint: Endpoint) -> None:
    profile = Profile("remote", 4, "none", 512, query_prefix="q: ", document_prefix="d: ")
    embedder, _ = engine(endpoint, profile)
    embedder.embed_query("x")
    embedder.embed_documents(["y"])
    assert [asked["input"] for _, _, asked in endpoint.requests] == [["q: x"], ["d: y"]]


def test_a_long_text_is_sent_in_overlapping_pieces_and_averaged(endpoint: Endpoint) -> None:
    embedder, _ = engine(endpoint, Profile("remote", 4, "none", 4))
    row = embedder.embed_query("abcdefghijkl")
    assert endpoint.requests[0][2]["input"] == ["abcdefgh", "ghijkl"]
    first, second = expected("abcdefgh", "ghijkl")
    mean = 8 * first + 6 * second
    np.testing.assert_allclose(row, mean / np.linalg.norm(mean), atol=1e-6)


def test_matryoshka_prefixes_are_cut_here(endpoint: Endpoint) -> None:
    full = np.random.default_rng(3).normal(size=768)
    endpoint.answers = [raw(json.dumps({"data": [{"index": 0, "embedding": full.tolist()}]}).encode())]
    embedder, _ = engine(endpoint, PROFILES["nomic-embed-text-v1.5"], dimensions=64)
    row = embedder.embed_query("x")
    normal = (full - full.mean()) / np.sqrt(full.var() + 1e-5)
    np.testing.assert_allclose(row, normal[:64] / np.linalg.norm(normal[:64]), atol=1e-6)


def test_the_key_is_sent_and_never_shown(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_EMBEDDING_KEY", SECRET)
    endpoint.answers = [status(401, f"the key {SECRET} is wrong".encode())]
    embedder, _ = engine(endpoint, api_key_env="TEST_EMBEDDING_KEY")
    with pytest.raises(ModelUnavailableError, match="401") as caught:
        embedder.warm_up()
    assert endpoint.requests[0][1]["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(embedder)


@pytest.mark.parametrize("value", ["", " ", "sk-\nInjected: header", "schlüssel"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("TEST_EMBEDDING_KEY", value)
    embedder, _ = engine(endpoint, api_key_env="TEST_EMBEDDING_KEY")
    with pytest.raises(ConfigError, match="TEST_EMBEDDING_KEY holds no usable key"):
        embedder.warm_up()
    assert endpoint.requests == []


@pytest.mark.parametrize("trouble", [status(500), status(502), status(503), status(429), cut, cut_in_the_body])
def test_trouble_that_passes_is_waited_out(endpoint: Endpoint, trouble: Answer) -> None:
    endpoint.answers = [trouble, trouble, good]
    embedder, pauses = engine(endpoint)
    np.testing.assert_allclose(embedder.embed_documents(["a"]), expected("a"), atol=1e-6)
    assert pauses == [0.5, 1.0]
    assert embedder.ready


def test_trouble_that_stays_ends_after_the_retries(endpoint: Endpoint) -> None:
    endpoint.answers = [status(503, b"loading")]
    embedder, pauses = engine(endpoint, retries=2)
    with pytest.raises(ModelUnavailableError, match="503 Service Unavailable: loading"):
        embedder.embed_documents(["a"])
    assert len(endpoint.requests) == 3
    assert len(pauses) == 2


def test_the_pause_the_endpoint_asks_for_is_kept_within_bounds(endpoint: Endpoint) -> None:
    endpoint.answers = [
        status(429, Retry_After="7"),
        status(429, Retry_After="86400"),
        status(429, Retry_After="soon"),
        good,
    ]
    embedder, pauses = engine(endpoint)
    embedder.warm_up()
    assert pauses == [7.0, 30.0, 2.0]


def test_a_pause_may_be_asked_for_as_a_date(endpoint: Endpoint) -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)
    endpoint.answers = [status(503, Retry_After=moment), status(503, Retry_After=past), good]
    embedder, pauses = engine(endpoint)
    embedder.warm_up()
    assert 10 < pauses[0] <= 20
    assert pauses[1] == 0


@pytest.mark.parametrize("code", [301, 307, 401, 403, 404])
def test_what_will_not_pass_is_not_tried_again_and_redirects_are_not_followed(endpoint: Endpoint, code: int) -> None:
    endpoint.answers = [status(code, Location="http://127.0.0.1:9/elsewhere")]
    embedder, pauses = engine(endpoint)
    with pytest.raises(ModelUnavailableError, match=str(code)):
        embedder.embed_documents(["a"])
    assert len(endpoint.requests) == 1
    assert pauses == []


@pytest.mark.parametrize("answer", [hang, drip])
def test_an_endpoint_that_does_not_finish_is_given_up(endpoint: Endpoint, answer: Answer) -> None:
    endpoint.answers = [answer]
    embedder, pauses = engine(endpoint, timeout_s=0.3)
    with pytest.raises(ModelUnavailableError, match=r"no answer within 0\.3 s"):
        embedder.embed_documents(["a"])
    assert pauses == []


def test_nobody_listening_is_said(endpoint: Endpoint) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        embedder = OpenAICompatibleEmbedder(url, PROFILE, retries=1, sleep=lambda _: None)
        with pytest.raises(ModelUnavailableError, match="the connection failed"):
            embedder.warm_up()
    assert not embedder.ready


def one_too_few(handler: Handler, texts: list[str]) -> None:
    data(handler, entries_of(texts)[1:])


def one_too_many(handler: Handler, texts: list[str]) -> None:
    data(handler, entries_of([*texts, "more"]))


def the_same_index_twice(handler: Handler, texts: list[str]) -> None:
    data(handler, [entry | {"index": 0} for entry in entries_of(texts)])


def too_short(handler: Handler, texts: list[str]) -> None:
    data(handler, [entry | {"embedding": [1.0, 2.0]} for entry in entries_of(texts)])


def ragged(handler: Handler, texts: list[str]) -> None:
    data(handler, [entry | {"embedding": [1.0] * (index + 3)} for index, entry in enumerate(entries_of(texts))])


def words(handler: Handler, texts: list[str]) -> None:
    data(handler, [entry | {"embedding": ["a", "b", "c", "d"]} for entry in entries_of(texts)])


BROKEN = {
    "too few": one_too_few,
    "too many": one_too_many,
    "same index": the_same_index_twice,
    "too short": too_short,
    "ragged": ragged,
    "words": words,
    "not JSON": raw(b"<html>welcome</html>"),
    "not UTF-8": raw(b"\xff\xfe\x00"),
    "a list": raw(b"[1, 2]"),
    "null": raw(b"null"),
    "no data": raw(b'{"object": "list"}'),
    "null data": raw(b'{"data": null}'),
    "null vectors": raw(b'{"data": [{"index": 0, "embedding": null}, {"index": 1, "embedding": null}]}'),
    "deeply nested": raw(b"[" * 200_000),
    "empty": raw(b""),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_answer_that_is_not_whole_is_refused(endpoint: Endpoint, name: str) -> None:
    endpoint.answers = [BROKEN[name]]
    embedder, pauses = engine(endpoint)
    with pytest.raises(ModelUnavailableError, match=endpoint.url[:-1]):
        embedder.embed_documents(["a", "bb"])
    assert not embedder.ready
    assert pauses == []


@pytest.mark.parametrize("bad", ["NaN", "Infinity", "1e300", "0"])
def test_a_vector_that_cannot_be_used_blames_its_text_once_the_endpoint_has_proved_itself(
    endpoint: Endpoint, bad: str
) -> None:
    body = f'{{"data": [{{"index": 0, "embedding": [{bad}, 0, 0, 0]}}]}}'.encode()
    endpoint.answers = [raw(body), good]
    embedder, _ = engine(endpoint)
    with pytest.raises(TextRefusedError, match="not finite, or is zero"):
        embedder.embed_documents(["a"])
    endpoint.answers = [raw(body)]
    with pytest.raises(ModelUnavailableError, match="not finite, or is zero"):
        embedder.embed_documents(["a"])


@pytest.mark.parametrize("code", [400, 413, 422])
def test_a_refused_text_is_told_from_a_refused_model(endpoint: Endpoint, code: int) -> None:
    def refuse_long(handler: Handler, texts: list[str]) -> None:
        status(code, b"too long")(handler, texts) if any(len(text) > 20 for text in texts) else good(handler, texts)

    endpoint.answers = [refuse_long]
    embedder, _ = engine(endpoint)
    with pytest.raises(TextRefusedError, match=f"{code}.*too long"):
        embedder.embed_documents(["short", "x" * 30])
    endpoint.answers = [status(code, b"no such model")]
    with pytest.raises(ModelUnavailableError, match="no such model"):
        embedder.embed_documents(["short"])
