"""Whether the write-ahead log beside a data file is its own.

SQLite replays any log that holds together, also one of another file left or put there, and the data file then holds
what the other held. So every data file gets a random schema cookie when it is made or copied. It stands in the first
page, where SQLite only ever counts it up by one, and the first page is among the first that a growing log holds. A log
too short to hold it tells by its size: a store never gets fewer pages.

Law: a log that is not of the file's line is refused before SQLite sees it; what cannot be told is let pass.
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from libravdb_memory.errors import StoreCorruptError
from libravdb_memory.store.sqlite import files
from libravdb_memory.store.sqlite.database import Database

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682  # the lowest bit tells the byte order of checksums
_PAGES = slice(28, 32)
_COOKIE = slice(40, 44)
_ONE_LINE = 1 << 16
_FRAMES_LOOKED_AT = 64
_WORD = 0xFFFFFFFF


def begin_line(db: Database) -> None:
    """Give a file that nobody else has open a cookie of its own."""
    db.pragma("schema_version", _ONE_LINE + secrets.randbelow(2**31 - 2 * _ONE_LINE))


def refuse_foreign_log(data: Path) -> None:
    log = files.beside(data, "-wal")
    if not log.exists():
        return
    with data.open("rb") as file:
        head = file.read(100)
    with log.open("rb") as file:
        cookie, pages = _look(file)
    other_line = cookie is not None and abs(cookie - _number(head, _COOKIE)) > _ONE_LINE
    too_small = pages is not None and pages < _number(head, _PAGES)
    if other_line or too_small:
        raise StoreCorruptError(data, f"{log.name} is the log of another file; move it away")


def _look(file: BinaryIO) -> tuple[int | None, int | None]:
    """The cookie in the first copy of page 1 that the log holds for sure; or else how many pages the database has after
    its last commit, unless the log is too long to look through."""
    pages: int | None = None
    for looked_at, (number, size, page) in enumerate(_frames(file)):
        if number == 1:
            return _number(page, _COOKIE), None
        if looked_at == _FRAMES_LOOKED_AT:
            return None, None
        pages = size or pages  # only the last frame of a commit has a size
    return None, pages


def _frames(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Page number, size of the database and page of every frame that SQLite would take."""
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return
    magic, _, page_size, _, *salts, sum_1, sum_2 = _HEADER.unpack(head)
    order = ">" if magic & 1 else "<"
    sums = _add(head[:24], (0, 0), order)
    if magic & ~1 != _MAGIC or sums != (sum_1, sum_2):
        return
    while len(frame := file.read(_FRAME.size + page_size)) == _FRAME.size + page_size:
        number, size, *frame_salts, sum_1, sum_2 = _FRAME.unpack_from(frame)
        page = frame[_FRAME.size :]
        sums = _add(page, _add(frame[:8], sums, order), order)
        if frame_salts != salts or sums != (sum_1, sum_2):
            return
        yield number, size, page


def _number(page: bytes, place: slice) -> int:
    return int.from_bytes(page[place], "big")


def _add(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """SQLite's running checksum, carried on over these bytes."""
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & _WORD
        second = (second + odd + first) & _WORD
    return first, second
