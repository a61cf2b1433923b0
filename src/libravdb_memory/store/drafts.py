"""What a caller hands over, checked and brought to the one form that is stored. Any backend starts here.

Law: a value is accepted exactly (it reads back equal) or refused with the name of its field, never mended silently.
This runs in the caller's thread, before anything is queued.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.identity import Json, canonical_json, content_hash
from libravdb_memory.model import Draft

MAX_DEPTH = 32
_INT64 = 1 << 63
_SCALARS = (str, int, float, bool, type(None))


class CheckedDraft:
    """A draft that may be stored, with what is derived from it."""

    __slots__ = ("collection", "group", "hash", "id", "metadata", "metadata_json", "text", "ts")

    def __init__(self, draft: Draft) -> None:
        check_address(draft.collection, draft.id, draft.group)
        check_integer("ts", draft.ts)
        self.collection = draft.collection
        self.group = draft.group
        self.id = draft.id
        self.ts = draft.ts
        self.text = draft.text
        self.metadata = _plain_object("metadata", draft.metadata)
        try:
            self.metadata_json = canonical_json(self.metadata)
            self.hash = content_hash(draft.group, draft.id, draft.ts, draft.text, self.metadata_json)
        except UnicodeEncodeError:
            check_text("text", draft.text)
            raise InvalidInputError("metadata", "holds a lone surrogate") from None
        except (TypeError, AttributeError):
            raise InvalidInputError("text", f"must be text, not {type(draft.text).__name__}") from None
        except ValueError as error:
            raise InvalidInputError("metadata", f"is not JSON: {error}") from None


def object_json(field: str, value: object) -> str:
    """The canonical form of a JSON object."""
    try:
        canonical = canonical_json(_plain_object(field, value))
        check_text(field, canonical)
    except ValueError as error:
        raise InvalidInputError(field, f"is not JSON: {error}") from None
    return canonical


def check_address(collection: str, record_id: str, group: str) -> None:
    check_text("collection", collection)
    check_text("id", record_id)
    check_text("group", group)
    if not collection:
        raise InvalidInputError("collection", "must not be empty")
    if not record_id:
        raise InvalidInputError("id", "must not be empty")


def check_text(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidInputError(field, f"must be text, not {type(value).__name__}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInputError(field, "holds a lone surrogate, which is not Unicode text") from None


def check_integer(field: str, value: object) -> None:
    if type(value) is not int:
        raise InvalidInputError(field, f"must be a whole number, not {type(value).__name__}")
    if not -_INT64 <= value < _INT64:
        raise InvalidInputError(field, "does not fit in 64 bits")


def check_count(field: str, value: object) -> None:
    check_integer(field, value)
    if cast(int, value) < 0:
        raise InvalidInputError(field, "must not be negative")


def _plain_object(field: str, value: object) -> dict[str, Json]:
    if not isinstance(value, Mapping):
        raise InvalidInputError(field, f"must be an object, not {type(value).__name__}")
    return cast(dict[str, Json], _plain(cast(Mapping[object, object], value), field, 0))


def _plain(value: object, where: str, depth: int) -> Json:
    if isinstance(value, _SCALARS):
        return value
    if depth >= MAX_DEPTH:
        raise InvalidInputError(where, f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return _plain_mapping(cast(Mapping[object, object], value), where, depth)
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{n}]", depth + 1) for n, item in enumerate(cast(list[object], value))]
    raise InvalidInputError(where, f"is not JSON: {type(value).__name__}")


def _plain_mapping(value: Mapping[object, object], where: str, depth: int) -> dict[str, Json]:
    plain: dict[str, Json] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidInputError(where, f"is not JSON: the key {key!r} is not text")
        plain[key] = item if type(item) is str else _plain(item, f"{where}.{key}", depth + 1)
    return plain
