"""Files that a command writes: whole, or not there at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from libravdb_memory.errors import InvalidInputError


@contextmanager
def whole_file(target: Path) -> Generator[IO[str], None, None]:
    """A text file to write that takes its name only when everything is in it and on disk; "-" is stdout."""
    if str(target) == "-":
        yield sys.stdout
        return
    target = target.resolve()
    if target.exists() and not target.is_file():
        yield from _through(target)
        return
    _refuse_database(target)
    draft = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        draft.replace(target)
    except OSError as error:
        raise InvalidInputError("FILE", f"{target} cannot be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def _through(target: Path) -> Generator[IO[str], None, None]:
    """A pipe or a device is written as it is; nothing can take its place."""
    try:
        with target.open("w", encoding="utf-8", newline="\n") as out:
            yield out
    except OSError as error:
        raise InvalidInputError("FILE", f"{target} cannot be written: {error.strerror}") from error


def _refuse_database(target: Path) -> None:
    """An export must never take the place of a store, of its log or of a backup."""
    if not target.is_file():
        return
    with target.open("rb") as file:
        head = file.read(16)
    if head.startswith((b"SQLite format 3\0", b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")):
        raise InvalidInputError("FILE", f"{target} is a database; choose another name")
