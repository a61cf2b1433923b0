"""What commands ask of a store itself: no model is needed, so a missing or other one is no obstacle.

Laws: what an export reads comes in pages of a bounded number of records. A path is absolute: who asks and who answers
may be in different folders.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from libravdb_memory import lineage, receipts, verifying
from libravdb_memory.gate.regret import Outcome
from libravdb_memory.journal import Entry, Journal
from libravdb_memory.judgements import Judgement, judgements
from libravdb_memory.lineage import Expansion
from libravdb_memory.model import Record, Turn
from libravdb_memory.namespaces import resolve_namespace
from libravdb_memory.serve.bridge import lookup
from libravdb_memory.serve.bridge.census import Census, census, census_of_turn
from libravdb_memory.serve.bridge.lookup import SessionName
from libravdb_memory.store.protocol import (
    CollectionInfo,
    Page,
    Progress,
    Store,
    StoredMark,
    StoreStatus,
    Verification,
)

MOST_RECORDS = 64
"""Of one page: a record may have megabytes."""

_ALL = 1_000_000


class Keeping:
    def __init__(self, store: Store) -> None:
        self._store = store

    # ── names ────────────────────────────────────────────────────────────────────────────────────────────────────

    def sessions(self, user: str | None) -> list[SessionName]:
        return lookup.sessions_of(self._store, user)

    def session(self, user: str | None, session: str) -> SessionName:
        return lookup.named_session(self._store, user, session)

    def expand(
        self, summary: str, user: str | None, session: str | None, *, depth: int | None, limit: int, after: str | None
    ) -> Expansion:
        """Below the summary that is named so, in full or by its first characters."""
        node = lookup.named_summary(self._store, summary, user, session)
        return lineage.expand(self._store, node, depth=depth, limit=limit, after=after)

    def record(self, given: str, user: str) -> str:
        """The name of a record, if one has it; the first characters of a summary's id lead to the whole."""
        return lookup.named_record(self._store, given, user)

    def census(self, user: str | None, session: str | None) -> Census:
        return census(self._store, user, session)

    def census_of_turn(self, turn: Turn) -> Census:
        return census_of_turn(self._store, turn)

    # ── what was decided and noted ───────────────────────────────────────────────────────────────────────────────

    def outcomes(self, user: str) -> list[Outcome]:
        """What became of every turn that the gate judged."""
        found = judgements(self._store, resolve_namespace(user))
        return [Outcome(each.signals["g"], each.durable, each.uses) for each in found]

    def judgements(self, user: str) -> list[Judgement]:
        return list(judgements(self._store, resolve_namespace(user)))

    def journal(self, session: str | None, limit: int | None) -> tuple[Entry, ...]:
        """Oldest first; with a limit the newest of them."""
        return Journal(self._store, _ALL).entries(session, limit)

    # ── the whole ────────────────────────────────────────────────────────────────────────────────────────────────

    def status(self) -> StoreStatus:
        return self._store.status()

    def verify(self, progress: Progress | None = None) -> Verification:
        return receipts.verified(self._store, verifying.verified(self._store, self._store.verify(progress)))

    def backup(self, target: Path, progress: Progress | None = None) -> None:
        self._store.backup(target, progress)

    def rebuild_indexes(self, progress: Progress | None = None) -> None:
        self._store.rebuild_indexes(progress)

    def collections(self) -> tuple[CollectionInfo, ...]:
        return self._store.collections()

    def page(self, collection: str, *, after: str | None = None, limit: int = MOST_RECORDS) -> Page:
        return self._store.page(collection, after=after, limit=min(limit, MOST_RECORDS))

    def fetch(self, refs: Sequence[int]) -> dict[int, Record]:
        return self._store.fetch(refs)

    def edges(self, after: tuple[int, int] | None = None, limit: int = 10_000) -> tuple[tuple[int, int], ...]:
        return self._store.edges(after, limit)

    def all_marks(self, after: tuple[int, str] | None = None, limit: int = 10_000) -> tuple[StoredMark, ...]:
        return self._store.all_marks(after, limit)
