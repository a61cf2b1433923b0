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
