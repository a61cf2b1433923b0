"""Canonical form and content hash.

Law: equal content has one canonical form, and the hash is a function of that form alone. A hash carries the name of
its algorithm, so that a later version can change it and still verify what is stored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

_ALGORITHM = "sha256"
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode


def canonical_json(value: Json) -> str:
    """One text for one value: keys sorted, no white space, no NaN or infinity (ValueError)."""
    return _encode(value)


def content_hash(group: str, record_id: str, ts: int, text: str, metadata_json: str) -> str:
    """Tagged digest of a record's content; every field is length-prefixed, so no two contents share a form."""
    digest = hashlib.sha256()
    for field in (group, record_id, str(ts), text, metadata_json):
        raw = field.encode()
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return f"{_ALGORITHM}:{digest.hexdigest()}"
