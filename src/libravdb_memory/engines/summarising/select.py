"""Settings of the summariser, and the engine they ask for.

Laws: a bad value is refused by name before anything is loaded; a setting that the chosen backend would ignore is
refused too, rather than silently dropped. So is a folder that cannot hold a model, when a memory is opened, and a key
that is not there, when it is first needed. Nothing leaves the machine unless a base_url is given.
"""

from __future__ import annotations

import math
import os
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.engines.select import is_web_address
from libravdb_memory.engines.summarising.protocol import Summariser
from libravdb_memory.errors import ConfigError, ModelUnavailableError
from libravdb_memory.tokens import TokenCounter

Backend: TypeAlias = Literal["extractive", "onnx-local", "openai-compatible"]

SECTION = "summary"
_NEEDED = {"onnx-local": ("model_path",), "openai-compatible": ("base_url", "model")}


def _setting(default: Any, owner: Backend, help: str) -> Any:
    return field(default=default, metadata={"help": f"{owner}: {help}", "owner": owner})


@dataclass(frozen=True, slots=True)
class SummarySettings:
    """An empty text means: not given."""

    backend: Backend = field(default="extractive", metadata={"help": "extractive, onnx-local or openai-compatible"})
    model_path: str = _setting("", "onnx-local", "folder with encoder, decoder, tokenizer.json and manifest.toml")
    threads: int = _setting(1, "onnx-local", "threads of one model run")
    base_url: str = _setting("", "openai-compatible", "address up to and without /chat/completions")
    model: str = _setting("", "openai-compatible", "model name as the endpoint knows it")
    api_key_env: str = _setting("", "openai-compatible", "environment variable that holds the key")
    max_input_tokens: int = _setting(
        6000, "openai-compatible", "most that is sent of the turns; longer ones lose their middle"
    )
    reasoning_tokens: int = _setting(0, "openai-compatible", "room for a model that thinks before it answers")
    connect_timeout_s: float = _setting(5.0, "openai-compatible", "seconds to wait for a connection")
    timeout_s: float = _setting(60.0, "openai-compatible", "seconds to wait for one answer")
    total_timeout_s: float = _setting(
        120.0, "openai-compatible", "seconds to wait for a summary, further attempts and pauses included"
    )
    retries: int = _setting(2, "openai-compatible", "further attempts after a refusal that may pass")

    def __post_init__(self) -> None:
        _refuse_unless(self.backend in get_args(Backend), "backend", f"must be one of {', '.join(get_args(Backend))}")
        _refuse_unless(1 <= self.threads <= 1024, "threads", "must lie in 1..1024")
        _refuse_unless(256 <= self.max_input_tokens <= 1_000_000, "max_input_tokens", "must lie in 256..1000000")
        _refuse_unless(0 <= self.reasoning_tokens <= 100_000, "reasoning_tokens", "must lie in 0..100000")
        _refuse_unless(0 <= self.retries <= 20, "retries", "must lie in 0..20")
        for key in ("connect_timeout_s", "timeout_s", "total_timeout_s"):
            seconds = getattr(self, key)
            _refuse_unless(math.isfinite(seconds) and seconds > 0, key, "must be above 0")
        for item in fields(self):
            self._refuse_what_the_backend_ignores(item)
        for key in _NEEDED.get(self.backend, ()):
            _refuse_unless(bool(getattr(self, key)), key, f"is needed by the backend {self.backend}")
        if self.base_url:
            _refuse_unless(is_web_address(self.base_url), "base_url", "must be http(s)://host[:port][/path], no more")

    def _refuse_what_the_backend_ignores(self, item: Field[Any]) -> None:
        owner = item.metadata.get("owner", self.backend)
        reason = f"has no effect with the backend {self.backend}; it belongs to {owner}"
        _refuse_unless(owner == self.backend or getattr(self, item.name) == item.default, item.name, reason)


def check_folder(settings: SummarySettings) -> None:
    """Refuse a folder that cannot hold a model: that is missing, has no manifest or a bad one, or not all files. Its
    contents are looked at when it is loaded."""
    if settings.backend != "onnx-local":
        return
    from libravdb_memory.engines.summarising.seq2seq_manifest import read_seq2seq_manifest

    folder = Path(settings.model_path).expanduser()
    _refuse_unless(folder.is_dir(), "model_path", f"{folder} is not a folder")
    try:
        read_seq2seq_manifest(folder).check_presence()
    except ModelUnavailableError as error:
        raise ConfigError(f"{SECTION}.model_path", str(error)) from error


def check_key(settings: SummarySettings) -> None:
    """Refuse the name of a variable that holds no key."""
    if settings.api_key_env:
        reason = f"the environment variable {settings.api_key_env} holds no usable key"
        _refuse_unless(is_sendable(os.environ.get(settings.api_key_env, "").strip()), "api_key_env", reason)


def name_of(settings: SummarySettings) -> str:
    """Which engine, and which model, as it is named in summaries."""
    if settings.backend == "onnx-local":
        return f"{settings.backend}:{Path(settings.model_path).expanduser().name}"
    return f"{settings.backend}:{settings.model}" if settings.model else settings.backend


def is_sendable(key: str) -> bool:
    """Whether it can stand in a header."""
    return bool(key) and key.isascii() and key.isprintable()


def make_summariser(
    settings: SummarySettings, embedder: Embedder | None, counter: TokenCounter | None = None
) -> Summariser:
    """The engine that the settings ask for. Nothing is loaded and nothing is reached yet."""
    if settings.backend == "openai-compatible":
        return _remote(settings, counter)
    if settings.backend == "onnx-local":
        from libravdb_memory.engines.summarising.seq2seq import Seq2SeqSummariser

        return Seq2SeqSummariser(Path(settings.model_path).expanduser(), threads=settings.threads, counter=counter)
    from libravdb_memory.engines.summarising.extractive import ExtractiveSummariser

    return ExtractiveSummariser(embedder, counter)


def _remote(settings: SummarySettings, counter: TokenCounter | None) -> Summariser:
    from libravdb_memory.engines.summarising.chat import ChatSummariser, Patience

    return ChatSummariser(
        settings.base_url,
        settings.model,
        api_key_env=settings.api_key_env,
        patience=Patience(settings.connect_timeout_s, settings.timeout_s, settings.total_timeout_s, settings.retries),
        max_input_tokens=settings.max_input_tokens,
        reasoning_tokens=settings.reasoning_tokens,
        counter=counter,
    )


def _refuse_unless(good: bool, key: str, reason: str) -> None:
    if not good:
        raise ConfigError(f"{SECTION}.{key}", reason)
