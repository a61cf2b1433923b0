"""The rule files named on a command line.

Law: a folder stands for every Markdown file below it, in order of their paths; a file is read byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from libravdb_memory.errors import InvalidInputError


def read_rule_files(paths: Sequence[Path]) -> dict[str, bytes]:
    """Each file's bytes, under the name it was given by."""
    return {str(file): _bytes_of(file) for path in paths for file in _files(path)}


def decoded(name: str, source: bytes) -> str:
    try:
        return source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(name, f"is not UTF-8 text (byte {error.start}, line {line})") from error


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = sorted(file for file in path.rglob("*.md") if file.is_file())
    if not found:
        raise InvalidInputError("PATH", f"{path} holds no .md file")
    yield from found


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInputError("PATH", f"{file} cannot be read: {error.strerror}") from error
