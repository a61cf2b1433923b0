"""Settings of the embedding engine, and the engine they ask for.

Law: a bad value is refused by name before anything is loaded; a setting that the chosen backend would ignore is
refused too, rather than silently dropped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from libravdb_memory.engines.profiles import PROFILES, Profile
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.errors import ConfigError

Backend: TypeAlias = Literal["bundled", "onnx-local", "openai-compatible", "hashed"]

SECTION = "embedding"
_HASHED_DIMENSIONS = 256
_MOST_DIMENSIONS = 65_536
_MAX_TOKENS_WITHOUT_PROFILE = 512


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """An empty text or 0 means: not given."""

    backend: Backend = field(default="bundled", metadata={"help": "bundled, onnx-local, openai-compatible or hashed"})
    model_path: str = field(
        default="", metadata={"help": "onnx-local: folder with model.onnx, tokenizer.json and manifest.toml"}
    )
    dimensions: int = field(
        default=0, metadata={"help": "length of the vectors; 0: the model's own (openai-compatible: required)"}
    )
    threads: int = field(default=1, metadata={"help": "threads of one model run"})
    batch_size: int = field(default=32, metadata={"help": "texts per model run or request, at most"})
    token_vectors: bool = field(
        default=True,
        metadata={
            "help": "keep small vectors of single words beside each turn's own: finer ranking, about 2 KB a turn"
            " (bundled, and onnx-local with a tokens_file)"
        },
    )
    profile: str = field(default="", metadata={"help": "openai-compatible: known model that gives prefixes and limits"})
    base_url: str = field(default="", metadata={"help": "openai-compatible: address up to and without /embeddings"})
    model: str = field(default="", metadata={"help": "openai-compatible: model name as the endpoint knows it"})
    revision: str = field(
        default="", metadata={"help": "openai-compatible: your name for the weights behind it, part of the fingerprint"}
    )
    api_key_env: str = field(
        default="", metadata={"help": "openai-compatible: environment variable that holds the key"}
    )
    query_prefix: str = field(
        default="", metadata={"help": "openai-compatible: put before a query; empty: the profile's"}
    )
    document_prefix: str = field(
        default="", metadata={"help": "openai-compatible: put before a stored text; empty: the profile's"}
    )
    max_tokens: int = field(
        default=0, metadata={"help": "openai-compatible: longest input; longer texts are read in windows"}
    )
    timeout_s: float = field(default=30.0, metadata={"help": "openai-compatible: seconds to wait for one answer"})
    retries: int = field(
        default=3, metadata={"help": "openai-compatible: further attempts after a refusal that may pass"}
    )

    def __post_init__(self) -> None:
        _refuse_unless(self.backend in get_args(Backend), "backend", f"must be one of {', '.join(get_args(Backend))}")
        _refuse_unless(0 <= self.dimensions <= _MOST_DIMENSIONS, "dimensions", f"must lie in 0..{_MOST_DIMENSIONS}")
        _refuse_unless(1 <= self.threads <= 1024, "threads", "must lie in 1..1024")
        _refuse_unless(1 <= self.batch_size <= 4096, "batch_size", "must lie in 1..4096")
        _refuse_unless(self.max_tokens >= 0, "max_tokens", "must not be negative")
        _refuse_unless(math.isfinite(self.timeout_s) and self.timeout_s > 0, "timeout_s", "must be above 0")
        _refuse_unless(0 <= self.retries <= 20, "retries", "must lie in 0..20")
        known = f"must be one of {', '.join(PROFILES)}"
        _refuse_unless(not self.profile or self.profile in PROFILES, "profile", known)
        self._refuse_what_the_backend_lacks()
        self._refuse_what_the_backend_ignores()

    def _refuse_what_the_backend_lacks(self) -> None:
        needed = {"onnx-local": ["model_path"], "openai-compatible": ["base_url", "model"]}
        for key in needed.get(self.backend, []):
            _refuse_unless(bool(getattr(self, key)), key, f"is needed by the backend {self.backend}")
        if self.backend == "openai-compatible":
            _refuse_unless(bool(self.dimensions or self.profile), "dimensions", "give it, or a profile that has it")
            self._refuse_a_size_the_profile_lacks()
            _refuse_unless(is_web_address(self.base_url), "base_url", "must be http(s)://host[:port][/path], no more")
        if self.backend == "bundled":
            own = PROFILES["all-minilm-l6-v2"].dimensions
            _refuse_unless(self.dimensions in (0, own), "dimensions", f"the bundled model has {own}")

    def _refuse_a_size_the_profile_lacks(self) -> None:
        if row := PROFILES.get(self.profile):
            sizes = sorted({row.dimensions, *row.matryoshka})
            _refuse_unless(self.dimensions in (0, *sizes), "dimensions", f"{self.profile} has {sizes}")

    def _refuse_what_the_backend_ignores(self) -> None:
        remote = ["base_url", "model", "revision", "api_key_env", "query_prefix", "document_prefix", "profile"]
        owners = {"model_path": "onnx-local", "max_tokens": "openai-compatible"}
        owners |= dict.fromkeys(remote, "openai-compatible")
        for key, owner in owners.items():
            reason = f"has no effect with the backend {self.backend}; it belongs to {owner}"
            _refuse_unless(not getattr(self, key) or self.backend == owner, key, reason)


def make_embedder(settings: EmbeddingSettings | None = None) -> Embedder:
    """The engine that the settings ask for. Nothing is loaded and nothing is reached yet."""
    settings = settings or EmbeddingSettings()
    if settings.backend == "hashed":
        from libravdb_memory.engines.hashed import HashedEmbedder

        return HashedEmbedder(settings.dimensions or _HASHED_DIMENSIONS)
    if settings.backend == "openai-compatible":
        return _remote(settings)
    from libravdb_memory.engines.onnx import BUNDLED, OnnxEmbedder

    return OnnxEmbedder(
        BUNDLED if settings.backend == "bundled" else Path(settings.model_path).expanduser(),
        threads=settings.threads,
        batch_size=settings.batch_size,
        dimensions=settings.dimensions or None,
        token_vectors=settings.token_vectors,
    )


def _remote(settings: EmbeddingSettings) -> Embedder:
    from libravdb_memory.engines.openai_compatible import OpenAICompatibleEmbedder

    return OpenAICompatibleEmbedder(
        settings.base_url,
        _remote_profile(settings),
        dimensions=settings.dimensions or None,
        revision=settings.revision,
        api_key_env=settings.api_key_env,
        batch_size=settings.batch_size,
        timeout_s=settings.timeout_s,
        retries=settings.retries,
    )


def _remote_profile(settings: EmbeddingSettings) -> Profile:
    """The profile named, or one made from the settings; a prefix or limit given wins over the profile's."""
    known = PROFILES.get(settings.profile)
    row = known or Profile("", settings.dimensions, "none", _MAX_TOKENS_WITHOUT_PROFILE)
    return replace(
        row,
        model=settings.model,
        query_prefix=settings.query_prefix or row.query_prefix,
        document_prefix=settings.document_prefix or row.document_prefix,
        max_tokens=settings.max_tokens or row.max_tokens,
    )


def _refuse_unless(good: bool, key: str, reason: str) -> None:
    if not good:
        raise ConfigError(f"{SECTION}.{key}", reason)


def is_web_address(url: str) -> bool:
    """Whether it is plain: a password or query in it would show up in messages."""
    try:
        parts = urlsplit(url)
        plain = parts.port != 0 and not (parts.username or parts.password or parts.query or parts.fragment)
    except ValueError:
        return False
    return plain and parts.scheme in ("http", "https") and bool(parts.hostname)
