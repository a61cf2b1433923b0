"""A loaded model: onnxruntime and tokenizers behind two typed calls; the loading serves summarising models too.

Law: a batch never changes a vector. What a model may be run with depends on its arithmetic, known by its operators:

- in floating point, anything: padding changes the last bits at most;
- with quantised activations, inputs of the same length: some CPUs add up a padded row in another order, and rounding to
  integers, layer after layer, turns that last bit into a thousandth;
- with activations quantised by a scale of the whole batch, nothing: the scale itself depends on the neighbours.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

# onnxruntime reports usage from the moment it is imported unless it is told not to: nothing may leave this machine.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from libravdb_memory.engines.places import places
from libravdb_memory.engines.windows import Frame, speakable
from libravdb_memory.errors import ModelUnavailableError, TextRefusedError

if TYPE_CHECKING:
    from libravdb_memory.engines.manifest import Manifest
    from libravdb_memory.engines.vectors import F32, I64

_KNOWN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_BATCH_WIDE_SCALE = b"DynamicQuantize"
_QUANTISED_ACTIVATIONS = (
    b"QuantizeLinear",
    b"MatMulInteger",
    b"ConvInteger",
    b"QAttention",
    b"QLinear",
    b"MatMulNBits",
)
_FATAL_ONLY = 4
_PAD_NAMES = ("[PAD]", "<pad>", "<|pad|>", "<|endoftext|>")


Batching: TypeAlias = Literal["padded", "equal lengths", "one by one"]


class Session:
    """Safe to use from many threads."""

    def __init__(self, manifest: Manifest, threads: int) -> None:
        manifest.check_files()
        self._model = manifest.model
        self._tokenizer = load_tokenizer(manifest.model, manifest.tokenizer_path)
        self._session = load_session(manifest.model, manifest.model_path, threads)
        self._inputs = self._checked_inputs()
        self._output = self._checked_output(manifest.output)
        self.batching: Batching = _batching_of(manifest.model_path)
        self.frame = frame_of(self._tokenizer)
        self.pad_id = self._pad_id()

    def tokens(self, text: str) -> list[int]:
        """Ids of the text itself, without special tokens; a name like [SEP] inside it is plain text."""
        return list(self._tokenizer.encode(speakable(text), add_special_tokens=False).ids)

    def vocabulary(self) -> list[str]:
        """The token of each id; an id without one has an empty text."""
        known = self._tokenizer.get_vocab(with_added_tokens=True)
        tokens = [""] * (max(known.values(), default=-1) + 1)
        for token, place in known.items():
            tokens[place] = token
        return tokens

    def run(self, ids: I64, mask: I64) -> F32:
        feeds = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            feeds["token_type_ids"] = np.zeros_like(ids)
        try:
            with places.one():
                (output,) = self._session.run([self._output], {name: feeds[name] for name in self._inputs})
        except Exception as error:  # onnxruntime's own errors share no public parent below Exception
            raise TextRefusedError(self._model, f"it failed on an input of shape {ids.shape}: {error}") from error
        return np.asarray(output, np.float32)

    def _checked_inputs(self) -> list[str]:
        names = [str(entry.name) for entry in self._session.get_inputs()]
        if unknown := [name for name in names if name not in _KNOWN_INPUTS]:
            raise ModelUnavailableError(self._model, f"it wants an input {unknown[0]!r}; known are {_KNOWN_INPUTS}")
        return names

    def _checked_output(self, wanted: str) -> str:
        names = [str(entry.name) for entry in self._session.get_outputs()]
        if wanted and wanted not in names:
            raise ModelUnavailableError(self._model, f"it has no output {wanted!r}, only {names}")
        return wanted or names[0]

    def _pad_id(self) -> int:
        found = (self._tokenizer.token_to_id(name) for name in _PAD_NAMES)
        return next((place for place in found if place is not None), 0)


def load_tokenizer(model: str, path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception
        raise ModelUnavailableError(model, f"{path} is not a tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def frame_of(tokenizer: Tokenizer) -> Frame:
    """The special tokens this tokenizer puts around a text."""
    encoding = tokenizer.encode("a")
    special = list(encoding.special_tokens_mask)
    own = [place for place, mark in enumerate(special) if not mark] or [len(special)]
    return Frame(tuple(encoding.ids[: own[0]]), tuple(encoding.ids[own[-1] + 1 :]))


def load_session(model: str, path: Path, threads: int) -> Any:
    runtime: Any = onnxruntime
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _FATAL_ONLY
    try:
        return runtime.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors share no public parent below Exception
        raise ModelUnavailableError(model, f"{path} cannot be loaded: {error}") from error


def _batching_of(path: Path) -> Batching:
    """Operators are named in the file as plain text."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        if raw.find(_BATCH_WIDE_SCALE) >= 0:
            return "one by one"
        return "equal lengths" if any(raw.find(name) >= 0 for name in _QUANTISED_ACTIVATIONS) else "padded"
