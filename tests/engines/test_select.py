from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from libravdb_memory.engines.hashed import HashedEmbedder
from libravdb_memory.engines.onnx import OnnxEmbedder
from libravdb_memory.engines.protocol import TokenEmbedder
from libravdb_memory.engines.select import EmbeddingSettings, make_embedder
from libravdb_memory.errors import ConfigError

REMOTE: dict[str, Any] = {"backend": "openai-compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m"}


def test_the_bundled_model_is_the_default() -> None:
    embedder = make_embedder()
    assert isinstance(embedder, OnnxEmbedder)
    assert (embedder.space.model, embedder.space.dimensions) == ("all-minilm-l6-v2", 384)


def test_the_hashed_engine_takes_any_length() -> None:
    embedder = make_embedder(EmbeddingSettings(backend="hashed", dimensions=64))
    assert isinstance(embedder, HashedEmbedder)
    assert embedder.embed_query("a").shape == (64,)


def test_a_local_folder_is_opened_by_its_manifest(make_tiny: Any) -> None:
    folder = make_tiny(matryoshka=[4, 12]).folder
    embedder = make_embedder(EmbeddingSettings(backend="onnx-local", model_path=str(folder), dimensions=4))
    assert embedder.space.dimensions == 4


def test_an_endpoint_takes_prefixes_and_length_from_a_profile() -> None:
    space = make_embedder(EmbeddingSettings(**REMOTE, profile="nomic-embed-text-v1.5", dimensions=256)).space
    assert (space.model, space.dimensions, space.max_tokens) == ("m", 256, 2048)
    assert (space.query_prefix, space.shortening) == ("search_query: ", "layer-norm, prefix")


def test_what_is_given_wins_over_the_profile() -> None:
    settings = EmbeddingSettings(**REMOTE, profile="nomic-embed-text-v1.5", query_prefix="q: ", max_tokens=100)
    space = make_embedder(settings).space
    assert (space.query_prefix, space.document_prefix, space.max_tokens) == ("q: ", "search_document: ", 100)


def test_an_endpoint_without_a_profile_needs_only_its_length() -> None:
    space = make_embedder(EmbeddingSettings(**REMOTE, dimensions=1024)).space
    assert (space.dimensions, space.query_prefix, space.shortening) == (1024, "", "")


def test_token_vectors_are_made_unless_they_are_switched_off() -> None:
    made, off = make_embedder(), make_embedder(EmbeddingSettings(token_vectors=False))
    assert isinstance(made, TokenEmbedder)
    assert isinstance(off, TokenEmbedder)
    assert made.token_rule
    assert off.token_rule == ""
    assert made.space == off.space


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"backend": "cloud"}, "backend"),
        ({"threads": 0}, "threads"),
        ({"batch_size": 0}, "batch_size"),
        ({"dimensions": -1}, "dimensions"),
        ({"dimensions": 256}, "dimensions"),
        ({"profile": "unheard-of"}, "profile"),
        ({"timeout_s": 0.0}, "timeout_s"),
        ({"timeout_s": float("nan")}, "timeout_s"),
        ({"timeout_s": float("inf")}, "timeout_s"),
        ({"retries": -1}, "retries"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"model_path": "somewhere"}, "model_path"),
        ({"base_url": "http://localhost"}, "base_url"),
        ({"api_key_env": "KEY"}, "api_key_env"),
        ({"backend": "onnx-local"}, "model_path"),
        ({"backend": "openai-compatible", "model": "m", "dimensions": 8}, "base_url"),
        ({"backend": "openai-compatible", "base_url": "http://h", "dimensions": 8}, "model"),
        (REMOTE, "dimensions"),
        (REMOTE | {"profile": "nomic-embed-text-v1.5", "dimensions": 100}, "dimensions"),
        (REMOTE | {"dimensions": 8, "base_url": "localhost:11434"}, "base_url"),
        (REMOTE | {"dimensions": 8, "base_url": "file:///etc/passwd"}, "base_url"),
        (REMOTE | {"dimensions": 8, "base_url": "http://"}, "base_url"),
        (REMOTE | {"dimensions": 8, "base_url": "http://host:port"}, "base_url"),
        (REMOTE | {"dimensions": 8, "base_url": "http://[::1"}, "base_url"),
        (REMOTE | {"dimensions": 8, "base_url": "http://me:secret@host"}, "base_url"),
    ],
)
def test_a_bad_setting_is_refused_by_name(values: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        EmbeddingSettings(**values)
    assert caught.value.key == f"embedding.{key}"
    assert "secret" not in str(caught.value)


def test_every_setting_explains_itself_in_one_line() -> None:
    for setting in fields(EmbeddingSettings):
        assert setting.metadata["help"]
        assert "\n" not in setting.metadata["help"]


LAZY = """
import json, sys
from libravdb_memory.engines.select import EmbeddingSettings, make_embedder
heavy = {"numpy", "onnxruntime", "tokenizers"}
remote = EmbeddingSettings(backend="openai-compatible", base_url="http://127.0.0.1:9", model="m", dimensions=8)
local = EmbeddingSettings(backend="onnx-local", model_path=sys.argv[1])
hashed = EmbeddingSettings(backend="hashed")
made = [make_embedder(settings) for settings in (None, hashed, remote, local)]
spaces = [embedder.space.fingerprint for embedder in made]
assert made[0].token_rule
before = sorted(heavy & set(sys.modules))
made[0].warm_up()
print(json.dumps([before, sorted(heavy & set(sys.modules)), spaces]))
"""


def test_nothing_heavy_is_imported_before_an_engine_is_used(make_tiny: Any) -> None:
    folder: Path = make_tiny().folder
    command = [sys.executable, "-W", "error", "-c", LAZY, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, after, spaces = json.loads(done.stdout)
    assert before == []
    assert after == ["numpy", "onnxruntime", "tokenizers"]
    assert len(set(spaces)) == 4
    assert done.stderr == ""


def test_hashed_vectors_are_the_same_in_every_process() -> None:
    code = "from libravdb_memory.engines.hashed import HashedEmbedder as E; print(E(8).embed_query('whale').tolist())"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert runs == {f"{HashedEmbedder(8).embed_query('whale').tolist()}\n"}


def test_hashed_vectors_of_texts_that_share_words_are_near() -> None:
    query, near, far = HashedEmbedder().embed_documents(
        ["my blue bicycle", "the bicycle I painted blue", "quarterly tax report"]
    )
    assert float(query @ near) > float(query @ far) + 0.2
