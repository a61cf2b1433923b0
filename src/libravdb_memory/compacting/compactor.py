"""Compacting a session, one at a time each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from libravdb_memory.assemble.budget import AssemblySettings
from libravdb_memory.compact.settings import CompactionSettings
from libravdb_memory.compacting.covering import Covering, ModelAwayError
from libravdb_memory.compacting.folding import Folding
from libravdb_memory.compacting.making import Contact, Making
from libravdb_memory.compacting.parts import Parts
from libravdb_memory.compacting.report import CANCELLED, OVERTAKEN, Compaction
from libravdb_memory.compacting.uncovered import uncovered_turns
from libravdb_memory.compacting.writing import Job, Writing
from libravdb_memory.condensing import Cancelled
from libravdb_memory.engines.readings import Readings
from libravdb_memory.errors import CallCancelledError, StaleVersionError
from libravdb_memory.excluding import Excluding, OvertakenError
from libravdb_memory.model import Record
from libravdb_memory.namespaces import guidance_of, summaries_of
from libravdb_memory.nimble import aside, nimble
from libravdb_memory.spent import NOTHING
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals, Key, Progress, Remove, Store
from libravdb_memory.summaries import node_of
from libravdb_memory.tokens import TokenCounter
from libravdb_memory.verifying import wrong_rule

_RULES = 256
_STILL_S = 10.0
"""After a compaction, what it wrote is embedded where it was made, and what arrives meanwhile too."""


class Compactor:
    """Safe to use from many threads; one compaction of a session at a time."""

    def __init__(
        self,
        store: Store,
        counter: TokenCounter,
        settings: CompactionSettings,
        assembly: AssemblySettings,
        excluding: Excluding,
        maker: Making,
        space: str,
        wrote: Callable[[], None] = lambda: None,
    ) -> None:
        self._parts = Parts(store, counter, settings, assembly, excluding, maker, space, wrote)
        self._free = threading.Condition()
        self._busy: set[tuple[str, str]] = set()
        self._reads_until = 0.0

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
        """`rebuild` makes the summaries there are anew, and puts them in the place of the others in one step."""
        given_up = threading.Event()
        job = Job(namespace, session, now_ms, lambda: given_up.is_set() or cancelled(), progress)
        with self._alone(namespace, session), nimble():
            return aside(lambda: _compacted(self._parts, job, rebuild), given_up.set)

    @property
    def busy(self) -> bool:
        """Whether anything is compacted at this time."""
        return bool(self._busy)

    @property
    def sessions(self) -> list[tuple[str, str]]:
        """The namespace and the name of each that is compacted at this time."""
        with self._free:
            return sorted(self._busy)

    def read(self, texts: Sequence[str]) -> Readings | None:
        """While anything is compacted in a process that has the model loaded, and a while after: what that makes of
        texts; else None."""
        return self._parts.maker.read(texts) if self.busy or time.monotonic() < self._reads_until else None

    def close(self) -> None:
        """Let go of the model. What is under way must have ended."""
        self._parts.maker.close()

    def waiting_tokens(self, namespace: str, session: str) -> int:
        """What the turns cost that could be compacted now."""
        turns = uncovered_turns(self._parts, namespace, session)
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
                self._reads_until = time.monotonic() + _STILL_S
                is_last = not self._busy
                self._free.notify_all()
            if is_last:
                self._parts.maker.rest()


def newest_rules(store: Store, namespace: str) -> Sequence[Record]:
    """Those that a later turn may take back."""
    return store.page(guidance_of(namespace), limit=_RULES, newest_first=True).records


def _compacted(parts: Parts, job: Job, rebuild: bool) -> Compaction:
    """What was made before an early end stays, and is told."""
    writing = Writing(parts, job)
    contact = Contact()
    only_with_model = rebuild and _has_words_of_a_model(parts.store, job)
    covering = Covering(parts, job, writing, contact, only_with_model=only_with_model)
    folding = Folding(parts, job, writing, contact, covering.said)
    why_early, removals = "", _removals(parts.store, job) if rebuild else []
    cut_off = NOTHING
    try:
        if rebuild:
            writing.hold_back(removals)
        covering.run()
        folding.run()
    except (OvertakenError, StaleVersionError):
        why_early = OVERTAKEN
    except CallCancelledError as given_up:
        why_early, cut_off = CANCELLED, given_up.spent
    except ModelAwayError as away:
        why_early = f"{away}; nothing was replaced: what a model wrote before is kept"
    writing.finish()
    return Compaction(
        job.namespace,
        job.session,
        summaries=covering.summaries,
        folds=folding.folds,
        guidance=covering.guidance,
        declined=(*covering.declined(), *folding.declined),
        reason=why_early or _reason(covering, removals, job),
        ended_early=bool(why_early),
        spent=covering.spent + folding.spent + cut_off,
    )


def _reason(covering: Covering, removals: Sequence[Remove], job: Job) -> str:
    """Where a rebuild took summaries away and made none, it says so."""
    gone = sum(removal.key.collection == summaries_of(job.namespace) for removal in removals)
    if not gone or covering.summaries:
        return covering.reason
    made = covering.reason or "none could be made anew"
    return f"{made}; what there was ({gone:,}) is taken away, and every turn stands for itself again"


def _has_words_of_a_model(store: Store, job: Job) -> bool:
    records = every(store, summaries_of(job.namespace), Equals("group", job.session))
    return any(node_of(record).method == "abstractive" for record in records)


def _removals(store: Store, job: Job) -> list[Remove]:
    """Of every summary of the session, and of rules that are not what a turn says; other rules stay."""
    mine = Equals("group", job.session)
    rules = every(store, guidance_of(job.namespace), mine)
    wrong = (rule for rule in rules if wrong_rule(store, rule, job.namespace))
    summaries = every(store, summaries_of(job.namespace), mine)
    return [Remove(Key(record.collection, record.id, record.group)) for record in (*summaries, *wrong)]
