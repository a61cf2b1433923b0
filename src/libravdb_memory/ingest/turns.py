"""From what a host says to a turn that can be kept.

Law: a value is taken exactly as given or refused with an error that names its field; nothing is repaired in silence.
A turn becomes one record of its namespace's history: the session is the record's group, role and speaker are
metadata, and the caller's own metadata stays apart under one key, so that neither can shadow the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.identity import Json, canonical_json
from libravdb_memory.model import Draft, Record, Turn
from libravdb_memory.namespaces import history_of, namespace_of

MAX_TEXT_BYTES = 16 * 1024 * 1024
MAX_METADATA_BYTES = 1024 * 1024
MAX_NAME_CHARS = 1024
MAX_METADATA_DEPTH = 32
_MIN_TS, _MAX_TS = -62_135_596_800_000, 253_402_300_799_999  # the years 1 and 9999
_INT64 = 2**63


def checked_turn(
    text: str,
    *,
    user: str,
    session: str,
    role: str,
    ts: int,
    turn_id: str,
    speaker: str | None,
    metadata: Mapping[str, Json] | None,
) -> Turn:
    return Turn(
        id=checked_name("id", turn_id),
        text=checked_text("text", text),
        user=checked_name("user", user),
        session=checked_name("session", session),
        role=checked_name("role", role),
        ts=ts,
        speaker=None if speaker is None else checked_name("speaker", speaker),
        metadata=checked_metadata({} if metadata is None else metadata),
    )


def draft_of(turn: Turn) -> Draft:
    facts: dict[str, Json] = {"role": turn.role}
    if turn.speaker is not None:
        facts["speaker"] = turn.speaker
    if turn.metadata:
        facts["meta"] = turn.metadata
    return Draft(history_of(turn.user), turn.id, turn.text, facts, turn.ts, group=turn.session)


def turn_of(record: Record | Draft) -> Turn:
    speaker, meta = record.metadata.get("speaker"), record.metadata.get("meta")
    return Turn(
        id=record.id,
        text=record.text,
        user=namespace_of(record.collection) or record.collection,
        session=record.group,
        role=str(record.metadata.get("role", "")),
        ts=record.ts,
        speaker=speaker if isinstance(speaker, str) else None,
        metadata=meta if isinstance(meta, Mapping) else {},
    )


def milliseconds(field: str, moment: int | datetime) -> int:
    """A time as the store keeps it. A datetime must know its zone: guessing one would move the memory in time."""
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise InvalidInputError(field, "a datetime needs a time zone (for example datetime.now(UTC))")
        delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
        moment = (delta.days * 86_400 + delta.seconds) * 1000 + delta.microseconds // 1000
    if isinstance(moment, bool) or not isinstance(moment, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(field, "must be integer milliseconds since 1970 or a datetime")
    if not _MIN_TS <= moment <= _MAX_TS:
        raise InvalidInputError(field, f"{moment} lies outside the years 1 to 9999")
    return moment


def checked_text(field: str, value: object, max_bytes: int = MAX_TEXT_BYTES) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(field, f"must be text, not {type(value).__name__}")
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidInputError(field, f"holds half a surrogate pair at position {error.start}") from None
    if size > max_bytes:
        raise InvalidInputError(field, f"has {size} bytes; at most {max_bytes} are taken")
    return value


def checked_name(field: str, value: object) -> str:
    """Ids, users, sessions, roles: any characters, not blank, bounded."""
    name = checked_text(field, value)
    if not name.strip():
        raise InvalidInputError(field, "must not be blank")
    if len(name) > MAX_NAME_CHARS:
        raise InvalidInputError(field, f"has {len(name)} characters; at most {MAX_NAME_CHARS} are taken")
    return name


def checked_metadata(value: object) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise InvalidInputError("metadata", f"must be an object, not {type(value).__name__}")
    checked = _checked_json("metadata", cast(Mapping[object, object], value), MAX_METADATA_DEPTH)
    assert isinstance(checked, dict)
    if checked and (size := len(canonical_json(checked).encode())) > MAX_METADATA_BYTES:
        raise InvalidInputError("metadata", f"has {size} bytes as JSON; at most {MAX_METADATA_BYTES} are taken")
    return checked


def _checked_json(field: str, value: object, depth: int) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return checked_text(field, value, MAX_METADATA_BYTES)
    if isinstance(value, int | float):
        return _checked_number(field, value)
    if depth == 0:
        raise InvalidInputError(field, f"is nested deeper than {MAX_METADATA_DEPTH} levels")
    if isinstance(value, Mapping):
        pairs = cast(Mapping[object, object], value).items()
        return {_checked_key(field, key): _checked_json(f"{field}.{key}", item, depth - 1) for key, item in pairs}
    if isinstance(value, list | tuple):
        items = cast(Sequence[object], value)
        return [_checked_json(f"{field}[{index}]", item, depth - 1) for index, item in enumerate(items)]
    raise InvalidInputError(field, f"is not JSON: {type(value).__name__}")


def _checked_number(field: str, value: int | float) -> int | float:
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        raise InvalidInputError(field, "is an integer of more than 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInputError(field, "is not a finite number")
    return value


def _checked_key(field: str, key: object) -> str:
    if not isinstance(key, str):
        raise InvalidInputError(field, f"has a key that is not text: {key!r}")
    return checked_text(f"{field} (a key)", key, MAX_METADATA_BYTES)
