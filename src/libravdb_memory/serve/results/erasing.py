"""What is erased, and what would be."""

from __future__ import annotations

from typing import Literal, TypedDict

from libravdb_memory.serve.results.turns import TurnRow


class Erased(TypedDict):
    ok: bool
    records: int
    edges: int
    vectors: int


class AlsoGone(TypedDict):
    kind: Literal["summary", "rule"]
    id: str
    preview: str


class ErasePreview(TypedDict):
    """`receipts` is the least that goes where `receiptsExact` is false."""

    turns: int
    sessions: int
    summaries: int
    rules: int
    receipts: int
    receiptsExact: bool
    copies: int
    sample: list[TurnRow]
    alsoNamed: list[AlsoGone]
    uncovered: int
