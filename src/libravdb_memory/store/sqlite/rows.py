"""Rows become values here, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from libravdb_memory.errors import StoreCorruptError
from libravdb_memory.model import Record

RECORD_COLUMNS = "r.ref, c.name, g.name, r.id, r.ts, r.text, r.metadata, r.hash, r.version"
RECORD_TABLES = "record r JOIN grp g ON g.key = r.grp JOIN collection c ON c.key = g.collection"


def record_of(row: tuple[Any, ...], path: Path) -> Record:
    ref, collection, group, record_id, ts, text, metadata_json, digest, version = row
    try:
        metadata = json.loads(metadata_json)
    except (TypeError, ValueError) as error:
        raise StoreCorruptError(path, f"the metadata of record {record_id!r} is not JSON ({error})") from error
    if not isinstance(text, str):
        raise StoreCorruptError(path, f"the text of record {record_id!r} is gone")
    return Record(ref, collection, group, record_id, ts, text, metadata, digest, version)
