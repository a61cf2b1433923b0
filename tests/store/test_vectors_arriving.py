"""A vector is in the database a moment before searches see it: a search meanwhile does not call itself complete."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from libravdb_memory.errors import NotFoundError
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Put, Space, VectorHits
from libravdb_memory.store.sqlite.store import SqliteStore

ASKED = np.array([1.0, 0.0, 0.0, 0.0], np.float32)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path / "store.libravdb") as opened:
        yield opened


def stored(store: SqliteStore, name: str) -> int:
    (record,) = store.commit([Put(Draft("notes", name, f"the text of {name}"))]).records
    return record.ref


def embed(store: SqliteStore, space: Space, ref: int) -> None:
    store.put_vectors(space, [ref], ASKED[None])


def test_a_search_is_complete_only_when_what_is_on_disk_can_be_found(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = store.add_space("sha256:f", "test", 4)
    store.activate_space(space)
    first, second = stored(store, "first"), stored(store, "second")
    embed(store, space, first)
    assert search(store).missing == 1
    on_disk, may_go_on = threading.Event(), threading.Event()
    arrive = store._place.added

    def held_up(*told: Any) -> None:
        on_disk.set()
        assert may_go_on.wait(60)
        arrive(*told)

    monkeypatch.setattr(store._place, "added", held_up)
    writing = threading.Thread(target=embed, args=(store, space, second))
    writing.start()
    try:
        assert on_disk.wait(60)
        assert store.get_vectors(space, [second])
        between = search(store)
        assert [hit.ref for hit in between.hits] == [first] and not between.complete and between.missing == 1
    finally:
        may_go_on.set()
        writing.join()
    after = search(store)
    assert {hit.ref for hit in after.hits} == {first, second} and after.complete and after.missing == 0


def test_a_write_that_fails_leaves_nothing_arriving(store: SqliteStore) -> None:
    space = store.add_space("sha256:f", "test", 4)
    store.activate_space(space)
    ref = stored(store, "only")
    embed(store, space, ref)
    with pytest.raises(NotFoundError):
        embed(store, Space(99, "sha256:h", "none", 4, False), ref)
    assert search(store).complete


def search(store: SqliteStore) -> VectorHits:
    return store.search_vectors("notes", ASKED, 5)
