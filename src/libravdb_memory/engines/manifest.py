"""The manifest of a model folder: `manifest.toml`, read and checked.

    profile = "nomic-embed-text-v1.5"   # optional: a known model; its values are the defaults of the keys below
    model = "my-model"                  # name of the space
    revision = "2024-02-14"             # optional; else made from the sha256 of the files
    dimensions = 768
    pooling = "mean"                    # mean | cls | last | none (the model pools by itself)
    normalise = true
    query_prefix = "search_query: "
    document_prefix = "search_document: "
    max_tokens = 2048                   # special tokens and prefix included
    matryoshka = [64, 256, 768]
    layer_norm = true                   # before a Matryoshka cut
    model_file = "model.onnx"
    tokenizer_file = "tokenizer.json"
    tokens_file = "tokens.npy"          # optional: gives small vectors of single tokens; not part of revision
    output = "last_hidden_state"        # optional; else the model's first output
    [files]                             # optional: expected sha256 of the files, checked when loading
    "model.onnx" = "…"

Law: a manifest is refused whole, with its path and the key, when a key is unknown or has a bad value. No key may name
a file outside the folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from libravdb_memory.engines.manifest_values import FILE_NAME, ManifestValues, check_files, read_table, sha256_of
from libravdb_memory.engines.profiles import PROFILES, Profile
from libravdb_memory.engines.protocol import Pooling


@dataclass(frozen=True, slots=True)
class Manifest:
    folder: Path
    model: str
    dimensions: int
    pooling: Pooling
    max_tokens: int
    revision: str = ""
    normalise: bool = True
    query_prefix: str = ""
    document_prefix: str = ""
    matryoshka: tuple[int, ...] = ()
    layer_norm: bool = False
    model_file: str = "model.onnx"
    tokenizer_file: str = "tokenizer.json"
    tokens_file: str = ""
    output: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def model_path(self) -> Path:
        return self.folder / self.model_file

    @property
    def tokenizer_path(self) -> Path:
        return self.folder / self.tokenizer_file

    @property
    def tokens_path(self) -> Path:
        return self.folder / self.tokens_file

    def pinned_revision(self) -> str:
        """The revision given, else one made from the hashes given, else from the files themselves."""
        if self.revision:
            return self.revision
        digest = hashlib.sha256()
        for path in self.weight_files():
            digest.update(f"{path.name} {self.files.get(path.name) or sha256_of(path)}\n".encode())
        return f"sha256:{digest.hexdigest()}"

    def weight_files(self) -> list[Path]:
        """Tokenizer, model, and what belongs to it (weights stored beside it: `model.onnx_data`, `model.onnx.data`)."""
        beside = (path for path in self.folder.glob(f"{self.model_file}*") if path.is_file())
        return sorted({self.model_path, self.tokenizer_path, *beside})

    def check_files(self) -> None:
        """Every file is there and is the one the manifest was written for."""
        needed = [self.model_path, self.tokenizer_path, *([self.tokens_path] if self.tokens_file else [])]
        check_files(self.model, needed, self.folder, self.files)


def read_manifest(folder: Path) -> Manifest:
    return _Reader(folder / FILE_NAME).manifest(read_table(folder))


_TEXTS = (
    "model",
    "revision",
    "query_prefix",
    "document_prefix",
    "model_file",
    "tokenizer_file",
    "tokens_file",
    "output",
)
_COUNTS = ("dimensions", "max_tokens")
_FLAGS = ("normalise", "layer_norm")
_REQUIRED = ("model", "dimensions", "pooling", "max_tokens")


class _Reader(ManifestValues):
    def manifest(self, raw: dict[str, Any]) -> Manifest:
        values: dict[str, Any] = self._profile(raw.pop("profile", None))
        for key, value in raw.items():
            values[key] = self._value(key, value)
        for key in _REQUIRED:
            if key not in values:
                raise self.refusal(key, "is missing, and no profile gives it")
        if bad := [size for size in values.get("matryoshka", ()) if size > values["dimensions"]]:
            raise self.refusal("matryoshka", f"{bad[0]} is more than dimensions ({values['dimensions']})")
        if "tokens_file" in values and values["pooling"] == "none":
            raise self.refusal("tokens_file", "is of no use: a model that pools by itself shows no token vectors")
        return Manifest(folder=self.path.parent, **values)

    def _profile(self, name: object) -> dict[str, Any]:
        if name is None:
            return {}
        if not isinstance(name, str) or name not in PROFILES:
            raise self.refusal("profile", f"unknown {name!r}; known: {', '.join(PROFILES)}")
        return {key.name: getattr(PROFILES[name], key.name) for key in fields(Profile)}

    def _value(self, key: str, value: Any) -> Any:
        if key in _TEXTS:
            return self.text(key, value)
        if key in _COUNTS:
            return self.count(key, value)
        if key in _FLAGS:
            return self.checked(key, value, isinstance(value, bool), "must be true or false")
        if key == "pooling":
            return self.checked(key, value, value in get_args(Pooling), f"must be one of {get_args(Pooling)}")
        if key == "matryoshka":
            self.checked(key, value, isinstance(value, list), "must be a list of sizes")
            return tuple(self.count(key, size) for size in value)
        if key == "files":
            return self.files(value)
        raise self.refusal(key, "unknown key")
