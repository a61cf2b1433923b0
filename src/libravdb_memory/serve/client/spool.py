"""Calls that wait on disk for a daemon: `<home>/spool/`.

Laws: an entry is on disk when `append` returns. Entries come out in the order in which they went in. An entry leaves
only after `done` said so, so that a process killed at any point leaves every entry to the next one; some may come out
twice, none never. One process delivers at a time (`claim`), others may append meanwhile. What is damaged or refused is
set aside in the same folder, and keeps nothing else waiting. The folder never grows over its limit: an entry that does
not fit is refused with an error.

Segments are named by the time they began, so that no name is used twice and no place noted for one is taken for
another's.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.serve.client.entries import Entry, Placed, read_entries, write_entry
from libravdb_memory.serve.client.locks import FileLock
from libravdb_memory.store.sqlite.files import make_folder

SPOOL_FOLDER = "spool"
SEGMENT_BYTES = 256 << 10
MAX_SPOOL_BYTES = 256 << 20
_SEGMENT, _PLACE = ".spool", ".place"
DAMAGED, REFUSED = "damaged.bin", "refused.bin"


class SpoolError(LibraVDBError):
    """What was said could not be kept on disk."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The rest of a segment that is not delivered yet."""

    segment: Path
    placed: tuple[Placed, ...]
    end: int


class Spool:
    def __init__(self, folder: Path, limit: int = MAX_SPOOL_BYTES) -> None:
        self._folder = folder
        self._limit = limit

    # ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def append(self, entry: Entry) -> None:
        data = write_entry(entry)
        with self._alone():
            self._refuse_more_than_the_limit(len(data))
            self._write(self._open_segment(), data)

    def _open_segment(self) -> Path:
        segments = self._segments()
        if segments and segments[-1].stat().st_size < SEGMENT_BYTES:
            return segments[-1]
        latest = int(segments[-1].stem) if segments else 0
        return self._folder / f"{max(latest + 1, time.time_ns()):020d}{_SEGMENT}"

    def _write(self, file: Path, data: bytes) -> None:
        """Whole, and on disk; after a writer that died in the middle of a line, on a new line."""
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if not size:
                _sync_folder(self._folder)
            torn = size > 0 and _last_byte(descriptor, size) != b"\n"
            try:
                _write_all(descriptor, b"\n" + data if torn else data)
                os.fsync(descriptor)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)

    def _refuse_more_than_the_limit(self, more: int) -> None:
        held = sum(item.stat().st_size for item in self._folder.iterdir())
        if held + more > self._limit:
            reason = f"{self._folder} holds {held} bytes, and may hold {self._limit}"
            raise SpoolError(reason, f"start the daemon; {DAMAGED} and {REFUSED} there may be removed")

    # ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def pending(self) -> bool:
        with self._telling():
            return bool(self._segments())

    def claim(self) -> FileLock | None:
        """The right to deliver; None when another has it."""
        with self._telling():
            self._make()
            return FileLock.attempt(self._folder / "delivery.lock")

    def next_batch(self) -> Batch | None:
        """The oldest segment. A last line without its end was never acknowledged: nobody else writes now."""
        with self._alone():
            for segment in self._segments():
                start, data = self._place(segment), segment.read_bytes()
                return Batch(segment, tuple(read_entries(data, start)), len(data))
            return None

    def done(self, segment: Path, end: int) -> None:
        """Everything up to there is delivered or set aside."""
        with self._alone():
            if segment.stat().st_size > end:
                self._note_place(segment, end)
                return
            segment.unlink()
            segment.with_suffix(_PLACE).unlink(missing_ok=True)

    def set_aside(self, raw: bytes, name: str) -> None:
        with self._alone():
            self._write(self._folder / name, raw if raw.endswith(b"\n") else raw + b"\n")

    def set_aside_count(self) -> int:
        """Lines that wait for a person."""
        files = (self._folder / name for name in (DAMAGED, REFUSED))
        return sum(file.read_bytes().count(b"\n") for file in files if file.exists())

    # ── the folder ───────────────────────────────────────────────────────────────────────────────────────────────

    def _segments(self) -> list[Path]:
        try:
            found = sorted(self._folder.iterdir())
        except FileNotFoundError:
            return []
        return [file for file in found if file.suffix == _SEGMENT and file.stem.isdecimal()]

    def _place(self, segment: Path) -> int:
        try:
            return int(segment.with_suffix(_PLACE).read_text())
        except (OSError, ValueError):
            return 0

    def _note_place(self, segment: Path, end: int) -> None:
        note = segment.with_suffix(_PLACE)
        beside = note.with_suffix(".new")
        beside.write_text(str(end))
        beside.replace(note)

    @contextlib.contextmanager
    def _alone(self) -> Generator[None]:
        with self._telling():
            self._make()
            with FileLock.wait(self._folder / "append.lock"):
                yield

    @contextlib.contextmanager
    def _telling(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise SpoolError(f"{self._folder} cannot be used: {error.strerror or error}") from error

    def _make(self) -> None:
        if not self._folder.is_dir():
            make_folder(self._folder)
            _sync_folder(self._folder.parent)


def _last_byte(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
