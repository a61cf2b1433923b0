"""Greedy decoding by an encoder-decoder model of the T5 family, exported to ONNX in any of the usual layouts.

Laws:

1. The token taken is the likeliest one, and of equals the one with the lowest id: same input, same output.
2. A cache never changes a token. What the decoder has seen of the encoder is computed once and kept; what it has seen
   of itself grows by one token a step.

Layouts: a decoder without a cache (reads all it wrote again at each step); that and a second one with a cache for all
steps but the first; or both merged in one file, where `use_cache_branch` chooses. Names are those of common exporters:
`past_key_values.<layer>.<decoder|encoder>.<key|value>` comes out as `present.<the same>`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from libravdb_memory.engines.places import places
from libravdb_memory.engines.session import frame_of, load_session, load_tokenizer
from libravdb_memory.engines.windows import speakable
from libravdb_memory.errors import ModelUnavailableError, TextRefusedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from libravdb_memory.engines.summarising.seq2seq_manifest import Seq2SeqManifest

_PAST, _PRESENT, _OF_THE_ENCODER = "past_key_values.", "present.", ".encoder."
_KNOWN_INPUTS = ("input_ids", "attention_mask", "encoder_hidden_states", "encoder_attention_mask", "use_cache_branch")
_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


@dataclass(frozen=True, slots=True)
class Step:
    token: int
    log_p: float


@dataclass(frozen=True, slots=True)
class _Read:
    """What the encoder made of the input."""

    hidden: NDArray[Any]
    mask: NDArray[np.int64]


class Graph:
    """One ONNX file; `past` holds the names of the cache entries it reads, without their prefix."""

    def __init__(self, model: str, path: Path, threads: int) -> None:
        self._model = model
        self._session = load_session(model, path, threads)
        self._inputs = {str(entry.name): entry for entry in self._session.get_inputs()}
        self._outputs = [str(entry.name) for entry in self._session.get_outputs()]
        self.past = tuple(name.removeprefix(_PAST) for name in self._inputs if name.startswith(_PAST))
        if unknown := [name for name in self._inputs if not name.startswith(_PAST) and name not in _KNOWN_INPUTS]:
            raise ModelUnavailableError(model, f"{path.name} wants an input {unknown[0]!r}; known are {_KNOWN_INPUTS}")

    def run(self, feeds: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """All outputs, by name; inputs that the graph does not want are left out."""
        try:
            with places.one():
                made = self._session.run(None, {name: feeds[name] for name in self._inputs if name in feeds})
        except Exception as error:  # onnxruntime's own errors share no public parent below Exception
            raise TextRefusedError(self._model, f"it failed: {error}") from error
        return {name: np.asarray(value) for name, value in zip(self._outputs, made, strict=True)}

    def empty_past(self) -> dict[str, NDArray[Any]]:
        """A cache of no tokens, for the first step of a merged decoder."""
        return {name: self._empty(self._inputs[_PAST + name]) for name in self.past}

    def _empty(self, entry: Any) -> NDArray[Any]:
        shape = list(entry.shape)
        if len(shape) != 4 or not all(isinstance(size, int) for size in (shape[1], shape[3])):
            raise ModelUnavailableError(
                self._model, f"its cache {entry.name!r} has the shape {shape}, which says too little"
            )
        return np.zeros((1, shape[1], 0, shape[3]), _TYPES.get(entry.type, np.float32))


class Seq2SeqModel:
    """Loaded; safe to use from many threads."""

    def __init__(self, manifest: Seq2SeqManifest, threads: int) -> None:
        manifest.check_files()
        self._manifest = manifest
        self._tokenizer = load_tokenizer(manifest.model, manifest.path(manifest.tokenizer_file))
        self.frame = frame_of(self._tokenizer)
        self._encoder = self._graph(manifest.encoder_file, threads)
        self._first = self._graph(manifest.decoder_file, threads)
        self._next = self._first
        if manifest.decoder_with_past_file:
            self._next = self._graph(manifest.decoder_with_past_file, threads)

    def _graph(self, name: str, threads: int) -> Graph:
        return Graph(self._manifest.model, self._manifest.path(name), threads)

    def tokens(self, text: str) -> list[int]:
        """Ids of the text itself. A text that spells out a start or end mark cannot place one."""
        marks = (self._manifest.start_token_id, self._manifest.end_token_id)
        ids = self._tokenizer.encode(speakable(text), add_special_tokens=False).ids
        return [place for place in ids if place not in marks]

    def text(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=True))

    def steps(self, ids: tuple[int, ...]) -> Iterator[Step]:
        """One token after the other, without an end: the caller knows when to stop."""
        read = self._encode(ids)
        written = [self._manifest.start_token_id]
        cache: dict[str, NDArray[Any]] = {}
        while True:
            made = self._decode(read, written, cache)
            cache |= _kept(made, cache)
            step = self._likeliest(made)
            yield step
            written.append(step.token)

    def _encode(self, ids: tuple[int, ...]) -> _Read:
        tokens = np.asarray([ids], np.int64)
        mask = np.ones_like(tokens)
        made = self._encoder.run({"input_ids": tokens, "attention_mask": mask})
        return _Read(next(iter(made.values())), mask)

    def _decode(self, read: _Read, written: list[int], cache: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        first = len(written) == 1
        graph = self._first if first else self._next
        past = (graph.empty_past() if first else cache) if graph.past else {}
        seen = [written[-1]] if graph.past else written
        feeds: dict[str, NDArray[Any]] = {_PAST + name: value for name, value in past.items()}
        feeds["input_ids"] = np.asarray([seen], np.int64)
        feeds["encoder_hidden_states"] = read.hidden
        feeds["encoder_attention_mask"] = read.mask
        feeds["use_cache_branch"] = np.asarray([not first])
        return graph.run(feeds)

    def _likeliest(self, made: dict[str, NDArray[Any]]) -> Step:
        logits = made.get("logits")
        if logits is None or logits.ndim != 3:
            raise ModelUnavailableError(
                self._manifest.model, "its decoder gives no logits of (batch, tokens, vocabulary)"
            )
        scores = logits[0, -1].astype(np.float64)
        if not np.isfinite(scores).all():
            raise TextRefusedError(self._manifest.model, "it gave a value that is not finite")
        token = int(np.argmax(scores))
        return Step(token, -float(np.log(np.exp(scores - scores[token]).sum())))


def _kept(made: dict[str, NDArray[Any]], cache: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The cache after a step; a merged decoder gives empty encoder entries once they are known."""
    present = {name.removeprefix(_PRESENT): value for name, value in made.items() if name.startswith(_PRESENT)}
    return {name: value for name, value in present.items() if _OF_THE_ENCODER not in name or name not in cache}
