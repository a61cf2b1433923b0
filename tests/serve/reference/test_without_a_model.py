"""Searching while no model answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests.serve.reference.conftest import TABLE

from libravdb_memory import Memory
from libravdb_memory.config import Config
from libravdb_memory.engines.protocol import EmbeddingSpace
from libravdb_memory.engines.select import make_embedder
from libravdb_memory.errors import ModelUnavailableError
from libravdb_memory.serve.access import SAME_USER
from libravdb_memory.serve.calls import Answer, read_call, run
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.service import Service

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Absent:
    """An engine whose model cannot be loaded."""

    ready = False

    def __init__(self, config: Config) -> None:
        self.space: EmbeddingSpace = make_embedder(config.embedding).space

    def warm_up(self) -> None:
        raise ModelUnavailableError("absent", "there is no such file")

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelUnavailableError("absent", "there is no such file")

    def embed_query(self, text: str) -> NDArray[np.float32]:
        raise ModelUnavailableError("absent", "there is no such file")

    def close(self) -> None: ...


def test_records_are_found_by_their_words(hashed: Config) -> None:
    with Memory.open(config=hashed, embedder=Absent(hashed)) as memory:
        service = Service.of(memory, hashed, lambda: 1)

        def call(method: str, **params: Any) -> Any:
            made = read_call(TABLE, Request(method, params, 1), SAME_USER)
            return json.loads((made if isinstance(made, Answer) else run(service, made)).line)["result"]

        for number in range(400):
            call("insert_text", collection="global", id=f"{number:03d}", text=f"lunch number {number} is at noon")
        call("insert_text", collection="global", id="key", text="the deploy key lies in the vault")
        for number in range(400, 800):
            call("insert_text", collection="global", id=f"{number:03d}", text=f"lunch number {number} is at noon")
        found = call("search_text", collection="global", text="deploy key vault", k=5)["results"]
        assert [result["id"] for result in found] == ["key"]
        assert found[0]["score"] == 1.0
        assert len(call("search_text", collection="global", text="deploy key")["results"]) == 801
