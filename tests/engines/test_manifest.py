from __future__ import annotations

from pathlib import Path

import pytest

from libravdb_memory.engines.manifest import read_manifest
from libravdb_memory.engines.manifest_values import FILE_NAME, sha256_of
from libravdb_memory.engines.onnx import BUNDLED
from libravdb_memory.errors import ConfigError, ModelUnavailableError

WHOLE = """
model = "mine"
dimensions = 8
pooling = "cls"
max_tokens = 64
"""


def folder_with(tmp_path: Path, manifest: str) -> Path:
    (tmp_path / FILE_NAME).write_text(manifest, encoding="utf-8")
    return tmp_path


def test_a_profile_gives_what_the_manifest_leaves_out(tmp_path: Path) -> None:
    manifest = read_manifest(folder_with(tmp_path, 'profile = "nomic-embed-text-v1.5"\nmax_tokens = 512'))
    assert (manifest.model, manifest.dimensions, manifest.max_tokens) == ("nomic-embed-text-v1.5", 768, 512)
    assert (manifest.query_prefix, manifest.document_prefix) == ("search_query: ", "search_document: ")
    assert (manifest.matryoshka, manifest.layer_norm) == ((64, 256, 768), True)


def test_a_manifest_without_a_profile_says_everything_itself(tmp_path: Path) -> None:
    manifest = read_manifest(folder_with(tmp_path, WHOLE))
    assert (manifest.model, manifest.dimensions, manifest.pooling, manifest.max_tokens) == ("mine", 8, "cls", 64)
    assert manifest.model_path == tmp_path / "model.onnx"


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("colour = 1", "colour"),
        ("dimensions = 0", "dimensions"),
        ("dimensions = true", "dimensions"),
        ("dimensions = 8.5", "dimensions"),
        ("max_tokens = '64'", "max_tokens"),
        ("pooling = 'max'", "pooling"),
        ("pooling = []", "pooling"),
        ("normalise = 1", "normalise"),
        ("query_prefix = 3", "query_prefix"),
        ("matryoshka = 64", "matryoshka"),
        ("matryoshka = [4, -1]", "matryoshka"),
        ("matryoshka = [16]", "matryoshka"),
        ("profile = 'unheard-of'", "profile"),
        ("profile = []", "profile"),
        ("model_file = '../secret.onnx'", "model_file"),
        ("tokenizer_file = '/etc/passwd'", "tokenizer_file"),
        ("model_file = ''", "model_file"),
        ("tokens_file = '../tokens.npy'", "tokens_file"),
        ("model_file = '..'", "model_file"),
        ('model_file = "C:\\\\x"', "model_file"),
        ("files = 'all'", "files"),
        ("[files]\n'../x' = '" + "0" * 64 + "'", r"files\.\.\./x"),
        ("[files]\n'model.onnx' = 'abc'", r"files\.model\.onnx"),
    ],
)
def test_a_bad_key_is_refused_with_its_name_and_the_file(tmp_path: Path, line: str, key: str) -> None:
    kept = [given for given in WHOLE.splitlines() if given.split(" ")[0] != line.split(" ")[0]]
    with pytest.raises(ConfigError, match=f"setting {key} in .*{FILE_NAME}"):
        read_manifest(folder_with(tmp_path, "\n".join([*kept, line])))


def test_a_model_that_pools_by_itself_cannot_give_token_vectors(tmp_path: Path) -> None:
    manifest = WHOLE.replace('"cls"', '"none"') + 'tokens_file = "tokens.npy"'
    with pytest.raises(ConfigError, match=r"tokens_file in .* pools by itself"):
        read_manifest(folder_with(tmp_path, manifest))


@pytest.mark.parametrize("key", ["model", "dimensions", "pooling", "max_tokens"])
def test_a_missing_key_is_refused_by_name(tmp_path: Path, key: str) -> None:
    kept = [line for line in WHOLE.splitlines() if not line.startswith(key)]
    with pytest.raises(ConfigError, match=f"{key} in .* is missing"):
        read_manifest(folder_with(tmp_path, "\n".join(kept)))


def test_a_folder_without_a_manifest_is_not_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"no manifest\.toml"):
        read_manifest(tmp_path)
    with pytest.raises(ModelUnavailableError):
        read_manifest(tmp_path / "absent")


@pytest.mark.parametrize("content", [b"dimensions = ", b"\xff\xfe"])
def test_a_manifest_that_is_not_toml_is_said_to_be_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(ModelUnavailableError, match="cannot be read"):
        read_manifest(tmp_path)


def test_the_revision_follows_every_weight_file(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, WHOLE)
    for name in ("model.onnx", "model.onnx_data", "tokenizer.json"):
        (folder / name).write_text(name, encoding="utf-8")
    seen = {read_manifest(folder).pinned_revision()}
    for name in ("model.onnx", "model.onnx_data", "tokenizer.json"):
        (folder / name).write_text(f"{name} changed", encoding="utf-8")
        seen.add(read_manifest(folder).pinned_revision())
    assert len(seen) == 4
    assert all(revision.startswith("sha256:") for revision in seen)


def test_a_revision_from_recorded_hashes_is_that_of_the_files(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, WHOLE)
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_text(name, encoding="utf-8")
    from_files = read_manifest(folder).pinned_revision()
    recorded = [f'"{name}" = "{sha256_of(folder / name)}"' for name in ("model.onnx", "tokenizer.json")]
    folder_with(tmp_path, "\n".join([WHOLE, "[files]", *recorded]))
    assert read_manifest(folder).pinned_revision() == from_files


def test_a_revision_given_by_name_is_kept(tmp_path: Path) -> None:
    assert read_manifest(folder_with(tmp_path, WHOLE + 'revision = "v7"')).pinned_revision() == "v7"


def test_the_bundled_files_are_the_ones_their_manifest_describes() -> None:
    manifest = read_manifest(BUNDLED)
    assert set(manifest.files) == {"model.onnx", "tokenizer.json", "tokens.npy"}
    manifest.check_files()
