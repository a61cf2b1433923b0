"""Summaries into summaries, while a session has too many."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from libravdb_memory import lineage
from libravdb_memory.compact.plan import Root, folds
from libravdb_memory.compacting.making import Contact, Fold
from libravdb_memory.compacting.parts import Parts
from libravdb_memory.compacting.report import Declined
from libravdb_memory.compacting.writing import Job, Writing
from libravdb_memory.condensing import InVain
from libravdb_memory.errors import CallCancelledError
from libravdb_memory.excluding import OvertakenError
from libravdb_memory.namespaces import history_of
from libravdb_memory.spent import NOTHING
from libravdb_memory.store.protocol import Key
from libravdb_memory.summaries import Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_SPARED = 2
"""The newest summary is left alone, and one alone is not folded."""
_APART = "turns that no summary covers lie between them"


class Folding:
    """The part of a compaction that folds summaries. What it came to is here, also when it ended early. `said` holds
    what the summaries made so far say, as vectors."""

    def __init__(
        self, parts: Parts, job: Job, writing: Writing, contact: Contact, said: dict[str, NDArray[np.float32]]
    ) -> None:
        self._parts = parts
        self._job = job
        self._writing = writing
        self._contact = contact
        self._said = said
        self.spent = NOTHING
        self.folds: tuple[Node, ...] = ()
        self.declined: tuple[Declined, ...] = ()

    def run(self) -> None:
        self._fold_all()
        self._job.tell(0)

    def _fold_all(self) -> None:
        """Round after round, while there are too many. Raises CallCancelledError where that is given up."""
        declined: set[tuple[str, ...]] = set()
        while (bound := self._parts.settings.fold_tokens) > 0:
            self._refuse_cancelled()
            nodes = lineage.roots(self._parts.store, self._job.namespace, self._job.session)
            if (tokens := sum(node.tokens for node in nodes)) <= bound:
                return
            runs = folds(self._roots(nodes), self._parts.settings)
            if not runs and len(nodes) > _SPARED:
                left = Declined(nodes[0].id, nodes[-1].id, len(nodes), tokens, _APART, of_summaries=True)
                self.declined = (*self.declined, left)
            by_id = {node.id: node for node in nodes}
            fresh = [ids for run in runs if (ids := tuple(root.id for root in run)) not in declined]
            if not fresh:
                return
            for number, ids in enumerate(fresh):
                self._refuse_cancelled()
                self._job.tell(len(fresh) - number)
                if not self._fold([by_id[node_id] for node_id in ids]):
                    declined.add(ids)
                self._job.steps.done += 1

    def _refuse_cancelled(self) -> None:
        if self._job.cancelled():
            raise CallCancelledError("compaction")

    def _roots(self, nodes: Sequence[Node]) -> list[Root]:
        """Each with whether uncovered turns lie between it and the one before."""
        store, history, session = self._parts.store, history_of(self._job.namespace), self._job.session
        bare = [record.ref for record in lineage.uncovered(store, history, session)]
        roots: list[Root] = []
        before: int | None = None
        for node in nodes:
            first, last = (store.get(Key(history, turn, session)) for turn in (node.first, node.last))
            apart = before is None or first is None or bisect(bare, before) < bisect(bare, first.ref)
            roots.append(Root(node.id, node.tokens, node.level, apart))
            before = None if last is None else last.ref
        return roots

    def _fold(self, nodes: Sequence[Node]) -> bool:
        store = self._parts.store
        if any(store.get(node.key) is None for node in nodes):
            raise OvertakenError
        vectors = {node.id: self._said[node.id] for node in nodes if node.id in self._said}
        made = self._parts.maker.fold(Fold(tuple(nodes), vectors, self._contact.away), self._job.cancelled)
        self._contact.hear(made.away)
        self.spent += made.spent
        condensed = made.condensed
        if isinstance(condensed, InVain):
            declined = self._parts.declined_as([(node.id, node.text) for node in nodes], condensed.reason)
            self.declined = (*self.declined, replace(declined, of_summaries=True))
            return False
        node = self._writing.node(
            condensed,
            level=1 + max(node.level for node in nodes),
            children=[node.id for node in nodes],
            turns=sum(node.turns for node in nodes),
            ends=(nodes[0].first, nodes[-1].last),
            times=[moment for node in nodes for moment in (node.first_ts, node.last_ts)],
        )
        node = replace(node, passed_over=made.passed_over)
        self._writing.cover(node, [child.key for child in nodes])
        self._said[node.id] = condensed.vector
        self.folds = (*self.folds, node)
        return True
