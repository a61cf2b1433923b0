"""Sentence embeddings by any ONNX model whose folder has a manifest; the bundled model is one such folder.

Loading happens once, on first use, under a lock, and ends with a trial run, so that a later failure is about a text and
not about the model. Inputs are sorted by length, run in batches as large as the model's arithmetic allows (see
session.py) and bounded in tokens, and put back in order. Token rows, when they are asked for, are made from what the
model gave for the first window of each text.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from libravdb_memory.engines import projection, windows
from libravdb_memory.engines.manifest import Manifest, read_manifest
from libravdb_memory.engines.places import places
from libravdb_memory.engines.profiles import shortening_of
from libravdb_memory.engines.protocol import EmbeddingSpace, TokenRows
from libravdb_memory.engines.windows import Window
from libravdb_memory.errors import ConfigError, ModelUnavailableError, TextRefusedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from libravdb_memory.engines.session import Batching, Session

    F32 = NDArray[np.float32]
    Visit = Callable[[int, F32], None]

BUNDLED = Path(__file__).parent / "bundled"
# Larger batches run slower per text: their activations leave the cache.
MOST_TOKENS_PER_BATCH = 512
TEXTS_PER_ROUND = 1024


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: Session
    projection: projection.Projection | None


@dataclass(frozen=True, slots=True)
class _Readings:
    """What is known of each text of a call so far; `tokens` is None when nobody asked for them."""

    vectors: F32
    tokens: list[TokenRows] | None


class OnnxEmbedder:
    def __init__(
        self,
        folder: Path = BUNDLED,
        *,
        threads: int = 1,
        batch_size: int = 32,
        dimensions: int | None = None,
        token_vectors: bool = True,
    ) -> None:
        self._folder = folder
        self._threads = threads
        self._batch_size = batch_size
        self._dimensions = dimensions
        self._token_vectors = token_vectors
        self._lock = threading.Lock()
        self._model: _Loaded | None = None

    @cached_property
    def _manifest(self) -> Manifest:
        manifest = read_manifest(self._folder)
        wanted = self._dimensions
        if wanted not in (None, manifest.dimensions, *manifest.matryoshka):
            sizes = sorted({manifest.dimensions, *manifest.matryoshka})
            raise ConfigError("embedding.dimensions", f"{manifest.model} has {sizes}, not {wanted}")
        return manifest

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    @cached_property
    def _space(self) -> EmbeddingSpace:
        manifest = self._manifest
        size = self._dimensions or manifest.dimensions
        return EmbeddingSpace(
            model=manifest.model,
            revision=manifest.pinned_revision(),
            dimensions=size,
            normalised=manifest.normalise or size != manifest.dimensions,
            pooling=manifest.pooling,
            query_prefix=manifest.query_prefix,
            document_prefix=manifest.document_prefix,
            max_tokens=manifest.max_tokens,
            long_text=windows.rule(manifest.max_tokens),
            shortening=shortening_of(size, manifest.dimensions, manifest.layer_norm),
        )

    @property
    def token_rule(self) -> str:
        return self._token_rule

    @cached_property
    def _token_rule(self) -> str:
        return projection.rule(self._manifest) if self._token_vectors else ""

    @property
    def ready(self) -> bool:
        return self._model is not None

    def warm_up(self) -> None:
        self._loaded()

    def close(self) -> None:
        """Let go of the model; a later call loads it again."""
        with self._lock:
            self._model = None

    def embed_documents(self, texts: Sequence[str]) -> F32:
        return self._read(texts, self._manifest.document_prefix, None).vectors

    def embed_query(self, text: str) -> F32:
        row: F32 = self._read([text], self._manifest.query_prefix, None).vectors[0]
        return row

    def read_documents(self, texts: Sequence[str]) -> tuple[F32, list[TokenRows]]:
        tokens = [projection.no_rows()] * len(texts)
        return self._read(texts, self._manifest.document_prefix, tokens).vectors, tokens

    def read_query(self, text: str) -> tuple[F32, TokenRows]:
        tokens = [projection.no_rows()]
        return self._read([text], self._manifest.query_prefix, tokens).vectors[0], tokens[0]

    def _loaded(self) -> _Loaded:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> _Loaded:
        from libravdb_memory.engines.session import Session

        session = Session(self._manifest, self._threads)
        self._try_out(session)
        if not self.token_rule:
            return _Loaded(session, None)
        return _Loaded(session, projection.load_projection(self._manifest, session.vocabulary()))

    def _try_out(self, session: Session) -> None:
        """Without a place: whoever answers somebody may be waiting for the model."""
        try:
            with places.behind(None):
                for prefix in {self._manifest.query_prefix, self._manifest.document_prefix}:
                    self._run(list(self._windows("a", prefix, session)), session)
        except TextRefusedError as error:
            raise ModelUnavailableError(error.model, error.reason) from error

    def _read(self, texts: Sequence[str], prefix: str, tokens: list[TokenRows] | None) -> _Readings:
        import numpy as np

        readings = _Readings(np.zeros((len(texts), self.space.dimensions), np.float32), tokens)
        if any(map(str.strip, texts)):
            model = self._loaded()
            for start in range(0, len(texts), TEXTS_PER_ROUND):
                places = range(start, min(start + TEXTS_PER_ROUND, len(texts)))
                self._fill(readings, texts, places, prefix, model)
        return readings

    def _fill(self, readings: _Readings, texts: Sequence[str], places: range, prefix: str, model: _Loaded) -> None:
        windows_of = ((place, self._windows(texts[place], prefix, model.session)) for place in places)
        pieces = [(place, window) for place, found in windows_of for window in found]
        if not pieces:
            return
        visit = _token_reader(pieces, readings.tokens, model.projection)
        made = self._run([window for _, window in pieces], model.session, visit)
        rows, start = readings.vectors, 0
        for place, group in groupby(pieces, key=itemgetter(0)):
            weights = [window.weight for _, window in group]
            mine = made[start : start + len(weights)]
            start += len(weights)
            # A single window is finished already; taking its mean would only add rounding.
            rows[place] = mine[0] if len(weights) == 1 else self._mean(mine, weights)

    def _mean(self, rows: F32, weights: list[int]) -> F32:
        from libravdb_memory.engines import vectors

        mean = vectors.weighted_mean(rows, weights)
        return vectors.unit(mean) if self.space.normalised else mean

    def _windows(self, text: str, prefix: str, session: Session) -> Iterator[Window]:
        text = text.strip()
        if not text:
            return
        pieces = windows.sample(text, self._manifest.max_tokens)
        whole = len(pieces) == 1
        lead_size = len(session.tokens(prefix.rstrip())) if prefix else 0
        for piece in pieces:
            ids = session.tokens(prefix + piece)
            lead, own = ids[:lead_size], ids[lead_size:]
            room = self._manifest.max_tokens - len(session.frame.around(lead))
            if room < 1:
                raise ModelUnavailableError(self._manifest.model, "max_tokens leaves no room beside prefix and frame")
            cuts = windows.overlapping(len(own), room)
            for cut in cuts if whole else cuts[:1]:
                start = len(session.frame.head) + len(lead)
                yield Window(session.frame.around(lead + own[cut]), len(own[cut]), start)

    def _run(self, inputs: list[Window], session: Session, visit: Visit | None = None) -> F32:
        """One vector for each input; `visit` is shown the model's output for each, with its place in `inputs`."""
        import numpy as np

        from libravdb_memory.engines import vectors

        made = np.zeros((len(inputs), self.space.dimensions), np.float32)
        for batch in self._batches([len(window.ids) for window in inputs], session.batching):
            ids, mask = vectors.pad([inputs[place].ids for place in batch], session.pad_id)
            output = session.run(ids, mask)
            made[batch] = self._finish(vectors.pool(output, mask, self._manifest.pooling))
            if visit:
                for row, place in enumerate(batch):
                    visit(place, output[row])
        return made

    def _batches(self, lengths: list[int], batching: Batching) -> Iterator[list[int]]:
        most = 1 if batching == "one by one" else self._batch_size
        batch: list[int] = []
        for place in sorted(range(len(lengths)), key=lengths.__getitem__):
            full = len(batch) >= most or (len(batch) + 1) * lengths[place] > MOST_TOKENS_PER_BATCH
            unequal = batching == "equal lengths" and batch and lengths[place] != lengths[batch[0]]
            if batch and (full or unequal):
                yield batch
                batch = []
            batch.append(place)
        if batch:
            yield batch

    def _finish(self, rows: F32) -> F32:
        import numpy as np

        from libravdb_memory.engines import vectors

        manifest, size = self._manifest, self.space.dimensions
        if rows.ndim != 2 or rows.shape[1] != manifest.dimensions:
            reason = f"it gives vectors of shape {rows.shape[1:]}, its manifest says {manifest.dimensions}"
            raise ModelUnavailableError(manifest.model, reason)
        if not np.isfinite(rows).all():
            raise TextRefusedError(manifest.model, "it gave a value that is not finite")
        if size != manifest.dimensions:
            return vectors.shorten(rows, size, manifest.layer_norm)
        return vectors.unit(rows) if manifest.normalise else rows


def _token_reader(
    pieces: list[tuple[int, Window]], tokens: list[TokenRows] | None, by: projection.Projection | None
) -> Visit | None:
    """Makes the token rows of each text from its first window."""
    if tokens is None or by is None:
        return None
    firsts = [place == 0 or pieces[place - 1][0] != text for place, (text, _) in enumerate(pieces)]

    def read(place: int, hidden: F32) -> None:
        if firsts[place]:
            text, window = pieces[place]
            tokens[text] = by.rows(window.ids[window.own], hidden[window.own])

    return read
