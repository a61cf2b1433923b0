"""What changed in the store, as events for those who watch. No coroutines: this runs in a thread.

Laws: events follow the change log, in its order; each has the sequence of its change. Whoever may not read what an
event is about is not told of it. Of too many changes at once none is told, but that something was missed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from libravdb_memory.authored import DOCUMENTS
from libravdb_memory.gating import JUDGED
from libravdb_memory.identity import Json
from libravdb_memory.model import Record
from libravdb_memory.namespaces import namespace_of, summarised_namespace_of
from libravdb_memory.serve.access import Access
from libravdb_memory.serve.forms import form
from libravdb_memory.serve.inspecting.rows import gate_form, node_row, turn_rows
from libravdb_memory.serve.jobs import Job
from libravdb_memory.serve.methods import EVERYTHING, NOTHING
from libravdb_memory.serve.service import Service
from libravdb_memory.store.protocol import Change
from libravdb_memory.summaries import node_of

MOST_AT_ONCE = 1000
_TEXT = 600
_RECEIPTS = "receipt:"
_MOST_UNJUDGED = 500
_JUDGED_WITHIN_S = 600.0
_HEALTH_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Event:
    """`reach` are the namespaces that it tells of, as of a method; `id` is the sequence of its change."""

    name: str
    data: Mapping[str, Json]
    id: int | None = None
    reach: frozenset[str] = NOTHING

    def is_for(self, access: Access, namespace: str | None) -> bool:
        """Whether one with this access, who asked for this namespace alone or for all, is told."""
        reached = access.namespaces is None or self.reach <= access.namespaces
        about_one = self.reach not in (NOTHING, EVERYTHING)
        return reached and (namespace is None or not about_one or self.reach == frozenset({namespace}))


class Feed:
    """`sequence` is how far the change log was read."""

    def __init__(self, service: Service, now: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._now = now
        self._unjudged: dict[int, tuple[Record, float]] = {}  # with the time until which a judgement is waited for
        self._jobs: dict[str, Job] = {}
        self._health_at = -_HEALTH_EVERY_S
        self._health_due = False
        self.sequence = 0

    def begin(self) -> None:
        """From now on."""
        self.sequence = self._service.store.status().sequence
        self._unjudged.clear()
        self._jobs = {job.id: job for job in self._service.jobs.all()}

    @property
    def is_busy(self) -> bool:
        """Something is expected to happen soon."""
        return bool(self._unjudged) or self._health_due or any(job.state == "running" for job in self._jobs.values())

    def poll(self) -> list[Event]:
        """What happened since the last time."""
        told = [*self._changed(), *self._judged(), *self._moved()]
        self._health_due = self._health_due or bool(told)
        if self._health_due and self._now() - self._health_at >= _HEALTH_EVERY_S:
            self._health_at, self._health_due = self._now(), False
            told.append(self._health())
        return told

    def missed(self, since: int, until: int) -> list[Event] | None:
        """What is told of these changes to one who comes back; None when they are too many, or not ours."""
        if not 0 <= since <= until or until - since > MOST_AT_ONCE:
            return None
        changes = self._service.store.changes_since(since, MOST_AT_ONCE)
        return list(self._events([change for change in changes if change.sequence <= until], note=False))

    def _changed(self) -> list[Event]:
        changes = self._service.store.changes_since(self.sequence, MOST_AT_ONCE)
        if len(changes) == MOST_AT_ONCE:
            self.begin()
            return [reset(self.sequence)]
        if not changes:
            return []
        self.sequence = changes[-1].sequence
        return list(self._events(changes, note=True))

    def _events(self, changes: Sequence[Change], *, note: bool) -> Iterator[Event]:
        store = self._service.store
        records = store.fetch([change.ref for change in changes if change.kind == "put"])
        turns = [record for record in records.values() if namespace_of(record.collection) is not None]
        rows = dict(zip((turn.ref for turn in turns), self._rows(turns), strict=True))
        if note:
            self._note_unjudged(turns, rows)
        for change in changes:
            record = records.get(change.ref)
            if change.kind == "put" and record is not None:
                yield from _of_record(change.sequence, record, rows)
        erased = [change.sequence for change in changes if change.kind == "erase"]
        if erased:
            yield Event("erasure", {"records": len(erased)}, erased[-1], EVERYTHING)

    def _rows(self, turns: Sequence[Record]) -> list[dict[str, Json]]:
        return turn_rows(self._service.store, self._service.memory.counter, turns, _TEXT)

    def _note_unjudged(self, turns: Iterable[Record], rows: Mapping[int, Mapping[str, Json]]) -> None:
        until = self._now() + _JUDGED_WITHIN_S
        for turn in turns:
            if turn.metadata.get("role") == "user" and rows[turn.ref]["gate"] is None:
                self._unjudged[turn.ref] = turn, until
        for ref in list(self._unjudged)[:-_MOST_UNJUDGED]:
            del self._unjudged[ref]

    def _judged(self) -> Iterator[Event]:
        if not self._unjudged:
            return
        judged, now = self._service.store.marks(list(self._unjudged), JUDGED), self._now()
        for ref, (turn, until) in list(self._unjudged.items()):
            if (gate := gate_form(judged.get(ref))) is not None:
                of = namespace_of(turn.collection) or ""
                yield Event(
                    "gate", {"id": turn.id, "userId": of, "sessionId": turn.group, **gate}, reach=frozenset({of})
                )
            if gate is not None or until < now:
                del self._unjudged[ref]

    def _moved(self) -> Iterator[Event]:
        jobs = {job.id: job for job in self._service.jobs.all()}
        for job in reversed(jobs.values()):
            if self._jobs.get(job.id) != job:
                yield Event("job", form(job), reach=EVERYTHING)
        self._jobs = jobs

    def _health(self) -> Event:
        now = self._service.memory.status()
        told: dict[str, Json] = {
            "turns": now.turns,
            "summaries": now.summaries,
            "pending": now.indexing.pending,
            "judged": now.gate.judged,
            "durable": now.gate.durable,
            "regretted": now.gate.regretted,
            "failure": now.indexing.failure or now.compaction.failure,
        }
        return Event("health", told, reach=EVERYTHING)


def reset(sequence: int) -> Event:
    return Event("reset", {"sequence": sequence}, sequence)


def _of_record(sequence: int, record: Record, rows: Mapping[int, Mapping[str, Json]]) -> Iterator[Event]:
    if (namespace := namespace_of(record.collection)) is not None:
        yield Event("turn", rows[record.ref], sequence, frozenset({namespace}))
    elif (namespace := summarised_namespace_of(record.collection)) is not None:
        whose: dict[str, Json] = {"userId": namespace, "sessionId": record.group}
        yield Event("summary", {**node_row(node_of(record), None), **whose}, sequence, frozenset({namespace}))
    elif record.collection.startswith(_RECEIPTS):
        namespace = record.collection.removeprefix(_RECEIPTS)
        told: dict[str, Json] = {"receiptId": record.id, "userId": namespace, "createdMs": record.ts}
        yield Event("context", told, sequence, frozenset({namespace}))
    elif record.collection == DOCUMENTS:
        yield Event("documents", {"names": [record.id]}, sequence)
