"""Records for tests of faults, and the question whether a store still holds them exactly."""

from __future__ import annotations

from collections.abc import Iterable

from libravdb_memory.errors import StoreFullError
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Put, Store, TextQuery

COLLECTIONS = ("notes", "facts")


def batch(number: int) -> list[Put]:
    """A few records over two collections, some longer than a page."""
    return [
        Put(Draft(collection, f"{number}.{at}", text_of(number, at), {"batch": number}, number, "g"), append_only=True)
        for collection in COLLECTIONS
        for at in range(2)
    ]


def text_of(number: int, at: int) -> str:
    return f"lantern {number} {at} " + "quay and sluice " * (1000 if number % 7 == 0 else 10)


def commit_all(store: Store, numbers: Iterable[int]) -> None:
    for number in numbers:
        store.commit(batch(number))


def commit_until_full(store: Store, start: int, limit: int = 5000) -> int:
    """Number of the first batch that did not fit."""
    for number in range(start, start + limit):
        try:
            store.commit(batch(number))
        except StoreFullError:
            return number
    raise AssertionError("the disk never filled up")


def assert_holds(store: Store, numbers: Iterable[int]) -> None:
    """Exactly these batches, each whole, readable and searchable, and nothing is wrong."""
    expected = {(put.draft.collection, put.draft.id): put.draft for number in numbers for put in batch(number)}
    found = {
        (record.collection, record.id): record
        for name in COLLECTIONS
        for record in store.page(name, limit=100_000).records
    }
    assert found.keys() == expected.keys()
    for address, record in found.items():
        draft = expected[address]
        assert (record.text, record.metadata, record.ts, record.group) == (
            draft.text,
            draft.metadata,
            draft.ts,
            draft.group,
        )
    for collection, name in list(expected)[:1]:
        assert store.get(Key(collection, name, "g")) is not None
        assert store.search_text(collection, TextQuery((("lantern",),)), 5)
    assert store.verify().problems == ()
