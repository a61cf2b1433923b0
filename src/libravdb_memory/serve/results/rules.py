"""Authored rules: documents, their blocks, what they cost and where they clash."""

from __future__ import annotations

from typing import Literal, TypedDict


class RulePlace(TypedDict):
    """`text` are the words of the rule; `node` is the ordinal of its block."""

    document: str
    line: int
    node: int
    text: str


class Contradiction(TypedDict):
    """`action` is what both are about, in normal form."""

    action: str
    obligatory: list[RulePlace]
    forbidden: list[RulePlace]


class Duplicate(TypedDict):
    """`rule` is in normal form."""

    rule: str
    places: list[RulePlace]


class TierTokens(TypedDict):
    hard: int
    soft: int
    lore: int


class DocumentRow(TypedDict):
    name: str
    core: bool
    lore: bool
    bytes: int
    blocks: int
    tokens: TierTokens
    contradictions: int
    duplicates: int
    problem: str | None


class RuleBudget(TypedDict):
    tokens: int
    hardLimit: int
    hardUsed: int
    softLimit: int
    softUsed: int


class Documents(TypedDict):
    documents: list[DocumentRow]
    budget: RuleBudget
    contradictions: list[Contradiction]
    duplicates: list[Duplicate]


class Marked(TypedDict):
    modality: str
    start: int
    end: int


class Block(TypedDict):
    id: str
    ordinal: int
    line: int
    kind: str
    tier: Literal["hard", "soft", "lore"]
    modalities: list[str]
    marks: list[Marked]
    tokens: int
    fits: bool
    promoted: bool
    text: str
    contradicts: bool
    repeats: bool


class Document(TypedDict):
    name: str
    core: bool
    lore: bool
    text: str
    blocks: list[Block]
    contradictions: list[Contradiction]
    duplicates: list[Duplicate]


class CheckedBlock(TypedDict):
    """`tier` is 1 for hard rules, 2 for soft ones, 0 for lore."""

    document: str
    line: int
    kind: str
    tier: int
    modalities: list[str]
    tokens: int
    fits: bool
    text: str


class BlockPlace(TypedDict):
    document: str
    line: int


class UnreadFrontMatter(TypedDict):
    document: str
    problem: str


class CheckedRules(TypedDict):
    """`hardOverrun` is by how many tokens hard rules exceed their share; null where they fit."""

    ok: bool
    budget: int
    nodes: list[CheckedBlock]
    contradictions: list[Contradiction]
    duplicates: list[Duplicate]
    hardOverrun: int | None
    softCut: list[BlockPlace]
    unreadFrontMatter: list[UnreadFrontMatter]
    expectedWasteTokens: float
