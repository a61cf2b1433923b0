"""What the inspector's views are made of. Every list comes in pages, and every answer costs a bounded time."""

from __future__ import annotations

from typing import Any

from libravdb_memory.serve.inspecting import (
    documents,
    erasing,
    gate,
    graph,
    lists,
    overview,
    prompts,
    ranked,
    watching,
)
from libravdb_memory.serve.methods import Method

METHODS: tuple[Method[Any], ...] = (
    *overview.METHODS,
    *lists.METHODS,
    *graph.METHODS,
    *documents.METHODS,
    *gate.METHODS,
    *prompts.METHODS,
    *ranked.METHODS,
    *erasing.METHODS,
    *watching.METHODS,
)
