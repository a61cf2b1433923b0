"""Embedding in the background: records become findable by meaning soon after they are stored.

Laws: ingest never waits for a model, nor an answer for what is done after it. What is not yet embedded is known to the
store, so a crash at any point only delays it. A text the engine cannot take does not hold up the others. A failing
engine is retried with growing pauses and its reason is visible in `state`; nothing is swallowed. What may come later
leaves the processors to what is under way, but neither for long nor while anybody waits for it.

The indexer fills one space, that of the configured embedder. If another space is active (the store is being
re-embedded), it switches to the filled one in one step when nothing is missing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from libravdb_memory.engines.places import places
from libravdb_memory.engines.protocol import Embedder
from libravdb_memory.engines.readings import Readings, read_texts, token_rule_of
from libravdb_memory.errors import LibraVDBError, StoreClosedError, TextRefusedError
from libravdb_memory.store.forking import abandon_in_children
from libravdb_memory.store.protocol import Space, Store, Unembedded

_log = logging.getLogger(__name__)
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 60.0
_HEAD_START_S = 0.004
"""Whoever told of new work may have an answer to give first, and needs the interpreter for it."""
_GATHERING_S = 0.05
"""While something else is under way: several texts at once cost it less than one by one."""
_LONGEST_PUT_OFF_S = 30.0


@dataclass(frozen=True, slots=True)
class IndexingState:
    """`failure` is why embedding stands still (None while it works); `unembeddable` counts texts that the engine
    refused one by one: they are found by wording only until the store is re-embedded."""

    pending: int
    failure: str | None
    unembeddable: int


class Indexer:
    """`then` is called with the space after each batch, and once more when nothing is left, while searches use it.
    `elsewhere` may give what the embedder would, without work for this process; it gives None when it cannot. `later`
    says how the names of collections begin whose records had better come later; when that changes, call `notify`."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        then: Callable[[Space], None] | None = None,
        elsewhere: Callable[[Sequence[str]], Readings | None] = lambda _: None,
        later: Callable[[], Sequence[str]] = tuple,
        batch_size: int = 64,
        longest_put_off_s: float = _LONGEST_PUT_OFF_S,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._elsewhere = elsewhere
        self._later = later
        self._longest_put_off_s = longest_put_off_s
        self._then = then
        self._batch_size = batch_size
        self._changed = threading.Condition()
        self._work_arrived = True
        self._put_off_since: float | None = None
        self._lies_put_off = False
        self._awaited = 0
        self._stopping = False
        self._idle = False
        self._failures = 0
        self._failure: str | None = None
        self._unembeddable = 0
        space = store.add_space(embedder.space.fingerprint, embedder.space.label, embedder.space.dimensions)
        self._token_rule = token_rule_of(embedder)
        self._space = store.keep_tokens(space, self._token_rule)
        self._thread = threading.Thread(target=self._run, name="libravdb-indexing", daemon=True)
        abandon_in_children(self)

    @property
    def switched(self) -> bool:
        """The configured space is the one that searches use."""
        return self._space.active

    @property
    def stopped(self) -> bool:
        return self._stopping

    @property
    def state(self) -> IndexingState:
        return IndexingState(self._store.count_unembedded(self._space), self._failure, self._unembeddable)

    def start(self) -> None:
        self._thread.start()

    def notify(self) -> None:
        """Something new was stored."""
        with self._changed:
            self._work_arrived = True
            self._idle = False
            self._changed.notify_all()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Until everything stored before this call is embedded. False when the time is up or the engine fails."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with self._changed, self._awaiting():
            failures_before = self._failures
            while not self._idle:
                if self._stopping or (self._failure is not None and self._failures > failures_before):
                    return False
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._changed.wait(left)
            return True

    @contextmanager
    def _awaiting(self) -> Generator[None]:
        self._awaited += 1
        try:
            if not self._idle:
                self._work_arrived = True
                self._changed.notify_all()
            yield
        finally:
            self._awaited -= 1

    def stop(self, patience_s: float | None = None) -> bool:
        """Whether it ended in so many seconds."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(patience_s)
        return not self._thread.is_alive()

    def abandon(self) -> None:
        """In a forked child, where the thread does not exist."""
        self._changed = threading.Condition()
        self._stopping = True

    # ── the background thread ────────────────────────────────────────────────────────────────────────────────────

    def _run(self) -> None:
        with places.behind("arriving"):
            self._keep_up()

    def _keep_up(self) -> None:
        pause_s = _FIRST_PAUSE_S
        while not self._stopping:
            try:
                self._embedder.warm_up()
                self._catch_up()
            except StoreClosedError:
                return
            except Exception as error:  # the thread's outermost frame: whatever it is, it must be seen and retried
                self._report_failure(error, pause_s)
                self._rest(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
            else:
                pause_s = _FIRST_PAUSE_S
                self._await_work()

    def _catch_up(self) -> None:
        while not self._stopping:
            with self._changed:
                self._work_arrived = False
            later = self._put_off()
            batch = self._store.unembedded(self._space, self._batch_size, but=later)
            if batch:
                self._embed(batch)
            elif self._all_done(later):
                self._switch_when_filled()
            if self._then is not None and self._space.active:
                self._then(self._space)
            self._failure = None
            if not batch:
                return

    def _put_off(self) -> Sequence[str]:
        """How the names begin of what is not embedded now."""
        later = self._later()
        if not later:
            self._put_off_since = None
        elif self._put_off_since is None:
            self._put_off_since = time.monotonic()
        return later if self._may_put_off_s() > 0.0 and not self._awaited else ()

    def _may_put_off_s(self) -> float:
        """How much longer."""
        if self._put_off_since is None:
            return 0.0
        return max(self._put_off_since + self._longest_put_off_s - time.monotonic(), 0.0)

    def _all_done(self, later: Sequence[str]) -> bool:
        """When nothing else is left: whether nothing was put off either."""
        self._lies_put_off = bool(later) and bool(self._store.unembedded(self._space, 1))
        return not self._lies_put_off

    def _embed(self, batch: Sequence[Unembedded]) -> None:
        """Embed and store one batch; halve it to isolate a text that the engine refuses."""
        try:
            texts = [item.text for item in batch]
            vectors, tokens = self._elsewhere(texts) or read_texts(self._embedder, texts)
        except TextRefusedError as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                self._embed(batch[:middle])
                self._embed(batch[middle:])
                return
            vectors, tokens = self._blank(batch[0], error)
        refs, versions = [item.ref for item in batch], [item.version for item in batch]
        self._store.put_vectors(self._space, refs, vectors, versions=versions, tokens=tokens)

    def _blank(self, item: Unembedded, error: TextRefusedError) -> Readings:
        """A zero vector is similar to nothing: the record stays findable by its words."""
        import numpy as np

        _log.warning("record %d is found by wording only: %s", item.ref, error)
        self._unembeddable += 1
        zero = np.zeros((1, self._space.dimensions), dtype=np.float32)
        return zero, [b""] if self._token_rule else None

    def _switch_when_filled(self) -> None:
        if self._space.active:
            return
        self._store.activate_space(self._space)
        for space in self._store.spaces():
            if space.key == self._space.key:
                self._space = space
            else:
                self._store.drop_space(space)

    def _report_failure(self, error: Exception, pause_s: float) -> None:
        expected = isinstance(error, LibraVDBError)
        _log.warning("embedding stands still: %s; next attempt in %.1f s", error, pause_s, exc_info=not expected)
        with self._changed:
            self._failure = str(error) if expected else repr(error)
            self._failures += 1
            self._changed.notify_all()

    def _rest(self, pause_s: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._stopping, pause_s)

    def _await_work(self) -> None:
        with self._changed:
            if not self._work_arrived and not self._lies_put_off:
                self._idle = True
                self._failure = None
                self._changed.notify_all()
            patience_s = self._may_put_off_s() if self._lies_put_off else None
            self._changed.wait_for(lambda: self._work_arrived or self._stopping, patience_s)
            at_leisure = self._put_off_since is not None and not self._awaited
            self._changed.wait_for(lambda: self._stopping, _GATHERING_S if at_leisure else _HEAD_START_S)
