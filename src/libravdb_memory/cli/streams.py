"""The three standard streams, also where a caller closed one.

Law: no file that the program opens gets the number of a standard stream, so that nothing meant for a reader is written
into it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import IO


def open_missing_streams() -> None:
    """A closed stdin is empty, a closed stderr is silence, and a closed stdout is a pipe that nobody reads."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        _put_in_place(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        reading, writing = os.pipe()
        _put_in_place(writing, 1)
        if reading != 1:
            os.close(reading)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        _put_in_place(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def is_lively(stream: IO[str]) -> bool:
    """Whether a line that was written can be taken back."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def silence_stdout() -> None:
    """Nobody reads it any more, or it takes no more. Point it at nothing, or the interpreter complains at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _put_in_place(descriptor: int, number: int) -> None:
    if descriptor != number:
        os.dup2(descriptor, number)
        os.close(descriptor)
