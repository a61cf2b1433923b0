"""What a compaction writes, and how: guidance, summary, edges and state together, if nobody was faster.

Law: a commit goes through only if the session's state is what it was when the work began and nothing was erased since,
so that two compactions cannot both win and no summary outlives a turn it was made of. A commit does not wait for the
disk, which turns that arrive meanwhile want too: `finish` does, once for all. A power loss leaves the first so many.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from libravdb_memory.compacting.parts import Parts
from libravdb_memory.condensing import Cancelled, Condensed
from libravdb_memory.errors import ConflictError, NotFoundError, StaleVersionError
from libravdb_memory.excluding import OvertakenError
from libravdb_memory.identity import Json, canonical_json
from libravdb_memory.model import Draft
from libravdb_memory.namespaces import states_of
from libravdb_memory.store.protocol import Commit, Expect, Key, Link, Progress, Put, Store, Write
from libravdb_memory.summaries import Node, draft_of


@dataclass(slots=True)
class Steps:
    """How many clusters, of turns or of summaries, are through."""

    done: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """One compaction of one session."""

    namespace: str
    session: str
    now_ms: int
    cancelled: Cancelled
    progress: Progress | None = None
    steps: Steps = field(default_factory=Steps)

    def tell(self, to_come: int) -> None:
        """How many clusters are through, of those and the known ones `to_come`."""
        if self.progress is not None and (total := self.steps.done + to_come):
            self.progress(self.steps.done, total)


class Writing:
    """The session's state as it was found, and every commit of one compaction."""

    def __init__(self, parts: Parts, job: Job) -> None:
        self._parts = parts
        self._job = job
        self._epoch = parts.excluding.epoch
        self._state = _state_of(job.namespace, job.session)
        self._version = generation_of(parts.store, job.namespace, job.session)
        self._instead: list[Write] | None = None
        self._kept_back: list[Write] = []
        self._removals: Sequence[Write] = ()
        self._has_written = False

    @property
    def held_back(self) -> bool:
        """Whether summaries wait to be written, all at once."""
        return self._instead is not None

    def hold_back(self, removals: Sequence[Write]) -> None:
        """From now on summaries and guidance wait, to be written by `swap` in one commit behind these removals."""
        self._instead, self._removals = [], removals

    def swap(self) -> int:
        """Write what was held back. How many pieces of guidance among it are new."""
        writes = [*self._removals, *self._kept_back, *(self._instead or ())]
        new = self._write([*writes, self._next_state()], len(self._kept_back)) if writes else 0
        self._instead = None  # not before: whoever is overtaken has written nothing
        return new

    def finish(self) -> None:
        """All that was written is on disk when this returns."""
        if self._has_written:
            self._parts.store.sync()

    def node(
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
            id=_node_id(self._job.namespace, self._job.session, level, children),
            namespace=self._job.namespace,
            session=self._job.session,
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
            compacted_at=self._job.now_ms,
            loss=condensed.loss,
            pins_at=condensed.pins_at,
            prior=prior if condensed.method == "abstractive" else (),
        )

    def cover(self, node: Node, below: Sequence[Key], guidance: Sequence[Write] = ()) -> int:
        """Write the summary above `below`, and the guidance found in it. How many pieces of guidance are new."""
        edges: list[Write] = [Link(node.key, key) for key in below]
        if self._instead is not None:
            self._instead += [Put(draft_of(node)), *edges]
            return self.keep(guidance)
        return self._write([*guidance, Put(draft_of(node)), *edges, self._next_state()], len(guidance))

    def keep(self, guidance: Sequence[Write]) -> int:
        """Write guidance alone. How many pieces of it are new."""
        if self._instead is not None:
            self._kept_back += guidance
            return 0
        return self._write(guidance, len(guidance)) if guidance else 0

    def _commit(self, writes: Sequence[Write]) -> Commit:
        """All of it or nothing, if nobody was faster."""
        with self._parts.excluding.writing(self._epoch):
            commit = self._parts.store.commit([Expect(self._state, self._version), *writes], may_wait=True)
        self._has_written = True
        self._parts.wrote()
        states = [record for record in commit.records if record.collection == self._state.collection]
        self._version = states[-1].version if states else self._version
        return commit

    def _write(self, writes: Sequence[Write], guidance: int) -> int:
        """A turn that is there no more, or covered by now, is as good as an erasure: whatever was made from it is out
        of date."""
        try:
            commit = self._commit(writes)
        except StaleVersionError:
            raise
        except (NotFoundError, ConflictError) as error:
            raise OvertakenError from error
        kept = list(zip(commit.records, commit.fresh, strict=True))[:guidance]
        return sum(fresh and record.version == 1 for record, fresh in kept)

    def _next_state(self) -> Write:
        note: dict[str, Json] = {"compacted_at": self._job.now_ms, "generation": self._version + 1}
        draft = Draft(self._state.collection, self._state.id, canonical_json(note), group=self._job.session)
        return Put(draft, replace=True, searchable=False)


def generation_of(store: Store, namespace: str, session: str) -> int:
    """How often what covers the session was written; it changes with every summary, and once with a rebuild."""
    found = store.get(_state_of(namespace, session))
    return 0 if found is None else found.version


def _state_of(namespace: str, session: str) -> Key:
    return Key(states_of(namespace), "state", session)


def _node_id(namespace: str, session: str, level: int, children: Sequence[str]) -> str:
    named = canonical_json([namespace, session, level, list(children)])
    return f"summary:{hashlib.sha256(named.encode()).hexdigest()[:16]}"
