"""One spooled call as bytes: length, checksum, JSON, line end.

Laws: what was written whole is read back exactly; a byte that changed, or an end that is missing, costs the entry it is
in and no other. Reading raises nothing, whatever the bytes are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from libravdb_memory.identity import Json

_LENGTH, _DIGEST = 8, 16
_HEADER = _LENGTH + _DIGEST


@dataclass(frozen=True, slots=True)
class Entry:
    """`said_ms` is when the call was first made."""

    method: str
    params: Mapping[str, Json]
    said_ms: int


@dataclass(frozen=True, slots=True)
class Placed:
    """What stands in a spool up to `end`; None where the bytes are damaged."""

    entry: Entry | None
    raw: bytes
    end: int


def write_entry(entry: Entry) -> bytes:
    form = {"method": entry.method, "params": dict(entry.params), "saidMs": entry.said_ms}
    payload = json.dumps(form, separators=(",", ":"), allow_nan=False).encode()
    return b"%08x" % len(payload) + _digest(payload) + payload + b"\n"


def read_entries(data: bytes, start: int = 0) -> Iterator[Placed]:
    while start < len(data):
        if data[start : start + 1] == b"\n":
            start += 1
            continue
        size = _size(data[start : start + _LENGTH])
        payload = data[start + _HEADER : start + _HEADER + size]
        whole = min(start + _HEADER + size + 1, len(data))
        entry = _entry(payload) if _digest(payload) == data[start + _LENGTH : start + _HEADER] else None
        if entry is None:
            whole = data.find(b"\n", start) + 1 or len(data)
        yield Placed(entry, data[start:whole], whole)
        start = whole


def _size(digits: bytes) -> int:
    try:
        return max(0, int(digits, 16))
    except ValueError:
        return 0


def _digest(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_DIGEST // 2).hexdigest().encode()


def _entry(payload: bytes) -> Entry | None:
    try:
        form: Any = json.loads(payload)
        return Entry(str(form["method"]), dict(form["params"]), int(form["saidMs"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
