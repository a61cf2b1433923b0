"""What the manifests of all kinds of models share: reading the file, checking single values, checking pinned files.

Law: a bad value is refused with the path of the manifest and the key; no key may name a file outside the folder.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from libravdb_memory.errors import ConfigError, ModelUnavailableError

FILE_NAME = "manifest.toml"
_CHUNK = 1 << 20


def read_table(folder: Path) -> dict[str, Any]:
    path = folder / FILE_NAME
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelUnavailableError(str(folder), f"it has no {FILE_NAME}; docs/guide/models.md shows one") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ModelUnavailableError(str(folder), f"{path} cannot be read: {error}") from error


def check_files(model: str, needed: Iterable[Path], folder: Path, pinned: Mapping[str, str]) -> None:
    """Every file needed is there, and every file pinned is the one the manifest was written for."""
    for path in needed:
        if not path.is_file():
            raise ModelUnavailableError(model, f"{path} is missing")
    for name, expected in pinned.items():
        if sha256_of(folder / name) != expected:
            raise ModelUnavailableError(
                model, f"{folder / name} is not the file its manifest describes (sha256 differs)"
            )


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise ModelUnavailableError(str(path.parent), f"{path} cannot be read: {error.strerror}") from error
    return digest.hexdigest()


class ManifestValues:
    """The checks of single values; `path` is the manifest's own."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def text(self, key: str, value: Any) -> str:
        self.checked(key, value, isinstance(value, str), "must be a string")
        if key.endswith("_file"):
            self.checked(key, value, _is_plain_name(value), "must name a file in the folder")
        return str(value)

    def count(self, key: str, value: Any) -> int:
        good = isinstance(value, int) and not isinstance(value, bool) and value > 0
        return int(self.checked(key, value, good, "must be a whole number above 0"))

    def files(self, value: Any) -> dict[str, str]:
        self.checked("files", value, isinstance(value, dict), "must be a table of file names and sha256")
        for name, digest in value.items():
            self.checked(f"files.{name}", name, _is_plain_name(name), "must name a file in the folder")
            good = isinstance(digest, str) and len(digest) == 64 and set(digest) <= set("0123456789abcdef")
            self.checked(f"files.{name}", digest, good, "must be a sha256 in lower-case hex")
        return dict(value)

    def checked(self, key: str, value: Any, good: bool, reason: str) -> Any:
        if not good:
            raise self.refusal(key, f"{reason}, not {value!r}")
        return value

    def refusal(self, key: str, reason: str) -> ConfigError:
        return ConfigError(f"{key} in {self.path}", reason)


def _is_plain_name(name: str) -> bool:
    return name not in ("", ".", "..") and not set(name) & set("/\\:\0")
