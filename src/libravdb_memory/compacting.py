"""Compaction at work: old turns of a session are covered by summaries, and summaries by summaries.

Path: the turns behind the tail that nothing covers yet, planned into clusters; for each one its guidance kept word by
word, a summary made of it, and all of that written in one commit; then summaries folded while they are too many.

Laws: turns are read, never changed. No transaction is open while a model works. A commit goes through only if the
session's state is what it was when the work began, so that two compactions cannot both win; it holds guidance, summary,
edges and state together, so that a crash leaves the old or the new. Running again comes to an end, and covers nothing
twice.
"""

from __future__ import annotations

import hashlib
import math
import threading
from bisect import insort
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from libravdb_memory import lineage
from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.assemble.tail import TailTurn, bundle_starts
from libravdb_memory.compact.plan import Root, folds, plan
from libravdb_memory.compact.preserve import asks_a_model
from libravdb_memory.compact.prior import prior_context
from libravdb_memory.compact.sanitise import sanitise
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.condensing import Cancelled, Condensed, Condenser, Sources
from libravdb_memory.elevating import Elevation
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.engines.summarising.protocol import Summariser
from libravdb_memory.errors import CallCancelledError, ConflictError, NotFoundError, StaleVersionError
from libravdb_memory.excluding import Excluding, OvertakenError
from libravdb_memory.gating import JUDGED
from libravdb_memory.identity import Json, canonical_json
from libravdb_memory.ingest.turns import turn_of
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import history_of, states_of, summaries_of
from libravdb_memory.nimble import nimble
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import (
    Commit,
    Equals,
    Expect,
    Key,
    Link,
    Progress,
    Put,
    Remove,
    Store,
    Write,
)
from libravdb_memory.summaries import Node, draft_of
from libravdb_memory.tailing import tail_of, tail_turns
from libravdb_memory.tokens import TokenCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TRIVIAL = "trivial: one turn alone has no summary"
OVERTAKEN = "something was erased or compacted meanwhile; the next compaction sees to it"
CANCELLED = "ended before it was through"
_PREPARED = 8
"""Clusters whose sentences are embedded together."""


@dataclass(frozen=True, slots=True)
class Declined:
    """Turns or summaries that stay as they are: the ids of the first and the last of them, how many, what they cost,
    and why."""

    first: str
    last: str
    count: int
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did. `summaries` are the new ones of turns, `folds` those of summaries, `guidance` counts the
    rules kept word by word. `reason` says why there was nothing to do, or why it ended early; else it is empty."""

    namespace: str
    session: str
    summaries: tuple[Node, ...] = ()
    folds: tuple[Node, ...] = ()
    guidance: int = 0
    declined: tuple[Declined, ...] = ()
    reason: str = ""

    @property
    def turns(self) -> int:
        """That are covered now and were not before."""
        return sum(node.turns for node in self.summaries)

    @property
    def source_tokens(self) -> int:
        return sum(node.source_tokens for node in self.summaries)

    @property
    def tokens(self) -> int:
        return sum(node.tokens for node in self.summaries)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What every compaction works with."""

    store: Store
    embedder: Embedder
    counter: TokenCounter
    settings: CompactionSettings
    assembly: AssemblySettings
    excluding: Excluding
    condenser: Condenser
    elevation: Elevation


