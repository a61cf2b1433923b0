"""A host's messages from a file: a JSON array, or one message a line.

Law: a message is taken as it stands or refused by its place; nothing of it is changed.
"""

from __future__ import annotations

import json
from typing import Any, cast

from libravdb_memory.assemble.messages import Message
from libravdb_memory.cli.json_lines import Numbered, read_values
from libravdb_memory.errors import InvalidInputError


def read_messages(source: bytes) -> tuple[Message, ...]:
    items = _of_array(source) if source.lstrip().startswith(b"[") else list(read_values(source.splitlines()))
    return tuple(_message(item) for item in items)


def _of_array(source: bytes) -> list[Numbered]:
    try:
        values: list[Any] = json.loads(source.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError("--messages", f"is not a JSON array ({error})") from None
    return [Numbered(f"message {number}", value) for number, value in enumerate(values, 1)]


def _message(item: Numbered) -> Message:
    if not isinstance(item.value, dict):
        raise InvalidInputError(item.where, "must be a JSON object")
    message = cast("dict[str, Any]", item.value)
    if not isinstance(message.get("role"), str):
        raise InvalidInputError(item.where, 'needs a "role"')
    return message
