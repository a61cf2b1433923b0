"""Export and import: the whole store, or a part of it, as JSON Lines.

    {"format": "libravdb-memory", "version": 1}
    {"type": "collection", "name": …, "append_only": …}
    {"type": "record", "collection": …, "group": …, "id": …, "ts": …, "text": …, "metadata": …, "hash": …}
    {"type": "edge", "parent": [collection, group, id], "child": [collection, group, id]}
    {"type": "end", "records": …, "edges": …, "digest": "sha256:…"}

Laws: exporting what was imported gives the same bytes. Both directions stream. A line that is not what it claims, a
hash that does not match its record, or a file that ends early is an error that names the line; import is idempotent,
so it can be run again with the mended file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, cast

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.identity import Json, canonical_json, content_hash
from libravdb_memory.model import Draft, Record
from libravdb_memory.store.protocol import Key, Link, Progress, Put, Store, Write

FORMAT = "libravdb-memory"
VERSION = 1
_BATCH = 500


@dataclass(frozen=True, slots=True)
class ImportReport:
    """`added` counts the records that were new; the others were there already."""

    records: int
    added: int
    edges: int


# ── export ───────────────────────────────────────────────────────────────────────────────────────────────────────


def export_lines(store: Store, progress: Progress | None = None) -> Iterator[str]:
    """Every line of an export, without line ends."""
    digest = hashlib.sha256()
    total = store.status().records
    records = edges = 0
    for item in _items(store):
        line = canonical_json(item)
        digest.update(line.encode() + b"\n")
        records += item.get("type") == "record"
        edges += item.get("type") == "edge"
        if progress and records % _BATCH == 0:
            progress(records, total)
        yield line
    if progress:
        progress(records, records)
    yield canonical_json({"type": "end", "records": records, "edges": edges, "digest": f"sha256:{digest.hexdigest()}"})


def export_to(out: IO[str], store: Store, progress: Progress | None = None) -> int:
    """Write an export; returns the number of lines."""
    count = 0
    for line in export_lines(store, progress):
        out.write(line + "\n")
        count += 1
    return count


def _items(store: Store) -> Iterator[Mapping[str, Json]]:
    yield {"format": FORMAT, "version": VERSION}
    for info in store.collections():
        yield {"type": "collection", "name": info.name, "append_only": info.append_only}
        for record in _records(store, info.name):
            yield {
                "type": "record",
                "collection": record.collection,
                "group": record.group,
                "id": record.id,
                "ts": record.ts,
                "text": record.text,
                "metadata": record.metadata,
                "hash": record.hash,
            }
    yield from _edges(store)


def _records(store: Store, collection: str) -> Iterator[Record]:
    cursor: str | None = None
    while True:
        page = store.page(collection, after=cursor, limit=_BATCH)
        yield from page.records
        cursor = page.cursor
        if cursor is None:
            return


def _edges(store: Store) -> Iterator[Mapping[str, Json]]:
    last: tuple[int, int] | None = None
    while pairs := store.edges(after=last, limit=_BATCH):
        ends = store.fetch(sorted({ref for pair in pairs for ref in pair}))
        for parent, child in pairs:
            yield {"type": "edge", "parent": _address(ends[parent]), "child": _address(ends[child])}
        last = pairs[-1]


def _address(record: Record) -> list[Json]:
    return [record.collection, record.group, record.id]


# ── import ───────────────────────────────────────────────────────────────────────────────────────────────────────


def import_lines(store: Store, lines: Iterable[str], progress: Progress | None = None) -> ImportReport:
    """Add everything in the lines to the store; what is there already stays as it is."""
    reader = _Reader(lines)
    reader.header()
    policies: dict[str, bool] = {}
    batch: list[Write] = []
    records = added = edges = 0
    for item in reader:
        match item.get("type"):
            case "collection":
                policies[reader.text(item, "name")] = item.get("append_only") is True
            case "record":
                batch.append(_put(reader, item, policies))
                records += 1
            case "edge":
                batch.append(Link(reader.key(item, "parent"), reader.key(item, "child")))
                edges += 1
            case "end":
                reader.check_end(item, records, edges)
                break
            case kind:
                raise reader.error(f"unknown type {kind!r}")
        if len(batch) >= _BATCH:
            added += sum(store.commit(batch).fresh)
            batch = []
            if progress:
                progress(records, 0)
    else:
        raise reader.error("the file ends early: its last line is missing; what came before is imported")
    added += sum(store.commit(batch).fresh) if batch else 0
    if progress:
        progress(records, records)
    return ImportReport(records, added, edges)


def _put(reader: _Reader, item: Mapping[str, Json], policies: Mapping[str, bool]) -> Put:
    collection, metadata, ts = reader.text(item, "collection"), item.get("metadata"), item.get("ts")
    if not isinstance(metadata, dict) or not isinstance(ts, int) or isinstance(ts, bool):
        raise reader.error("metadata must be an object and ts an integer")
    draft = Draft(
        collection, reader.text(item, "id"), reader.text(item, "text"), metadata, ts, reader.text(item, "group")
    )
    if content_hash(draft.group, draft.id, ts, draft.text, canonical_json(metadata)) != item.get("hash"):
        raise reader.error(f"the record {draft.id!r} does not match its hash")
    return Put(draft, append_only=policies.get(collection, False))


class _Reader:
    """The lines as JSON objects, with their numbers for errors and the digest of all that came before."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._digest = hashlib.sha256()
        self._number = 0

    def __iter__(self) -> Iterator[Mapping[str, Json]]:
        for line in self._lines:
            self._number += 1
            item = self._parse(line)
            if item.get("type") != "end":
                self._digest.update(line.rstrip("\r\n").encode() + b"\n")
            yield item

    def header(self) -> None:
        first = next(iter(self), None)
        if first is None or first.get("format") != FORMAT:
            raise self.error("this is not an export of LibraVDB Memory")
        if first.get("version") != VERSION:
            raise self.error(f"format version {first.get('version')} is not known here; upgrade libravdb-memory")

    def check_end(self, item: Mapping[str, Json], records: int, edges: int) -> None:
        counted = {"records": records, "edges": edges, "digest": f"sha256:{self._digest.hexdigest()}"}
        if wrong := [name for name, value in counted.items() if item.get(name) != value]:
            raise self.error(f"the file was changed or cut: {', '.join(wrong)} of its last line do not match")

    def text(self, item: Mapping[str, Json], name: str) -> str:
        value = item.get(name)
        if not isinstance(value, str):
            raise self.error(f"{name} must be text")
        return value

    def key(self, item: Mapping[str, Json], name: str) -> Key:
        address = item.get(name)
        if not isinstance(address, Sequence) or len(address) != 3 or not all(isinstance(part, str) for part in address):
            raise self.error(f"{name} must be [collection, group, id]")
        collection, group, record_id = cast(Sequence[str], address)
        return Key(collection, record_id, group)

    def error(self, reason: str) -> InvalidInputError:
        return InvalidInputError(f"import line {self._number}", reason)

    def _parse(self, line: str) -> Mapping[str, Json]:
        try:
            item = json.loads(line)
        except ValueError as error:
            raise self.error(f"not JSON ({error})") from None
        if not isinstance(item, dict):
            raise self.error("must be a JSON object")
        return cast(Mapping[str, Json], item)
