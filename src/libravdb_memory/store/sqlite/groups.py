"""A group of works in one transaction.

Law: works take effect in the order they came. Neighbours that only put records are put together; of those, one that is
refused is taken out alone as long as it wrote nothing, else the whole group must be rolled back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.store.sqlite import puts
from libravdb_memory.store.sqlite.catalog import Catalog
from libravdb_memory.store.sqlite.commits import CommitWork
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.writer import Work


class WroteBeforeFailingError(Exception):
    """A refused work had written something, so its neighbours must be applied without it."""


class GroupApplier:
    """The `ApplyGroup` of this store."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __call__(self, db: Database, works: Sequence[Work]) -> list[LibraVDBError | None]:
        if len(works) == 1:
            works[0].apply(db)
            return [None]
        errors: list[LibraVDBError | None] = []
        for together, run in groupby(works, lambda work: bool(_puts_of(work))):
            if together:
                errors += self._put_together(db, [work for work in run if isinstance(work, CommitWork)])
            else:
                errors += [_refusal(db, partial(work.apply, db)) for work in run]
        return errors

    def _put_together(self, db: Database, works: Sequence[CommitWork]) -> list[LibraVDBError | None]:
        catalog = self._catalog
        errors = [_refusal(db, partial(puts.stage, db, catalog, work.puts_only)) for work in works]
        staged = [put for work, error in zip(works, errors, strict=True) if error is None for put in work.puts_only]
        taken = set(puts.insert(db, catalog, staged))
        for number, work in enumerate(works):
            again = [put for put in work.puts_only if put in taken] if taken else ()
            if again:
                errors[number] = _refusal(db, partial(self._again, db, work, again))
                if errors[number] is not None and len(again) < len(work.puts_only):
                    raise WroteBeforeFailingError from errors[number]
            work.applied(db)
        return errors

    def _again(self, db: Database, work: CommitWork, taken: Sequence[puts.CheckedPut]) -> None:
        for put in taken:
            work.note_replaced(puts.put_again(db, self._catalog, put))


def _puts_of(work: Work) -> Sequence[puts.CheckedPut]:
    return work.puts_only if isinstance(work, CommitWork) else ()


def _refusal(db: Database, act: Callable[[], None]) -> LibraVDBError | None:
    before = db.total_changes()
    try:
        act()
    except LibraVDBError as error:
        if db.total_changes() != before:
            raise WroteBeforeFailingError from error
        return error
    return None
