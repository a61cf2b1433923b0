"""Authored documents in the store: loaded, replaced and removed as one, and seen by the next assembly.

A document is kept whole in the collection `document`, its nodes one by one in `authored:hard`, `authored:soft` and
`authored:variant`. Laws: loading replaces every node of the document in one commit; hard rules that would overrun
their share of the start-up budget are refused and nothing changes; rules are read in the order in which the
documents were first loaded, then by source position.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from libravdb_memory.assemble.fill import Rule
from libravdb_memory.errors import InvalidInputError, NotFoundError, RulesOverrunError
from libravdb_memory.identity import Json
from libravdb_memory.ingest.partition import Node, Partition, PartitionCache, Tier, check_hard_budget
from libravdb_memory.model import Draft, Record
from libravdb_memory.store.protocol import Equals, Key, Put, Remove, Store, Write
from libravdb_memory.tokens import TokenCounter

DOCUMENTS = "document"
VARIANT = "authored:variant"
_COLLECTIONS: Mapping[Tier, str] = {Tier.HARD: "authored:hard", Tier.SOFT: "authored:soft", Tier.VARIANT: VARIANT}
_CORE_NAMES = frozenset({"agents.md", "soul.md", "memory.md", "claude.md", "identity.md", "user.md", "tools.md"})


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The rules of every document, in reading order, and the graph of hop targets between documents."""

    hard: tuple[Rule, ...] = ()
    soft: tuple[Rule, ...] = ()
    hops: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


class AuthoredDocuments:
    def __init__(self, store: Store, counter: TokenCounter, *, hard_share: float, startup_budget: int) -> None:
        self._store = store
        self._counter = counter
        self._hard_share = hard_share
        self._startup_budget = startup_budget
        self._changing = threading.Lock()
        self._cache = PartitionCache()
        self._rulebook: Rulebook | None = None

    def load(self, name: str, text: str, *, core: bool | None = None) -> Partition:
        """Load or replace a document. Raises RulesOverrunError, naming the costliest rules, when it does not fit."""
        with self._changing:
            documents = dict(self._partitions())
            loaded = documents[name] = self._partition(text)
            if overrun := check_hard_budget(documents, self._startup_budget, self._hard_share):
                raise RulesOverrunError(name, str(overrun), overrun.excess)
            is_core = PurePath(name).name.lower() in _CORE_NAMES if core is None else core
            facts: dict[str, Json] = {"core": is_core, "partition": loaded.key, "hop_targets": list(loaded.hop_targets)}
            source = Put(Draft(DOCUMENTS, name, text, facts), replace=True, searchable=False)
            nodes = [self._node(name, node, is_core) for node in loaded.nodes]
            self._store.commit(
                [source, *self._removals(name, keep={(put.draft.collection, put.draft.id) for put in nodes}), *nodes]
            )
            self._rulebook = None
            return loaded

    def remove(self, name: str) -> None:
        with self._changing:
            if self._store.get(Key(DOCUMENTS, name)) is None:
                raise NotFoundError(name)
            self._store.commit([Remove(Key(DOCUMENTS, name)), *self._removals(name, keep=set())])
            self._rulebook = None

    def documents(self) -> dict[str, Partition]:
        return dict(self._partitions())

    def rulebook(self) -> Rulebook:
        book = self._rulebook
        if book is None:
            with self._changing:
                book = self._rulebook = self._read_rulebook()
        return book

    def lore(self, target: str, limit: int) -> tuple[Record, ...]:
        """The variant nodes that a hop target names: one node by its id, or the first of a document."""
        document, _, ordinal = target.partition("#")
        if ordinal:
            node = self._store.get(Key(VARIANT, target, document))
            return () if node is None else (node,)
        return self._store.page(VARIANT, where=Equals("group", target), limit=limit).records

    def _read_rulebook(self) -> Rulebook:
        documents = dict(self._partitions())
        return Rulebook(
            hard=tuple(_rules(documents, Tier.HARD)),
            soft=tuple(_rules(documents, Tier.SOFT)),
            hops={name: document.hop_targets for name, document in documents.items() if document.hop_targets},
        )

    def _partitions(self) -> Iterator[tuple[str, Partition]]:
        cursor: str | None = None
        while True:
            page = self._store.page(DOCUMENTS, after=cursor, limit=200)
            for record in page.records:
                yield record.id, self._partition(record.text)
            if (cursor := page.cursor) is None:
                return

    def _partition(self, text: str) -> Partition:
        found, self._cache = self._cache.partition(text.encode(), self._counter)
        return found

    def _node(self, name: str, node: Node, core: bool) -> Put:
        facts: dict[str, Json] = {
            "kind": node.kind.value,
            "tier": int(node.tier),
            "ordinal": node.ordinal,
            "position": node.start,
            "authority": 1.0 if core else 0.0,
            "promoted": node.promoted,
            "tokens": node.tokens,
        }
        draft = Draft(_COLLECTIONS[node.tier], node_id(name, node.ordinal), node.text, facts, group=name)
        return Put(draft, replace=True, searchable=node.tier is Tier.VARIANT)

    def _removals(self, name: str, keep: set[tuple[str, str]]) -> Iterator[Write]:
        for collection in _COLLECTIONS.values():
            cursor: str | None = None
            while True:
                page = self._store.page(collection, where=Equals("group", name), after=cursor, limit=1000)
                for record in page.records:
                    if (collection, record.id) not in keep:
                        yield Remove(Key(collection, record.id, name))
                if (cursor := page.cursor) is None:
                    break


def node_id(document: str, ordinal: int) -> str:
    return f"{document}#{ordinal:06d}"


def check_name(name: str) -> str:
    if not name.strip():
        raise InvalidInputError("document", "needs a name")
    return name


def _rules(documents: Mapping[str, Partition], tier: Tier) -> Iterator[Rule]:
    for name, document in documents.items():
        for node in document.of_tier(tier):
            yield Rule(node_id(name, node.ordinal), node.text)
