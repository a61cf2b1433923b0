"""JSON Lines from stdin or a file, one value a line.

Law: a line that is not what it should be is refused with its number; blank lines are no lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from libravdb_memory.errors import InvalidInputError


class Numbered(NamedTuple):
    """`where` names the line for an error."""

    where: str
    value: object


def read_values(lines: Iterable[bytes]) -> Iterator[Numbered]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            where = f"line {number}"
            yield Numbered(where, _value(where, line))


def _value(where: str, line: bytes) -> object:
    try:
        value: object = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidInputError(where, f"is not UTF-8 text ({error.reason} at byte {error.start})") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(where, f"is not JSON ({error})") from None
    return value
