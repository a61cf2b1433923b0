"""Reading a collection from end to end, page by page."""

from __future__ import annotations

from collections.abc import Iterator

from libravdb_memory.model import Record
from libravdb_memory.store.protocol import Filter, Store


def every(store: Store, collection: str, where: Filter | None = None) -> Iterator[Record]:
    """The records of a collection in order of arrival; what comes meanwhile comes too."""
    cursor: str | None = None
    while True:
        page = store.page(collection, where=where, after=cursor)
        yield from page.records
        if (cursor := page.cursor) is None:
            return
