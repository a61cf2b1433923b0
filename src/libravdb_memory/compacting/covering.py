"""Turns into summaries: clusters planned behind the tail, each with its guidance kept word by word and a summary made
of the rest, written in one commit.

Laws: turns are read, never changed; no transaction is open while a model works; nothing is covered twice.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from libravdb_memory import lineage
from libravdb_memory.compact.passed_over import PassedOver
from libravdb_memory.compact.plan import plan
from libravdb_memory.compact.preserve import asks_a_model
from libravdb_memory.compact.prior import prior_context
from libravdb_memory.compact.reading import beginning_and_end
from libravdb_memory.compact.sanitise import sanitise
from libravdb_memory.compact.views import View
from libravdb_memory.compacting.parts import Parts, vectors_of_records
from libravdb_memory.compacting.report import TRIVIAL, Declined
from libravdb_memory.compacting.uncovered import starts_of_bundles, uncovered_turns
from libravdb_memory.compacting.writing import Job, Writing
from libravdb_memory.condensing import Condensed, Sources
from libravdb_memory.engines.places import places
from libravdb_memory.errors import CallCancelledError
from libravdb_memory.gating import JUDGED
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.model import Record
from libravdb_memory.namespaces import history_of
from libravdb_memory.shards import Shard
from libravdb_memory.store.protocol import Key, Put, Write
from libravdb_memory.summaries import Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PREPARED = 8
"""Clusters whose sentences are embedded together."""


class Covering:
    """The part of a compaction that covers turns. What it came to is here, also when it ended early: the summaries it
    made, what each says as a vector, how many rules it kept, and what it left.

    Where the writing is held back, every turn behind the tail is covered anew, whatever covers it in the store."""

    def __init__(self, parts: Parts, job: Job, writing: Writing) -> None:
        self._parts = parts
        self._job = job
        self._writing = writing
        self._declined: dict[tuple[str, ...], Declined] = {}
        self._done = 0
        self._placed: list[tuple[int, Node]] = []
        self._summaries: tuple[Node, ...] = ()
        self.said: dict[str, NDArray[np.float32]] = {}
        self.guidance = 0
        self.reason = ""

    @property
    def summaries(self) -> tuple[Node, ...]:
        """As many as are in the store."""
        return () if self._writing.held_back else self._summaries

    def run(self) -> None:
        """Round after round: turns that were declined may go together otherwise once their neighbours are covered."""
        clusters, self.reason = self._planned()
        if clusters:
            self._parts.condenser.warm_up(self._job.cancelled)
        while clusters:
            before = len(self._summaries)
            self._cover_clusters(clusters)
            again = self._planned()[0] if len(self._summaries) > before else []
            clusters = [records for records in again if not self._was_declined(records)]
        self.guidance += self._writing.swap()
        self._job.tell(self._done, self._done)

    def declined(self) -> tuple[Declined, ...]:
        """Of what was declined in any round, that which stayed so."""
        settled = {turn for node in self._summaries for turn in node.children}
        left: list[Declined] = []
        for ids, declined in reversed(self._declined.items()):
            if settled.isdisjoint(ids):
                left.append(declined)
            settled.update(ids)
        return tuple(reversed(left))

    def _planned(self) -> tuple[list[list[Record]], str]:
        """The clusters to cover; without any, the reason."""
        covered = (turn for node in self._summaries for turn in node.children)
        anew = frozenset(covered) if self._writing.held_back else None
        turns = uncovered_turns(self._parts, self._job.namespace, self._job.session, anew)
        ids = [record.id for record in turns.records]
        starts = starts_of_bundles(turns)
        planned = plan(ids, turns.tail_start, frozenset(), starts, self._parts.settings, turns.breaks)
        return [[turns.records[place] for place in cluster.members] for cluster in planned.clusters], planned.declined

    def _cover_clusters(self, clusters: Sequence[Sequence[Record]]) -> None:
        total = self._done + len(clusters)
        earlier = self._placed if self._writing.held_back else self._placed_roots()
        with ThreadPoolExecutor(1, "libravdb-compaction-ahead") as beside:
            ready = beside.submit(self._prepare, clusters[:_PREPARED])
            for number, records in enumerate(clusters):
                if self._job.cancelled():
                    raise CallCancelledError("compaction")
                self._job.tell(self._done, total)
                if number % _PREPARED == 0:
                    ready.result()
                    ready = beside.submit(self._prepare, clusters[number + _PREPARED : number + 2 * _PREPARED])
                node = self._cover(records, [node for last, node in earlier if last < records[0].ref])
                self._done += 1
                if node is not None:
                    insort(earlier, (records[-1].ref, node), key=lambda placed: placed[0])

    def _prepare(self, clusters: Sequence[Sequence[Record]]) -> None:
        """While the model embeds these sentences, the clusters before are read, priced and written."""
        views = [_view(record) for records in clusters for record in records]
        with places.behind("later"):
            self._parts.condenser.prepare(views, self._job.cancelled)

    def _placed_roots(self) -> list[tuple[int, Node]]:
        """The summaries that nothing covers, each with the ref of the last turn below it, in that order."""
        store, history = self._parts.store, history_of(self._job.namespace)
        nodes = lineage.roots(store, self._job.namespace, self._job.session)
        lasts = [store.get(Key(history, node.last, self._job.session)) for node in nodes]
        placed = [(last.ref, node) for last, node in zip(lasts, nodes, strict=True) if last is not None]
        return sorted(placed, key=lambda found: found[0])

    def _cover(self, records: Sequence[Record], earlier: Sequence[Node]) -> Node | None:
        scores = self._gating_scores(records)
        vectors = vectors_of_records(self._parts, records)
        shards = self._parts.elevation.shards(records, scores, vectors, self._job.cancelled)
        guidance: list[Write] = [Put(shard.draft(self._job.namespace), replace=True) for shard in shards]
        kept_apart = _kept_whole(records, shards)
        rows = [row for row, record in enumerate(records) if record.id not in kept_apart] or list(range(len(records)))
        rest = [records[row] for row in rows]
        prior = self._prior(earlier)
        condensed: Condensed | str = TRIVIAL
        unasked: PassedOver | None = None
        if len(records) > 1:
            sources = Sources(
                texts=tuple(record.text for record in rest),
                views=tuple(map(_view, rest)),
                vectors=vectors[rows],
                prior=prior[0],
            )
            with_model = self._asks_a_model([scores.get(record.ref) for record in rest])
            unasked = None if with_model else self._parts.condenser.unasked([scores.get(record.ref) for record in rest])
            condensed = self._parts.condenser.condense(sources, with_model=with_model, cancelled=self._job.cancelled)
        if isinstance(condensed, str):
            ids = tuple(record.id for record in records)
            self._declined[ids] = self._parts.declined_as([(record.id, record.text) for record in records], condensed)
            self.guidance += self._writing.keep(guidance)
            return None
        node = self._writing.node(
            condensed,
            level=1,
            children=[record.id for record in records],
            turns=len(records),
            ends=(records[0].id, records[-1].id),
            times=[record.ts for record in records],
            prior=prior[1],
        )
        node = replace(node, passed_over=condensed.passed_over or unasked)
        below = [Key(record.collection, record.id, record.group) for record in records]
        self.guidance += self._writing.cover(node, below, guidance)
        self.said[node.id] = condensed.vector
        self._summaries = (*self._summaries, node)
        return node

    def _gating_scores(self, records: Sequence[Record]) -> Mapping[int, float]:
        marks = self._parts.store.marks([record.ref for record in records], JUDGED)
        return {ref: float(score) for ref, data in marks.items() if isinstance(score := data.get("g"), int | float)}

    def _asks_a_model(self, scores: Sequence[float | None]) -> bool:
        return asks_a_model(scores, self._parts.condenser.model_ready, self._parts.settings)

    def _prior(self, earlier: Sequence[Node]) -> tuple[str, tuple[str, ...]]:
        """What earlier summaries say, as far as a summariser is shown it, and the ids of those."""
        texts = [node.parts[0] for node in earlier]
        shown = prior_context(texts, self._parts.settings.prior_tokens, self._parts.counter)
        return shown.text, tuple(node.id for node in earlier[len(earlier) - shown.count :])

    def _was_declined(self, records: Sequence[Record]) -> bool:
        """In an earlier round, and so again; of the entries of a turn the last one counts."""
        ids = tuple(record.id for record in records)
        known = self._declined.pop(ids, None)
        if known is not None:
            self._declined[ids] = known
        return known is not None


def _kept_whole(records: Sequence[Record], shards: Sequence[Shard]) -> frozenset[str]:
    """The turns that a summary need not speak of: guidance holds every word of them. Of a longer turn guidance holds
    the rule alone, and the rest would be told nowhere."""
    kept = {shard.turn: shard.text for shard in shards}
    return frozenset(record.id for record in records if kept.get(record.id) == turn_of(record).text)


def _view(record: Record) -> View:
    """Who speaks and what."""
    turn = turn_of(record)
    return View(sanitise(beginning_and_end(turn.text)).strip(), turn.speaker or turn.role)