class Compactor:
    """Safe to use from many threads; one compaction of a session at a time."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        counter: TokenCounter,
        settings: CompactionSettings,
        assembly: AssemblySettings,
        excluding: Excluding,
        model: Summariser | None = None,
    ) -> None:
        condenser = Condenser(embedder, counter, settings, model)
        elevation = Elevation(embedder, counter, settings)
        self._parts = _Parts(store, embedder, counter, settings, assembly, excluding, condenser, elevation)
        self._free = threading.Condition()
        self._busy: set[tuple[str, str]] = set()

    def compact(
        self,
        namespace: str,
        session: str,
        now_ms: int,
        cancelled: Cancelled,
        progress: Progress | None = None,
        *,
        rebuild: bool = False,
    ) -> Compaction:
        """`rebuild` takes the summaries there are away first, and makes all of them anew."""
        with self._alone(namespace, session), nimble():
            return _Run(self._parts, namespace, session, now_ms, cancelled, progress).run(rebuild)

    def close(self) -> None:
        """Let go of the model. What is under way must have ended."""
        self._parts.condenser.close()

    def waiting_tokens(self, namespace: str, session: str) -> int:
        """What the turns cost that could be compacted now."""
        turns = _uncovered_turns(self._parts, namespace, session)
        return sum(self._parts.counter.count(record.text) for record in turns.records[: turns.tail_start])

    @contextmanager
    def _alone(self, namespace: str, session: str) -> Generator[None]:
        mine = (namespace, session)
        with self._free:
            self._free.wait_for(lambda: mine not in self._busy)
            self._busy.add(mine)
        try:
            yield
        finally:
            with self._free:
                self._busy.discard(mine)
                self._free.notify_all()


@dataclass(frozen=True, slots=True)
class _Uncovered:
    """The turns of a session that nothing covers, oldest first, and the tail from `tail_start` on. `breaks` are the
    places before which others lie."""

    records: tuple[Record, ...]
    tail_start: int
    breaks: frozenset[int]


def _uncovered_turns(parts: _Parts, namespace: str, session: str) -> _Uncovered:
    history = history_of(namespace)
    tail = tail_of(parts.store, parts.counter, parts.assembly, history, session)
    ends_before = tail[0].ref if tail else math.inf
    older = [record for record in lineage.uncovered(parts.store, history, session) if record.ref < ends_before]
    row = [*older, *tail[:1]]
    places = parts.store.places([record.ref for record in row])
    breaks = frozenset(
        index
        for index, (before, record) in enumerate(pairwise(row), start=1)
        if record.ref in places and places[record.ref].before != before.ref
    )
    return _Uncovered((*older, *tail), len(older), breaks)


def _bundle_starts(turns: _Uncovered) -> tuple[int, ...]:
    """For each turn, the place at which its bundle begins. Something stands for the others at a break: who comes after
    them answers nobody before them, but the result of a tool call belongs to it across them."""
    spread: list[TailTurn] = []
    places: list[int] = []
    for index, turn in enumerate(tail_turns(turns.records)):
        spread += [TailTurn("", "", "")] if index in turns.breaks else []
        places.append(len(spread))
        spread.append(turn)
    starts, index_at = bundle_starts(spread), {place: index for index, place in enumerate(places)}
    return tuple(index_at[starts[place]] for place in places)


def _vectors(parts: _Parts, records: Sequence[Record]) -> NDArray[np.float32]:
    """Of each record, in the space of recall; made where the store has none yet."""
    import numpy as np

    space = next((space for space in parts.store.spaces() if space.active), None)
    mine = space is not None and space.fingerprint == parts.embedder.space.fingerprint
    known = dict(parts.store.get_vectors(space, [record.ref for record in records])) if space and mine else {}
    if lacking := [record for record in records if record.ref not in known]:
        made = parts.embedder.embed_documents([record.text for record in lacking])
        known |= {record.ref: made[row] for row, record in enumerate(lacking)}
    return np.stack([known[record.ref] for record in records])


class _Run:
    """One compaction of one session."""

    def __init__(
        self,
        parts: _Parts,
        namespace: str,
        session: str,
        now_ms: int,
        cancelled: Cancelled,
        progress: Progress | None,
    ) -> None:
        self._parts = parts
        self._namespace = namespace
        self._session = session
        self._now_ms = now_ms
        self._cancelled = cancelled
        self._progress = progress
        self._epoch = parts.excluding.epoch
        self._state = Key(states_of(namespace), "state", session)
        found = parts.store.get(self._state)
        self._version = 0 if found is None else found.version
        self._made = Compaction(namespace, session)
        self._declined: dict[tuple[str, ...], Declined] = {}
        self._done = 0
        self._said: dict[str, NDArray[np.float32]] = {}

    def run(self, rebuild: bool) -> Compaction:
        try:
            if rebuild:
                self._take_away()
            self._cover_turns()
            self._fold_summaries()
        except (OvertakenError, StaleVersionError):
            self._made = replace(self._made, reason=OVERTAKEN)
        except CallCancelledError:
            self._made = replace(self._made, reason=CANCELLED)
        return replace(self._made, declined=(*self._left_bare(), *self._made.declined))

    def _take_away(self) -> None:
        """Every summary of the session; guidance stays."""
        found = every(self._parts.store, summaries_of(self._namespace), Equals("group", self._session))
        keys = [Key(record.collection, record.id, record.group) for record in found]
        if keys:
            self._commit([*map(Remove, keys), self._next_state()])

    # ── turns into summaries ─────────────────────────────────────────────────────────────────────────────────────

    def _cover_turns(self) -> None:
        """Round after round: turns that were declined may go together otherwise once their neighbours are covered."""
        clusters, reason = self._planned()
        self._made = replace(self._made, reason=reason)
        if clusters:
            self._parts.condenser.warm_up(self._cancelled)
        while clusters:
            before = self._made.summaries
            self._cover_clusters(clusters)
            again = self._planned()[0] if {*before} < {*self._made.summaries} else []
            clusters = [records for records in again if not self._was_declined(records)]
        self._tell(self._done, self._done)

    def _planned(self) -> tuple[list[list[Record]], str]:
        """The clusters to cover; without any, the reason."""
        turns = _uncovered_turns(self._parts, self._namespace, self._session)
        ids = [record.id for record in turns.records]
        starts = _bundle_starts(turns)
        planned = plan(ids, turns.tail_start, frozenset(), starts, self._parts.settings, turns.breaks)
        return [[turns.records[place] for place in cluster.members] for cluster in planned.clusters], planned.declined

    def _cover_clusters(self, clusters: Sequence[Sequence[Record]]) -> None:
        total, earlier = self._done + len(clusters), self._placed_roots()
        with ThreadPoolExecutor(1, "libravdb-compaction-ahead") as beside:
            ready = beside.submit(self._prepare, clusters[:_PREPARED])
            for number, records in enumerate(clusters):
                if self._cancelled():
                    raise CallCancelledError("compaction")
                self._tell(self._done, total)
                if number % _PREPARED == 0:
                    ready.result()
                    ready = beside.submit(self._prepare, clusters[number + _PREPARED : number + 2 * _PREPARED])
                node = self._cover(records, [node for last, node in earlier if last < records[0].ref])
                self._done += 1
                if node is not None:
                    insort(earlier, (records[-1].ref, node), key=lambda placed: placed[0])

    def _prepare(self, clusters: Sequence[Sequence[Record]]) -> None:
        """While the model embeds these sentences, the clusters before are read, priced and written."""
        self._parts.condenser.prepare([_view(record) for records in clusters for record in records], self._cancelled)

    def _placed_roots(self) -> list[tuple[int, Node]]:
        """The summaries that nothing covers, each with the ref of the last turn below it, in that order."""
        store, history = self._parts.store, history_of(self._namespace)
        nodes = lineage.roots(store, self._namespace, self._session)
        lasts = [store.get(Key(history, node.last, self._session)) for node in nodes]
        placed = [(last.ref, node) for last, node in zip(lasts, nodes, strict=True) if last is not None]
        return sorted(placed, key=lambda found: found[0])

    def _cover(self, records: Sequence[Record], earlier: Sequence[Node]) -> Node | None:
        scores = self._gating_scores(records)
        vectors = _vectors(self._parts, records)
        shards = self._parts.elevation.shards(records, scores, vectors)
        guidance: list[Write] = [Put(shard.draft(self._namespace), replace=True) for shard in shards]
        kept_apart = {shard.turn for shard in shards}
        rows = [row for row, record in enumerate(records) if record.id not in kept_apart] or list(range(len(records)))
        rest = [records[row] for row in rows]
        condensed: Condensed | str = TRIVIAL
        prior = self._prior(earlier)
        with_model = self._asks_a_model([scores.get(record.ref) for record in rest])
        if len(records) > 1:
            sources = Sources(
                texts=tuple(record.text for record in rest),
                views=tuple(map(_view, rest)),
                vectors=vectors[rows],
                prior=prior[0],
            )
            condensed = self._parts.condenser.condense(sources, with_model=with_model, cancelled=self._cancelled)
        if isinstance(condensed, str):
            ids = tuple(record.id for record in records)
            self._declined[ids] = self._declined_as([(record.id, record.text) for record in records], condensed)
            self._write(guidance, len(shards))
            return None
        node = self._node(
            condensed,
            level=1,
            children=[record.id for record in records],
            turns=len(records),
            ends=(records[0].id, records[-1].id),
            times=[record.ts for record in records],
            prior=prior[1],
        )
        below = [Key(record.collection, record.id, record.group) for record in records]
        self._write([*guidance, *_covering(node, below), self._next_state()], len(shards))
        self._said[node.id] = condensed.vector
        self._made = replace(self._made, summaries=(*self._made.summaries, node))
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

    # ── summaries into summaries ─────────────────────────────────────────────────────────────────────────────────

    def _fold_summaries(self) -> None:
        declined: set[tuple[str, ...]] = set()
        while not self._cancelled():
            roots = lineage.roots(self._parts.store, self._namespace, self._session)
            runs = folds([Root(node.id, node.tokens, node.level) for node in roots], self._parts.settings)
            by_id = {node.id: node for node in roots}
            fresh = [ids for run in runs if (ids := tuple(root.id for root in run)) not in declined]
            if not fresh:
                return
            for ids in fresh:
                if not self._fold([by_id[node_id] for node_id in ids]):
                    declined.add(ids)

    def _fold(self, nodes: Sequence[Node]) -> bool:
        store = self._parts.store
        if any(store.get(node.key) is None for node in nodes):
            raise OvertakenError
        sources = Sources(
            texts=tuple(part for node in nodes for part in node.parts),
            views=tuple(node.parts[0] for node in nodes),
            vectors=self._vectors_of(nodes),
        )
        with_model = self._parts.condenser.model_ready and any(node.method == "abstractive" for node in nodes)
        condensed = self._parts.condenser.condense(sources, with_model=with_model, cancelled=self._cancelled)
        if isinstance(condensed, str):
            declined = self._declined_as([(node.id, node.text) for node in nodes], condensed)
            self._made = replace(self._made, declined=(*self._made.declined, declined))
            return False
        node = self._node(
            condensed,
            level=1 + max(node.level for node in nodes),
            children=[node.id for node in nodes],
            turns=sum(node.turns for node in nodes),
            ends=(nodes[0].first, nodes[-1].last),
            times=[moment for node in nodes for moment in (node.first_ts, node.last_ts)],
        )
        self._write([*_covering(node, [child.key for child in nodes]), self._next_state()], 0)
        self._said[node.id] = condensed.vector
        self._made = replace(self._made, folds=(*self._made.folds, node))
        return True

    def _vectors_of(self, nodes: Sequence[Node]) -> NDArray[np.float32]:
        """By what they say; of those made in this compaction it is known."""
        import numpy as np

        if lacking := [node for node in nodes if node.id not in self._said]:
            made = self._parts.condenser.vectors([node.parts[0] for node in lacking])
            self._said |= {node.id: made[row] for row, node in enumerate(lacking)}
        return np.stack([self._said[node.id] for node in nodes])

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _node(
        self,
        condensed: Condensed,
        *,
        level: int,
        children: Sequence[str],
        turns: int,
        ends: tuple[str, str],
        times: Sequence[int],
        prior: tuple[str, ...] = (),
    ) -> Node:
        return Node(
            id=_node_id(self._namespace, self._session, level, children),
            namespace=self._namespace,
            session=self._session,
            text=condensed.text,
            level=level,
            children=tuple(children),
            turns=turns,
            first=ends[0],
            last=ends[1],
            first_ts=min(times),
            last_ts=max(times),
            tokens=condensed.tokens,
            source_tokens=condensed.source_tokens,
            method=condensed.method,
            engine=condensed.engine,
            confidence=condensed.confidence,
            align=condensed.align,
            cover=condensed.cover,
            compacted_at=self._now_ms,
            loss=condensed.loss,
            pins_at=condensed.pins_at,
            prior=prior if condensed.method == "abstractive" else (),
        )

    def _next_state(self) -> Write:
        note: dict[str, Json] = {"compacted_at": self._now_ms, "generation": self._version + 1}
        draft = Draft(self._state.collection, self._state.id, canonical_json(note), group=self._session)
        return Put(draft, replace=True, searchable=False)

    def _write(self, writes: Sequence[Write], shards: int) -> None:
        """The first of the writes are the guidance. A turn that is there no more, or covered by now, is as good as an
        erasure: whatever was made from it is out of date."""
        if not writes:
            return
        try:
            commit = self._commit(writes)
        except StaleVersionError:
            raise
        except (NotFoundError, ConflictError) as error:
            raise OvertakenError from error
        self._made = replace(self._made, guidance=self._made.guidance + sum(commit.fresh[:shards]))

    def _commit(self, writes: Sequence[Write]) -> Commit:
        """All of it or nothing, if nobody was faster."""
        with self._parts.excluding.writing(self._epoch):
            commit = self._parts.store.commit([Expect(self._state, self._version), *writes])
        states = [record for record in commit.records if record.collection == self._state.collection]
        self._version = states[-1].version if states else self._version
        return commit

    def _declined_as(self, those: Sequence[tuple[str, str]], reason: str) -> Declined:
        """`those` by id and text."""
        tokens = sum(self._parts.counter.count(text) for _, text in those)
        return Declined(those[0][0], those[-1][0], len(those), tokens, reason)

    def _was_declined(self, records: Sequence[Record]) -> bool:
        """In an earlier round, and so again; of the entries of a turn the last one counts."""
        ids = tuple(record.id for record in records)
        known = self._declined.pop(ids, None)
        if known is not None:
            self._declined[ids] = known
        return known is not None

    def _left_bare(self) -> tuple[Declined, ...]:
        """Of what was declined in any round, that which stayed so."""
        settled = {turn for node in self._made.summaries for turn in node.children}
        left: list[Declined] = []
        for ids, declined in reversed(self._declined.items()):
            if settled.isdisjoint(ids):
                left.append(declined)
            settled.update(ids)
        return tuple(reversed(left))

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None and total:
            self._progress(done, total)


def _covering(node: Node, below: Sequence[Key]) -> list[Write]:
    return [Put(draft_of(node)), *(Link(node.key, key) for key in below)]


def _view(record: Record) -> str:
    """Who speaks and what; nothing where there is nothing to read, so that no name is taken for a text."""
    turn = turn_of(record)
    said = sanitise(turn.text).strip()
    return f"{turn.speaker or turn.role}: {said}" if said else ""


def _node_id(namespace: str, session: str, level: int, children: Sequence[str]) -> str:
    named = canonical_json([namespace, session, level, list(children)])
    return f"summary:{hashlib.sha256(named.encode()).hexdigest()[:16]}"
