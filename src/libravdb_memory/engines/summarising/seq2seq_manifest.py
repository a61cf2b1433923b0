"""The manifest of a folder with a summarising model: `manifest.toml`, read and checked.

    model = "flan-t5-small"
    prefix = "summarize: "              # put before the turns
    max_input_tokens = 512              # special tokens and prefix included
    max_new_tokens = 128                # a summary that is not over by then is thrown away
    start_token_id = 0                  # T5 begins with its padding token
    end_token_id = 1
    encoder_file = "encoder_model.onnx"
    decoder_file = "decoder_model.onnx" # without a cache, or merged (with one)
    decoder_with_past_file = ""         # optional: the decoder for all tokens but the first
    tokenizer_file = "tokenizer.json"
    [files]                             # optional: expected sha256 of the files, checked when loading
    "encoder_model.onnx" = "…"

Law: a manifest is refused whole, with its path and the key, when a key is unknown or has a bad value. No key may name
a file outside the folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from libravdb_memory.engines.manifest_values import FILE_NAME, ManifestValues, check_files, read_table


@dataclass(frozen=True, slots=True)
class Seq2SeqManifest:
    folder: Path
    model: str
    prefix: str = "summarize: "
    max_input_tokens: int = 512
    max_new_tokens: int = 128
    start_token_id: int = 0
    end_token_id: int = 1
    encoder_file: str = "encoder_model.onnx"
    decoder_file: str = "decoder_model.onnx"
    decoder_with_past_file: str = ""
    tokenizer_file: str = "tokenizer.json"
    files: Mapping[str, str] = field(default_factory=dict[str, str])

    def path(self, name: str) -> Path:
        return self.folder / name

    def check_presence(self) -> None:
        """Every file is there."""
        check_files(self.model, self._needed(), self.folder, {})

    def check_files(self) -> None:
        """Every file is there and is the one the manifest was written for."""
        check_files(self.model, self._needed(), self.folder, self.files)

    def _needed(self) -> list[Path]:
        names = [self.encoder_file, self.decoder_file, self.decoder_with_past_file, self.tokenizer_file]
        return [self.path(name) for name in names if name]


_TEXTS = ("model", "prefix", "encoder_file", "decoder_file", "tokenizer_file")
_COUNTS = ("max_input_tokens", "max_new_tokens")
_IDS = ("start_token_id", "end_token_id")


def read_seq2seq_manifest(folder: Path) -> Seq2SeqManifest:
    return _Reader(folder / FILE_NAME).manifest(read_table(folder))


class _Reader(ManifestValues):
    def manifest(self, raw: dict[str, Any]) -> Seq2SeqManifest:
        values = {key: self._value(key, value) for key, value in raw.items()}
        if not values.get("model"):
            raise self.refusal("model", "is missing")
        return Seq2SeqManifest(folder=self.path.parent, **values)

    def _value(self, key: str, value: Any) -> Any:
        if key in _TEXTS or (key == "decoder_with_past_file" and value):
            return self.text(key, value)
        if key in _COUNTS:
            return self.count(key, value)
        if key in _IDS:
            good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
            return self.checked(key, value, good, "must be a whole number, 0 or more")
        if key == "files":
            return self.files(value)
        if key == "decoder_with_past_file":
            return self.checked(key, value, value == "", "must be a string")
        known = ", ".join(item.name for item in fields(Seq2SeqManifest) if item.name != "folder")
        raise self.refusal(key, f"unknown key; known: {known}")
