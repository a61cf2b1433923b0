"""Embeddings from any endpoint that speaks the OpenAI embeddings protocol (Ollama, llama.cpp, vLLM and others).

Law: an answer is used only when it is whole: one vector for each text, in the order of their indices, of the declared
length, all finite. Vectors are brought to length 1 here, whatever the endpoint does. A text is blamed for a refusal
only after the endpoint has embedded a harmless one.

The endpoint's tokenizer is unknown, so long texts are read in windows of characters instead of tokens.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from libravdb_memory.engines import windows
from libravdb_memory.engines.http_json import JsonClient, RequestFailed
from libravdb_memory.engines.profiles import Profile, shortening_of
from libravdb_memory.engines.protocol import EmbeddingSpace
from libravdb_memory.errors import ConfigError, ModelUnavailableError, TextRefusedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Few enough that a window fits the model's input in nearly every script.
CHARACTERS_PER_TOKEN = 2
UNPINNED = "unpinned"
_PROBE = "ready?"
_ABOUT_THE_TEXT = frozenset({400, 413, 422})


class _BadVector(Exception):
    """The answer is whole, but a vector in it cannot be used."""


class OpenAICompatibleEmbedder:
    """`profile` says what the endpoint's model is; `dimensions` may then be one of its Matryoshka sizes."""

    def __init__(
        self,
        base_url: str,
        profile: Profile,
        *,
        dimensions: int | None = None,
        revision: str = "",
        api_key_env: str = "",
        batch_size: int = 32,
        timeout_s: float = 30.0,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        size = dimensions or profile.dimensions
        self._profile = profile
        self._batch_size = batch_size
        self._url = base_url.rstrip("/") + "/embeddings"
        self._key_env = api_key_env
        self._timeout_s, self._retries, self._sleep = timeout_s, retries, sleep
        self._answered = False
        self._window = profile.max_tokens * CHARACTERS_PER_TOKEN
        self.space = EmbeddingSpace(
            model=profile.model,
            revision=revision or UNPINNED,
            dimensions=size,
            normalised=True,
            pooling="none",
            query_prefix=profile.query_prefix,
            document_prefix=profile.document_prefix,
            max_tokens=profile.max_tokens,
            long_text=f"characters: {windows.rule(self._window)}",
            shortening=shortening_of(size, profile.dimensions, profile.layer_norm),
        )

    @property
    def ready(self) -> bool:
        return self._answered

    def warm_up(self) -> None:
        """Ask for one vector, so that an endpoint that is absent or gives another length is known early."""
        if not self._answered:
            self._probe()

    def close(self) -> None:
        self._answered = False

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts, self._profile.document_prefix)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        row: NDArray[np.float32] = self._embed([text], self._profile.query_prefix)[0]
        return row

    def _embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        import numpy as np

        from libravdb_memory.engines import vectors

        rows = np.zeros((len(texts), self.space.dimensions), np.float32)
        pieces = [(place, piece) for place, text in enumerate(texts) for piece in self._pieces(text)]
        made: list[NDArray[np.float32]] = []
        for start in range(0, len(pieces), self._batch_size):
            batch = [prefix + piece for _, piece in pieces[start : start + self._batch_size]]
            made.extend(self._request(batch))
        for (place, piece), vector in zip(pieces, made, strict=True):
            rows[place] += vector * len(piece)
        return vectors.unit(rows)

    def _pieces(self, text: str) -> list[str]:
        text = windows.speakable(text.strip())
        if len(text) > self._window * windows.MOST_WINDOWS:
            starts = windows.spread(len(text) - self._window + 1, windows.MOST_WINDOWS)
            return [text[start : start + self._window] for start in starts]
        return [text[cut] for cut in windows.overlapping(len(text), self._window)]

    def _probe(self) -> None:
        try:
            self._checked(self._post([_PROBE]), 1)
        except (RequestFailed, _BadVector) as error:
            raise self._unavailable(str(error)) from error
        self._answered = True

    def _request(self, batch: list[str]) -> NDArray[np.float32]:
        try:
            rows = self._checked(self._post(batch), len(batch))
        except (RequestFailed, _BadVector) as error:
            if isinstance(error, RequestFailed) and error.status not in _ABOUT_THE_TEXT:
                raise self._unavailable(str(error)) from error
            self._probe()
            raise TextRefusedError(self._profile.model, f"{self._url}: {error}") from error
        self._answered = True
        return rows

    def _post(self, batch: list[str]) -> Any:
        client = JsonClient(self._url, self._key(), self._timeout_s, self._retries, sleep=self._sleep)
        return client.post({"model": self._profile.model, "input": batch})

    def _key(self) -> str:
        if not self._key_env:
            return ""
        key = os.environ.get(self._key_env, "").strip()
        if not (key and key.isascii() and key.isprintable()):
            raise ConfigError("embedding.api_key_env", f"the environment variable {self._key_env} holds no usable key")
        return key

    def _checked(self, answer: Any, count: int) -> NDArray[np.float32]:
        import numpy as np

        from libravdb_memory.engines import vectors

        full = self._profile.dimensions
        told, rows = _rows(answer, count)
        if rows is None:
            raise self._unavailable(f"the answer does not hold one vector for each of {count} texts")
        if told != count:
            raise self._unavailable(f"the answer holds {told} vectors for {count} texts")
        if rows.shape != (count, full):
            raise self._unavailable(f"the vectors have shape {rows.shape[1:]}, configured are {full} dimensions")
        with np.errstate(over="ignore"):
            narrow = rows.astype(np.float32)
        if not np.isfinite(narrow).all() or not narrow.any(axis=1).all():
            raise _BadVector("a vector is not finite, or is zero")
        if self.space.dimensions != full:
            return vectors.shorten(narrow, self.space.dimensions, self._profile.layer_norm)
        return vectors.unit(narrow)

    def _unavailable(self, reason: str) -> ModelUnavailableError:
        return ModelUnavailableError(self._profile.model, f"{self._url}: {reason}")


def _rows(answer: Any, count: int) -> tuple[int, NDArray[np.float64] | None]:
    """How many vectors the answer holds, and those of so many texts; None where they are not there. Nothing is raised
    from what is wrong with them, which would hold what the answer holds."""
    import numpy as np

    try:
        entries = cast("list[dict[str, Any]]", answer["data"])
        by_index = {int(entry["index"]): entry["embedding"] for entry in entries}
        return len(entries), np.asarray([by_index[index] for index in range(count)], np.float64)
    except (KeyError, TypeError, ValueError, OverflowError):
        return 0, None
