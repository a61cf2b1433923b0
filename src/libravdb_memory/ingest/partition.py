"""A document into tiers: what must always be said, what should be said, and lore.

    hard (1)     front matter; each top-level list item with what is nested in it
    soft (2)     block quotes; paragraphs in which the scanner finds a rule
    variant (0)  everything else

Laws: every block is one node (total, disjoint), and the same bytes, counter and scanner give the same partition. Hard
nodes are admitted whole or refused whole, with the overrun in figures. Soft nodes are admitted as the longest prefix in
source order: a later node never takes the place of an earlier one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from types import MappingProxyType

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.ingest.deontic import Mark, Scan
from libravdb_memory.ingest.deontic import scan as scan_deontic
from libravdb_memory.ingest.front_matter import FrontMatter, read_front_matter
from libravdb_memory.ingest.markdown import Block, BlockKind, parse
from libravdb_memory.tokens import TokenCounter
from libravdb_memory.wording import counted

Scanner = Callable[[str], Scan]

HARD_SHARE = 0.35
SOFT_SHARE = 0.30
COSTLIEST_NAMED = 5
_LAW = b"partition-1"  # part of every cache key: raise it when the same bytes would be divided otherwise
_SCANNED = (BlockKind.LIST_ITEM, BlockKind.QUOTE, BlockKind.PARAGRAPH)
_BOM = "\ufeff"
_CORE_NAMES = frozenset({"agents.md", "soul.md", "memory.md", "claude.md", "identity.md", "user.md", "tools.md"})


class Tier(IntEnum):
    VARIANT = 0
    HARD = 1
    SOFT = 2


@dataclass(frozen=True, slots=True)
class Node:
    """A block with its place, tier and price. Offsets of the node count bytes of the source; those of its marks count
    characters of its text."""

    ordinal: int
    kind: BlockKind
    tier: Tier
    start: int
    end: int
    line: int
    text: str
    tokens: int
    promoted: bool
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Partition:
    """`front_matter_problem` says in words why front matter could not be read; empty when it could or is absent."""

    key: str
    source_bytes: int
    nodes: tuple[Node, ...]
    hop_targets: tuple[str, ...] = ()
    front_matter_problem: str = ""

    def of_tier(self, tier: Tier) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.tier is tier)


@dataclass(frozen=True, slots=True)
class Placed:
    """A node and the name of the document it stands in."""

    document: str
    node: Node


@dataclass(frozen=True, slots=True)
class Overrun:
    """Hard rules that cost more than their share of the budget."""

    tokens: int
    limit: int
    costliest: tuple[Placed, ...]

    @property
    def excess(self) -> int:
        return self.tokens - self.limit

    def __str__(self) -> str:
        named = "; ".join(
            f"{placed.document}:{placed.node.line} ({counted(placed.node.tokens, 'token')})"
            for placed in self.costliest
        )
        cost = f"hard rules cost {counted(self.tokens, 'token')}, {self.excess:,} over a limit of {self.limit:,}"
        return f"{cost}; costliest: {named}"


def partition(source: bytes, counter: TokenCounter, *, scan: Scanner = scan_deontic) -> Partition:
    blocks = parse(source)
    nodes = tuple(_node(ordinal, block, counter, scan) for ordinal, block in enumerate(blocks))
    front = FrontMatter()
    if blocks and blocks[0].kind is BlockKind.FRONT_MATTER:
        front = read_front_matter(blocks[0].text)
    return Partition(cache_key(source, counter.id), len(source), nodes, front.hop_targets, front.problem)


def is_core_name(name: str) -> bool:
    """Whether a document of this name speaks for the whole: its lore has authority."""
    return name.lower() in _CORE_NAMES


def cache_key(source: bytes, counter_id: str) -> str:
    """Tagged digest of the raw bytes and the counter; every field is length-prefixed."""
    digest = hashlib.sha256()
    for part in (_LAW, counter_id.encode("utf-8", "surrogatepass"), source):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return f"sha256:{digest.hexdigest()}"


def check_hard_budget(
    documents: Mapping[str, Partition], budget_tokens: int, alpha1: float = HARD_SHARE
) -> Overrun | None:
    """None when the hard nodes of all documents fit their share of the budget."""
    limit = share_of(budget_tokens, alpha1)
    hard = placed_nodes(documents, Tier.HARD)
    tokens = sum(placed.node.tokens for placed in hard)
    if tokens <= limit:
        return None
    ranked = sorted(hard, key=lambda placed: (-placed.node.tokens, placed.document, placed.node.start))
    return Overrun(tokens, limit, tuple(ranked[:COSTLIEST_NAMED]))


def soft_prefix(nodes: Iterable[Node], limit: int) -> tuple[Node, ...]:
    """The longest prefix whose tokens fit; `nodes` come in reading order, document after document."""
    admitted: list[Node] = []
    for node in nodes:
        limit -= node.tokens
        if limit < 0:
            break
        admitted.append(node)
    return tuple(admitted)


def placed_nodes(documents: Mapping[str, Partition], tier: Tier) -> tuple[Placed, ...]:
    """The nodes of a tier in reading order: documents as given, then source position."""
    return tuple(Placed(name, node) for name, document in documents.items() for node in document.of_tier(tier))


def share_of(budget_tokens: int, share: float) -> int:
    """Whole tokens in a share of the budget, in decimal arithmetic: .29 of 100 is 29, not 28."""
    if budget_tokens < 0:
        raise InvalidInputError("budget_tokens", f"is {budget_tokens}; must not be negative")
    if not 0 <= share <= 1:
        raise InvalidInputError("share", f"is {share}; must lie between 0 and 1")
    return int(Decimal(repr(float(share))) * budget_tokens)


@dataclass(frozen=True, slots=True)
class PartitionCache:
    """Partitions by their key, the least recently used dropped first.

    A value: `partition` answers with the cache that remembers, and the old one is as it was. A cache belongs to one
    scanner, since the key names bytes and counter only.
    """

    max_documents: int = 64
    max_bytes: int = 64 * 1024 * 1024
    held: Mapping[str, Partition] = field(default_factory=lambda: MappingProxyType(dict[str, Partition]()))

    def __post_init__(self) -> None:
        for name in ("max_documents", "max_bytes"):
            if getattr(self, name) < 0:
                raise InvalidInputError(name, "must not be negative")

    def get(self, key: str) -> Partition | None:
        return self.held.get(key)

    def partition(
        self, source: bytes, counter: TokenCounter, *, scan: Scanner = scan_deontic
    ) -> tuple[Partition, PartitionCache]:
        found = self.get(cache_key(source, counter.id))
        found = partition(source, counter, scan=scan) if found is None else found
        return found, self._remembering(found)

    def _remembering(self, newest: Partition) -> PartitionCache:
        kept: list[Partition] = []
        room_bytes = self.max_bytes
        older = [old for old in self.held.values() if old.key != newest.key]
        for document in (newest, *reversed(older)):
            room_bytes -= document.source_bytes
            if room_bytes < 0 or len(kept) == self.max_documents:
                break
            kept.append(document)
        held = MappingProxyType({document.key: document for document in reversed(kept)})
        return PartitionCache(self.max_documents, self.max_bytes, held)


def _node(ordinal: int, block: Block, counter: TokenCounter, scan: Scanner) -> Node:
    marks = _marks(block, scan) if block.kind in _SCANNED else ()
    tier = _tier(block.kind, bool(marks))
    tokens = counter.count(block.text)
    return Node(ordinal, block.kind, tier, block.start, block.end, block.line, block.text, tokens, bool(marks), marks)


def _tier(kind: BlockKind, promoted: bool) -> Tier:
    if kind in (BlockKind.FRONT_MATTER, BlockKind.LIST_ITEM):
        return Tier.HARD
    if kind is BlockKind.QUOTE or (kind is BlockKind.PARAGRAPH and promoted):
        return Tier.SOFT
    return Tier.VARIANT


def _marks(block: Block, scan: Scanner) -> tuple[Mark, ...]:
    text = block.text
    if text.startswith(_BOM):  # it must not stand between a sentence and its beginning, nor move the marks
        text = " " + text[1:]
    return scan(text).marks
