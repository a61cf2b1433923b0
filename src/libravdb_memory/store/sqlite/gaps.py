"""What SQLite leaves of moved cells between the cells that a page holds.

`secure_delete` overwrites what is deleted where it lies. But when SQLite deals cells out anew among neighbouring pages,
the part of a page that becomes free keeps its old bytes: they are in no table any more, and still in the file.

Laws: bytes are overwritten only where the page itself says that nothing lies, and only while the log is empty and
nobody can fold one, so that the file is all there is. Afterwards the writer has forgotten every page it had read, or it
would write the same bytes again. A page that contradicts itself is left alone: that is for `verify`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw

from libravdb_memory.store.sqlite.database import Database, DataFile, open_file

_INTERIOR = {2: 12, 5: 12}
_LEAVES = {10: 8, 13: 8}
_HEADS = _INTERIOR | _LEAVES
"""Lengths of the heads of pages, by the byte that says which kind one is."""
_FIRST_HEAD_AT = 100
"""The first page begins with that of the file."""
_MOST_BYTES = 65_536


def wipe_gaps(db: Database, path: Path, vfs: str | None) -> int:
    """How many pages had something between their cells. The log must be empty, `db` the only connection that writes,
    and in no transaction."""
    db.execute("BEGIN")
    try:
        roots = [1, *(row[0] for row in db.execute("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0"))]
        file = open_file(path, vfs)
        try:
            wiped = _wipe(file, roots, int(db.pragma("page_size")))
        finally:
            file.xClose()
    finally:
        db.execute("COMMIT")
    db.pragma("shrink_memory")
    return wiped


def _wipe(file: DataFile, roots: list[int], page_size: int) -> int:
    empty, wiped = bytes(page_size), 0
    for start, page in _pages_of_trees(file, roots, page_size):
        gap = _gap(page, _FIRST_HEAD_AT if start == 0 else 0)
        if page[gap] != empty[: gap.stop - gap.start]:
            file.xWrite(empty[: gap.stop - gap.start], start + gap.start)
            wiped += 1
    if wiped:
        file.xSync(apsw.SQLITE_SYNC_FULL)
    return wiped


def _pages_of_trees(file: DataFile, roots: list[int], page_size: int) -> Iterator[tuple[int, bytes]]:
    """Where each begins, and what it holds; those of overflowing values and free ones are not among them."""
    waiting, seen, last = list(roots), set[int](), file.xFileSize() // page_size
    while waiting:
        number = waiting.pop()
        if number in seen or not 0 < number <= last:
            continue
        seen.add(number)
        start = (number - 1) * page_size
        page = file.xRead(page_size, start)
        head = _FIRST_HEAD_AT if start == 0 else 0
        if page[head] in _INTERIOR:
            waiting += _children(page, head)
        yield start, page


def _children(page: bytes, head: int) -> Iterator[int]:
    yield _number(page, head + 8, 4)
    first = head + _INTERIOR[page[head]]
    for place in range(first, first + 2 * _number(page, head + 3, 2), 2):
        yield _number(page, _number(page, place, 2), 4)


def _gap(page: bytes, head: int) -> slice:
    """Between the list of a page's cells and the first of them."""
    if page[head] not in _HEADS:
        return slice(0, 0)
    begins = head + _HEADS[page[head]] + 2 * _number(page, head + 3, 2)
    ends = _number(page, head + 5, 2) or _MOST_BYTES
    return slice(begins, ends) if begins <= ends <= len(page) else slice(0, 0)


def _number(page: bytes, place: int, size: int) -> int:
    return int.from_bytes(page[place : place + size], "big")
