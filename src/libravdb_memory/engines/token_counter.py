"""An exact token counter from a tokenizer file, in place of the estimate.

Law: its id names the file's content, so that costs cached under another tokenizer are never taken for its own.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from typing import Any

from libravdb_memory.errors import ConfigError
from libravdb_memory.tokens import EstimatingCounter, TokenCounter


class TokenizerCounter:
    """Counts with a `tokenizer.json` as the tokenizers library reads it; loaded on first use."""

    def __init__(self, path: Path) -> None:
        try:
            self._source = path.read_bytes()
        except OSError as error:
            raise ConfigError("assembly.tokenizer", f"{path} cannot be read ({error.strerror})") from error
        self._path = path
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self.id = f"tokenizer-{hashlib.sha256(self._source).hexdigest()[:16]}"

    def count(self, text: str) -> int:
        return len(self._loaded().encode(text, add_special_tokens=False).ids)

    def _loaded(self) -> Any:
        with self._lock:
            if self._tokenizer is None:
                from tokenizers import Tokenizer

                try:
                    self._tokenizer = Tokenizer.from_str(self._source.decode())
                except Exception as error:  # the library raises bare Exception for a file it cannot read
                    raise ConfigError("assembly.tokenizer", f"{self._path} is not a tokenizer file: {error}") from error
                self._tokenizer.no_truncation()
                self._tokenizer.no_padding()
            return self._tokenizer


def make_counter(path: str) -> TokenCounter:
    """The configured counter: exact from a file, or the built-in estimate for an empty path."""
    return TokenizerCounter(Path(path)) if path else EstimatingCounter()
