"""The turns that `add` was given: one text, stdin, or a JSON Lines file.

Law: a line is taken whole or refused with its number, by whoever refuses it; nothing of a line is ignored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, NamedTuple, cast

import click

from libravdb_memory.cli.dates import moment
from libravdb_memory.errors import InvalidInputError, LibraVDBError
from libravdb_memory.model import Turn
from libravdb_memory.wording import counted

FIELDS = ("text", "user", "session", "role", "ts", "id", "speaker", "metadata")


class Given(NamedTuple):
    """The arguments of an `ingest`; `where` names their line for an error, and is empty for a single text."""

    where: str
    fields: Mapping[str, Any]


def read_turns(text: str | None, lines: IO[str] | None, common: Mapping[str, Any]) -> Iterator[Given]:
    """The arguments of each `ingest`; `common` fills in what a line leaves out."""
    if (text is None) == (lines is None):
        raise click.UsageError("give a TEXT (or - for stdin), or a file of turns with --jsonl")
    if lines is None:
        return iter([Given("", {**common, "text": _stdin() if text == "-" else text})])
    if common["id"] is not None:
        raise click.UsageError("--id names one turn; in a file each line has its own")
    return _turns_of(lines, common)


def stored(turns: Iterator[Given], ingest: Callable[..., Turn], *, told: bool) -> Iterator[Turn]:
    """Each turn once it is stored. An error names the line and, if `told`, says how many were stored before it."""
    number = 0
    try:
        for given in turns:
            yield _stored(given, ingest)
            number += 1
    except LibraVDBError as error:
        if told:
            error.message += f"; {counted(number, 'turn')} stored before it"
        raise


def _stored(given: Given, ingest: Callable[..., Turn]) -> Turn:
    try:
        return ingest(**given.fields)
    except LibraVDBError as error:
        if given.where:
            error.message = f"{given.where}{',' if isinstance(error, InvalidInputError) else ':'} {error.message}"
        raise


def _stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidInputError("stdin", f"is not UTF-8 text ({error.reason} at byte {error.start})") from error


def _turns_of(lines: IO[str], common: Mapping[str, Any]) -> Iterator[Given]:
    try:
        for number, line in enumerate(lines, 1):
            if line.strip():
                where = f"line {number}"
                yield Given(where, {**common, **_turn(where, line)})
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
