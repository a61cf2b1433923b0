"""The turns that `add` was given: one text, stdin, or a JSON Lines file.

Law: a line is taken whole or refused with its number; nothing of a line is ignored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import IO, Any, cast

import click

from libravdb_memory.cli.dates import moment
from libravdb_memory.errors import InvalidInputError

FIELDS = ("text", "user", "session", "role", "ts", "id", "speaker", "metadata")


def read_turns(text: str | None, lines: IO[str] | None, common: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments of each `ingest`; `common` fills in what a line leaves out."""
    if (text is None) == (lines is None):
        raise click.UsageError("give a TEXT (or - for stdin), or a file of turns with --jsonl")
    if lines is None:
        return iter([{**common, "text": _stdin() if text == "-" else text}])
    if common["id"] is not None:
        raise click.UsageError("--id names one turn; in a file each line has its own")
    return _turns_of(lines, common)


def _stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidInputError("stdin", f"is not UTF-8 text ({error.reason} at byte {error.start})") from error


def _turns_of(lines: IO[str], common: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    try:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield {**common, **_turn(f"line {number}", line)}
    except UnicodeDecodeError as error:
        raise InvalidInputError("--jsonl", f"is not UTF-8 text ({error.reason})") from error


def _turn(where: str, line: str) -> dict[str, Any]:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(where, f"is not JSON ({error})") from None
    if not isinstance(value, dict):
        raise InvalidInputError(where, "must be a JSON object")
    fields = cast("dict[str, Any]", value)
    if unknown := sorted(fields.keys() - set(FIELDS)):
        raise InvalidInputError(where, f"unknown field {unknown[0]!r}; known are {', '.join(FIELDS)}")
    given = {name: value for name, value in fields.items() if value is not None}
    if "text" not in given:
        raise InvalidInputError(where, 'has no "text"')
    return {name: _checked(f"{where}, {name}", name, value) for name, value in given.items()}


def _checked(where: str, name: str, value: Any) -> Any:
    """What has a kind of its own (time, metadata) is checked where it is stored; everything else is text."""
    if name == "ts" and isinstance(value, str):
        try:
            return moment(value)
        except (ValueError, OverflowError):
            raise InvalidInputError(where, f"{value!r} is not an ISO date or time") from None
    if name not in ("ts", "metadata") and not isinstance(value, str):
        raise InvalidInputError(where, f"must be text, not {type(value).__name__}")
    return value
