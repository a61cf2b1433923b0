"""Calibration labels from a file: a score or a text, and whether the turn proved useful.

Law: a line that says neither is refused with its number. Fields beside `text`, `g` and `useful` are notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from libravdb_memory.cli.json_lines import Numbered, read_values
from libravdb_memory.errors import InvalidInputError
from libravdb_memory.gate.calibrate import Label


def read_labels(lines: Iterable[bytes], score: Callable[[str], float]) -> Iterator[Label]:
    """`score` judges the texts that come without a score."""
    for item in read_values(lines):
        yield _label(item, score)


def _label(item: Numbered, score: Callable[[str], float]) -> Label:
    if not isinstance(item.value, dict):
        raise InvalidInputError(item.where, "must be a JSON object")
    fields = cast("dict[str, Any]", item.value)
    given = [name for name in ("text", "g") if fields.get(name) is not None]
    if len(given) != 1:
        raise InvalidInputError(item.where, 'needs either "text" or "g"')
    useful = _number(item.where, "useful", fields.get("useful"))
    if given == ["g"]:
        return _checked(item.where, _number(item.where, "g", fields["g"]), useful)
    if not isinstance(fields["text"], str):
        raise InvalidInputError(item.where, '"text" must be text')
    return _checked(item.where, score(fields["text"]), useful)


def _number(where: str, name: str, value: object) -> float:
    if not isinstance(value, int | float):  # a bool is an int: false 0, true 1
        raise InvalidInputError(where, f'"{name}" must be a number or true or false, not {value!r}')
    return float(value)


def _checked(where: str, score: float, useful: float) -> Label:
    try:
        return Label(score, useful)
    except InvalidInputError as error:
        raise InvalidInputError(f"{where}, {error.field}", error.reason) from None
