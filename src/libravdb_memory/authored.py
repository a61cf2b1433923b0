"""Authored documents in the store: loaded, replaced and removed as one, and seen by the next assembly.

A document is kept whole in the collection `document`, its nodes one by one in `authored:hard`, `authored:soft` and
`authored:variant`. Laws: loading replaces every node of the document in one commit; hard rules that would overrun
their share of the start-up budget are refused and nothing changes; secrets are masked before a document is divided, so
offsets, hashes and prices are those of the masked text; rules are read in the order in which the
documents were first loaded, then by source position. The rules of all documents are kept in memory: a load costs what
its own document costs, however many there are.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from libravdb_memory.assemble.fill import Rule
from libravdb_memory.errors import InvalidInputError, NotFoundError, RulesOverrunError
from libravdb_memory.identity import Json
from libravdb_memory.ingest.partition import Node, Partition, PartitionCache, Tier, check_hard_budget, is_core_name
from libravdb_memory.masking import MASKED, Masking
from libravdb_memory.model import Document, Draft, Record
from libravdb_memory.store.protocol import Equals, Filter, Key, Put, Remove, Store, Write
from libravdb_memory.tokens import TokenCounter

DOCUMENTS = "document"
VARIANT = "authored:variant"
_OWN_FACTS = ("core", "partition", "hop_targets", "lore", MASKED)
"""What is known of a document beside where it was read."""
_COLLECTIONS: Mapping[Tier, str] = {Tier.HARD: "authored:hard", Tier.SOFT: "authored:soft", Tier.VARIANT: VARIANT}


@dataclass(frozen=True, slots=True)
class Rulebook:
    """The rules of every document, in reading order, and the graph of hop targets between documents."""

    hard: tuple[Rule, ...] = ()
    soft: tuple[Rule, ...] = ()
    hops: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])


class AuthoredDocuments:
    def __init__(
        self, store: Store, counter: TokenCounter, masking: Masking, *, hard_share: float, startup_budget: int
    ) -> None:
        self._store = store
        self._masking = masking
        self._counter = counter
        self._hard_share = hard_share
        self._startup_budget = startup_budget
        self._changing = threading.Lock()
        self._cache = PartitionCache()
        self._standing: dict[str, Partition] | None = None
        self._rulebook: Rulebook | None = None

    def load(self, name: str, text: str, *, core: bool | None = None) -> Partition:
        """Load or replace a document. Raises RulesOverrunError, naming the costliest rules, when it does not fit."""
        (outcome,) = self.change([Document(name, text, core)])
        if isinstance(outcome, RulesOverrunError):
            raise outcome
        return outcome

    def remove(self, name: str) -> None:
        if self._store.get(Key(DOCUMENTS, name)) is None:
            raise NotFoundError(name)
        self.change(remove=[name])

    def change(
        self, load: Sequence[Document] = (), remove: Sequence[str] = ()
    ) -> tuple[Partition | RulesOverrunError, ...]:
        """Load and remove documents in one commit; an outcome for each one to load, in order. A document whose hard
        rules do not fit is refused alone; what is removed makes room first."""
        if len({document.name for document in load} | set(remove)) < len(load) + len(remove):
            raise InvalidInputError("document", "is named twice in one change")
        with self._changing:
            standing = dict(self._rules_standing())
            writes: list[Write] = []
            for name in remove:
                standing.pop(name, None)
                writes += (Remove(Key(DOCUMENTS, name)), *self._removals(name, keep=set()))
            outcomes = [self._staged(document, standing, writes) for document in load]
            if writes:
                self._store.commit(writes)
                self._standing, self._rulebook = standing, None
            return tuple(outcomes)

    def reread(self) -> None:
        """Something else wrote documents into the store."""
        with self._changing:
            self._standing = self._rulebook = None

    def documents(self) -> dict[str, Partition]:
        return {
            record.id: _as_lore(found) if record.metadata.get("lore") else found
            for record in self._records()
            for found in (self._partition(record.text),)
        }

    def sourced(self, root: str | None = None) -> dict[str, Mapping[str, Json]]:
        """The facts of every document that was read from this root, or from any, by its name."""
        where = None if root is None else Equals("metadata.source_root", root)
        return {record.id: record.metadata for record in self._records(where) if "source_root" in record.metadata}

    def divided_masked(self, name: str) -> Mapping[Key, str] | None:
        """The texts of the nodes of a document in which secrets were masked; None if it is not such a one."""
        record = self._store.get(Key(DOCUMENTS, name))
        if record is None or record.metadata.get(MASKED) is not True:
            return None
        found = self._partition(record.text)
        divided = _as_lore(found) if record.metadata.get("lore") else found
        return {Key(_COLLECTIONS[node.tier], node_id(name, node.ordinal), name): node.text for node in divided.nodes}

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

    def _staged(
        self, document: Document, standing: dict[str, Partition], writes: list[Write]
    ) -> Partition | RulesOverrunError:
        """Add a document to what will stand and its writes to the commit, or say why it does not fit."""
        name, text = document.name, self._masking.text(document.text)
        found = self._partition(text)
        divided = _as_lore(found) if document.lore else found
        before = standing.get(name)
        standing[name] = _rules_of(divided)
        if divided.of_tier(Tier.HARD) and (refusal := self._overrun(name, standing)):
            if before is None:
                del standing[name]
            else:
                standing[name] = before
            return refusal
        core = is_core_name(PurePath(name).name) if document.core is None else document.core
        source = self._masking.facts(document.source)
        facts: dict[str, Json] = {**source, "core": core, "partition": divided.key}
        facts["hop_targets"] = list(divided.hop_targets)
        if document.lore:
            facts["lore"] = True
        if text != document.text:
            facts[MASKED] = True
        nodes = [self._node(name, node, core) for node in divided.nodes]
        writes.append(Put(Draft(DOCUMENTS, name, text, facts), replace=True, searchable=False))
        writes += self._removals(name, keep={(put.draft.collection, put.draft.id) for put in nodes})
        writes += nodes
        return divided

    def _overrun(self, name: str, standing: Mapping[str, Partition]) -> RulesOverrunError | None:
        overrun = check_hard_budget(standing, self._startup_budget, self._hard_share)
        return None if overrun is None else RulesOverrunError(name, str(overrun), overrun.excess)

    def _read_rulebook(self) -> Rulebook:
        documents = self._rules_standing()
        return Rulebook(
            hard=tuple(_rules(documents, Tier.HARD)),
            soft=tuple(_rules(documents, Tier.SOFT)),
            hops={name: document.hop_targets for name, document in documents.items() if document.hop_targets},
        )

    def _rules_standing(self) -> dict[str, Partition]:
        """The rules of every document, in reading order. Lore has none, so it is not even divided."""
        if self._standing is None:
            self._standing = {
                record.id: _lore_of(record) if record.metadata.get("lore") else _rules_of(self._partition(record.text))
                for record in self._records()
            }
        return self._standing

    def _records(self, where: Filter | None = None) -> Iterator[Record]:
        cursor: str | None = None
        while True:
            page = self._store.page(DOCUMENTS, where=where, after=cursor, limit=200)
            yield from page.records
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


def is_node(key: Key) -> bool:
    return key.collection in _COLLECTIONS.values()


def document_of(draft: Draft) -> Document:
    """A document as it was handed over, from what is kept of it."""
    known = draft.metadata
    source = {key: value for key, value in known.items() if key not in _OWN_FACTS}
    return Document(draft.id, draft.text, known.get("core") is True, known.get("lore") is True, source)


def check_name(name: str) -> str:
    if not name.strip():
        raise InvalidInputError("document", "needs a name")
    return name


def _as_lore(document: Partition) -> Partition:
    return replace(document, nodes=tuple(replace(node, tier=Tier.VARIANT) for node in document.nodes))


def _rules_of(document: Partition) -> Partition:
    return replace(document, nodes=tuple(node for node in document.nodes if node.tier is not Tier.VARIANT))


def _lore_of(record: Record) -> Partition:
    targets = record.metadata.get("hop_targets")
    listed = targets if isinstance(targets, list | tuple) else ()
    return Partition(str(record.metadata.get("partition", "")), 0, (), tuple(map(str, listed)))


def _rules(documents: Mapping[str, Partition], tier: Tier) -> Iterator[Rule]:
    for name, document in documents.items():
        for node in document.of_tier(tier):
            yield Rule(node_id(name, node.ordinal), node.text)
