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
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args

from libravdb_memory.engines.profiles import PROFILES, Profile
from libravdb_memory.engines.protocol import Pooling
from libravdb_memory.errors import ConfigError, ModelUnavailableError

FILE_NAME = "manifest.toml"
_CHUNK = 1 << 20


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
        for path in needed:
            if not path.is_file():
                raise ModelUnavailableError(self.model, f"{path} is missing")
        for name, expected in self.files.items():
            if sha256_of(self.folder / name) != expected:
                raise ModelUnavailableError(
                    self.model, f"{self.folder / name} is not the file its manifest describes (sha256 differs)"
                )


def read_manifest(folder: Path) -> Manifest:
    path = folder / FILE_NAME
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelUnavailableError(str(folder), f"it has no {FILE_NAME}; docs/guide/models.md shows one") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ModelUnavailableError(str(folder), f"{path} cannot be read: {error}") from error
    return _Reader(path).manifest(raw)


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise ModelUnavailableError(str(path.parent), f"{path} cannot be read: {error.strerror}") from error
    return digest.hexdigest()


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


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path

    def manifest(self, raw: dict[str, Any]) -> Manifest:
        values: dict[str, Any] = self._profile(raw.pop("profile", None))
        for key, value in raw.items():
            values[key] = self._value(key, value)
        for key in _REQUIRED:
            if key not in values:
                raise self._refusal(key, "is missing, and no profile gives it")
        if bad := [size for size in values.get("matryoshka", ()) if size > values["dimensions"]]:
            raise self._refusal("matryoshka", f"{bad[0]} is more than dimensions ({values['dimensions']})")
        if "tokens_file" in values and values["pooling"] == "none":
            raise self._refusal("tokens_file", "is of no use: a model that pools by itself shows no token vectors")
        return Manifest(folder=self.path.parent, **values)

    def _profile(self, name: object) -> dict[str, Any]:
        if name is None:
            return {}
        if not isinstance(name, str) or name not in PROFILES:
            raise self._refusal("profile", f"unknown {name!r}; known: {', '.join(PROFILES)}")
        return {key.name: getattr(PROFILES[name], key.name) for key in fields(Profile)}

    def _value(self, key: str, value: Any) -> Any:
        if key in _TEXTS:
            return self._text(key, value)
        if key in _COUNTS:
            return self._count(key, value)
        if key in _FLAGS:
            return self._checked(key, value, isinstance(value, bool), "must be true or false")
        if key == "pooling":
            return self._checked(key, value, value in get_args(Pooling), f"must be one of {get_args(Pooling)}")
        if key == "matryoshka":
            self._checked(key, value, isinstance(value, list), "must be a list of sizes")
            return tuple(self._count(key, size) for size in value)
        if key == "files":
            return self._files(value)
        raise self._refusal(key, "unknown key")

    def _text(self, key: str, value: Any) -> str:
        self._checked(key, value, isinstance(value, str), "must be a string")
        if key.endswith("_file"):
            self._checked(key, value, _is_plain_name(value), "must name a file in the folder")
        return str(value)

    def _count(self, key: str, value: Any) -> int:
        good = isinstance(value, int) and not isinstance(value, bool) and value > 0
        return int(self._checked(key, value, good, "must be a whole number above 0"))

    def _files(self, value: Any) -> dict[str, str]:
        self._checked("files", value, isinstance(value, dict), "must be a table of file names and sha256")
        for name, digest in value.items():
            self._checked(f"files.{name}", name, _is_plain_name(name), "must name a file in the folder")
            good = isinstance(digest, str) and len(digest) == 64 and set(digest) <= set("0123456789abcdef")
            self._checked(f"files.{name}", digest, good, "must be a sha256 in lower-case hex")
        return dict(value)

    def _checked(self, key: str, value: Any, good: bool, reason: str) -> Any:
        if not good:
            raise self._refusal(key, f"{reason}, not {value!r}")
        return value

    def _refusal(self, key: str, reason: str) -> ConfigError:
        return ConfigError(f"{key} in {self.path}", reason)


def _is_plain_name(name: str) -> bool:
    return name not in ("", ".", "..") and not set(name) & set("/\\:\0")
