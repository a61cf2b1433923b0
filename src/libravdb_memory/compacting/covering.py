"""Turns into summaries: clusters planned behind the tail, each with its guidance kept word by word and a summary made
of the rest, written in one commit.

Laws: turns are read, never changed; no transaction is open while a model works; nothing is covered twice.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from libravdb_memory import lineage
from libravdb_memory.beside import begun
from libravdb_memory.compact.passed_over import AWAY, counted_extracts
from libravdb_memory.compact.plan import plan
from libravdb_memory.compact.prior import prior_context
from libravdb_memory.compacting.making import Cluster, Contact
from libravdb_memory.compacting.parts import Parts, known_vectors
from libravdb_memory.compacting.report import Declined
from libravdb_memory.compacting.uncovered import starts_of_bundles, uncovered_turns
from libravdb_memory.compacting.writing import Job, Writing
from libravdb_memory.condensing import InVain
from libravdb_memory.errors import CallCancelledError
from libravdb_memory.gating import JUDGED
from libravdb_memory.model import Record
from libravdb_memory.namespaces import history_of
from libravdb_memory.spent import NOTHING
from libravdb_memory.store.protocol import Key, Put, Write
from libravdb_memory.summaries import Node

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EMPTY = "these turns are empty"
_SHARE = 8
"""Clusters whose sentences are embedded together."""
_AHEAD = 2
"""Shares that are embedded before they are needed."""


class ModelAwayError(Exception):
    """No model answered where nothing but its words will do; the message says why."""


class Covering:
    """The part of a compaction that covers turns. What it came to is here, also when it ended early: the summaries it
    made, what each says as a vector, how many rules it kept, what the model was asked for, and what it left.

    Where the writing is held back, every turn behind the tail is covered anew, whatever covers it in the store. With
    `only_with_model` an extract for want of an answer ends it."""

    def __init__(
        self, parts: Parts, job: Job, writing: Writing, contact: Contact, *, only_with_model: bool = False
    ) -> None:
        self._parts = parts
        self._job = job
        self._writing = writing
        self._contact = contact
        self._only_with_model = only_with_model
        self._declined: dict[tuple[str, ...], Declined] = {}
        self._placed: list[tuple[int, Node]] = []
        self._summaries: tuple[Node, ...] = ()
        self.said: dict[str, NDArray[np.float32]] = {}
        self.guidance = 0
        self.spent = NOTHING
        self.reason = ""

    @property
    def summaries(self) -> tuple[Node, ...]:
        """As many as are in the store."""
        return () if self._writing.held_back else self._summaries

    def run(self) -> None:
        """Round after round: turns that were declined may go together otherwise once their neighbours are covered."""
        clusters, self.reason = self._planned()
        if clusters:
            self._contact.hear(self._parts.maker.warm_up(self._job.cancelled))
        while clusters:
            before = len(self._summaries)
            self._cover_clusters(clusters)
            again = self._planned()[0] if len(self._summaries) > before else []
            clusters = [records for records in again if not self._was_declined(records)]
        self.guidance += self._writing.swap()

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
        earlier = self._placed if self._writing.held_back else self._placed_roots()
        with self._preparing(clusters) as prepared:
            for number, records in enumerate(clusters):
                if self._job.cancelled():
                    raise CallCancelledError("compaction")
                self._job.tell(len(clusters) - number)
                if number % _SHARE == 0:
                    next(prepared)
                node = self._cover(records, [node for last, node in earlier if last < records[0].ref])
                self._job.steps.done += 1
                if node is not None:
                    insort(earlier, (records[-1].ref, node), key=lambda placed: placed[0])

    @contextmanager
    def _preparing(self, clusters: Sequence[Sequence[Record]]) -> Generator[Iterator[None]]:
        """While the model embeds the sentences of a share, the clusters before it are read, priced and written. Each
        step waits for the next share."""
        shares = iter([clusters[at : at + _SHARE] for at in range(0, len(clusters), _SHARE)])
        pool = ThreadPoolExecutor(self._parts.maker.hands, "libravdb-compaction-ahead")
        ahead = deque[Callable[[], None]]()

        def go_ahead(count: int) -> None:
            ahead.extend(begun(pool, partial(self._prepare, share)) for share in islice(shares, count))

        def prepared() -> Iterator[None]:
            while ahead:
                ahead.popleft()()
                go_ahead(1)
                yield

        try:
            go_ahead(_AHEAD)
            yield prepared()
        finally:
            pool.shutdown(cancel_futures=True)

    def _prepare(self, clusters: Sequence[Sequence[Record]]) -> None:
        self._parts.maker.prepare(clusters, self._job.cancelled)

    def _placed_roots(self) -> list[tuple[int, Node]]:
        """The summaries that nothing covers, each with the ref of the last turn below it, in that order."""
        store, history = self._parts.store, history_of(self._job.namespace)
        nodes = lineage.roots(store, self._job.namespace, self._job.session)
        lasts = [store.get(Key(history, node.last, self._job.session)) for node in nodes]
        placed = [(last.ref, node) for last, node in zip(lasts, nodes, strict=True) if last is not None]
        return sorted(placed, key=lambda found: found[0])

    def _cover(self, records: Sequence[Record], earlier: Sequence[Node]) -> Node | None:
        if not any(record.text.strip() for record in records):
            self._decline(records, EMPTY)
            return None
        prior = self._prior(earlier)
        vectors = known_vectors(self._parts, records)
        cluster = Cluster(tuple(records), self._gating_scores(records), vectors, prior[0], self._contact.away)
        made = self._parts.maker.cover(cluster, self._job.cancelled)
        self._contact.hear(made.away)
        self.spent += made.spent
        if self._only_with_model and made.passed_over is not None and made.passed_over.reason in AWAY:
            raise ModelAwayError(counted_extracts([made.passed_over])[0].words())
        condensed = made.condensed
        guidance: list[Write] = [Put(shard.draft(self._job.namespace), replace=True) for shard in made.shards]
        if isinstance(condensed, InVain):
            self._decline(records, condensed.reason)
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
        node = replace(node, passed_over=made.passed_over)
        below = [Key(record.collection, record.id, record.group) for record in records]
        self.guidance += self._writing.cover(node, below, guidance)
        self.said[node.id] = condensed.vector
        self._summaries = (*self._summaries, node)
        return node

    def _decline(self, records: Sequence[Record], reason: str) -> None:
        ids = tuple(record.id for record in records)
        self._declined[ids] = self._parts.declined_as([(record.id, record.text) for record in records], reason)

    def _gating_scores(self, records: Sequence[Record]) -> Mapping[int, float]:
        marks = self._parts.store.marks([record.ref for record in records], JUDGED)
        return {ref: float(score) for ref, data in marks.items() if isinstance(score := data.get("g"), int | float)}

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
