"""Export and import: the whole store, or a part of it, as JSON Lines.

    {"format": "libravdb-memory", "version": 1}
    {"type": "collection", "name": …, "append_only": …, "searchable": …}
    {"type": "record", "collection": …, "group": …, "id": …, "ts": …, "text": …, "metadata": …, "hash": …}
    {"type": "edge", "parent": [collection, group, id], "child": [collection, group, id]}
    {"type": "mark", "record": [collection, group, id], "label": …, "data": …}
    {"type": "end", "records": …, "edges": …, "marks": …, "digest": "sha256:…"}

Laws: exporting what was imported gives the same bytes. Both directions stream. A line that is not what it claims, a
hash that does not match its record, or a file that ends early is an error that names the line; import is idempotent,
so it can be run again with the mended file. What a line says passes `Arriving` before it is written. No edge is taken
that leads out of a session, and no policy of a collection of ours that is not the one it has here.

The line of a summary says besides which turns lie below it and which summaries it was made from (`source_turn_ids` and
`parent_summary_ids` of its `continuity_lineage`). Nothing of that is stored, hashed or imported: the edges say it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO, Protocol, cast

from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.identity import Json, canonical_json, content_hash
from libravdb_memory.ingest.turns import checked_metadata, checked_name, checked_text, milliseconds
from libravdb_memory.model import Draft, Record
from libravdb_memory.namespaces import Policy, check_place, may_cover, policy_of, summarised_namespace_of
from libravdb_memory.store.protocol import (
    CollectionInfo,
    Key,
    Link,
    Mark,
    Page,
    Progress,
    Put,
    Store,
    StoredMark,
    Write,
)
from libravdb_memory.summaries import is_summary, node_of, with_continuity, without_continuity

FORMAT = "libravdb-memory"
VERSION = 1
_BATCH = 500
_OF_THIS_STORE_ONLY = ("_internal:", "receipt:")  # they speak of this store's change log and of prompts made here
_COUNTED = {"record": "records", "edge": "edges", "mark": "marks"}


@dataclass(frozen=True, slots=True)
class ImportReport:
    """`added` counts the records that were new; the others were there already."""

    records: int
    added: int
    edges: int
    marks: int = 0


# ── export ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Exportable(Protocol):
    """What an export reads of a store."""

    def collections(self) -> tuple[CollectionInfo, ...]: ...

    def page(self, collection: str, *, after: str | None = None, limit: int = 1000) -> Page: ...

    def fetch(self, refs: Sequence[int]) -> dict[int, Record]: ...

    def edges(self, after: tuple[int, int] | None = None, limit: int = 10_000) -> tuple[tuple[int, int], ...]: ...

    def all_marks(self, after: tuple[int, str] | None = None, limit: int = 10_000) -> tuple[StoredMark, ...]: ...


def export_lines(store: Exportable, progress: Progress | None = None) -> Iterator[str]:
    """Every line of an export, without line ends."""
    digest = hashlib.sha256()
    total = sum(info.count for info in store.collections())
    seen: Counter[Json] = Counter()
    for item in _items(store):
        line = canonical_json(item)
        digest.update(line.encode() + b"\n")
        seen[item.get("type")] += 1
        if progress and seen["record"] % _BATCH == 0:
            progress(seen["record"], total)
        yield line
    if progress:
        progress(seen["record"], seen["record"])
    yield canonical_json({"type": "end", **_end(seen, digest.hexdigest())})


def _end(seen: Counter[Json], digest: str) -> dict[str, Json]:
    counted: dict[str, Json] = {name: seen[kind] for kind, name in _COUNTED.items()}
    return {**counted, "digest": f"sha256:{digest}"}


def export_to(out: IO[str], store: Exportable, progress: Progress | None = None) -> int:
    """Write an export; returns the number of lines."""
    count = 0
    for line in export_lines(store, progress):
        out.write(line + "\n")
        count += 1
    return count


def _items(store: Exportable) -> Iterator[Mapping[str, Json]]:
    last_refs: dict[str, int] = {}
    yield {"format": FORMAT, "version": VERSION}
    for info in store.collections():
        if info.name.startswith(_OF_THIS_STORE_ONLY):
            continue
        policy = policy_of(info.name) or Policy(info.append_only, info.searchable)
        yield {
            "type": "collection",
            "name": info.name,
            "append_only": policy.append_only,
            "searchable": policy.searchable,
        }
        below = _Below()
        for record in _records(store, info.name):
            last_refs[info.name] = record.ref
            yield {
                "type": "record",
                "collection": record.collection,
                "group": record.group,
                "id": record.id,
                "ts": record.ts,
                "text": record.text,
                "metadata": with_continuity(record, below.turns(record)) if is_summary(record) else record.metadata,
                "hash": record.hash,
            }
    told = _Told(store, last_refs)
    yield from _edges(told)
    yield from _marks(told)


def _records(store: Exportable, collection: str) -> Iterator[Record]:
    cursor: str | None = None
    while True:
        page = store.page(collection, after=cursor, limit=_BATCH)
        yield from page.records
        cursor = page.cursor
        if cursor is None:
            return


class _Below:
    """The turns below the summaries of a user. These are read in order, and one that covers others came after them: so
    each is read once, and a turn is named once for each level above it."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def turns(self, record: Record) -> tuple[str, ...]:
        node = node_of(record)
        below = [self._known.get((record.group, child), ()) if node.level > 1 else (child,) for child in node.children]
        turns = tuple(dict.fromkeys(chain.from_iterable(below)))
        self._known[record.group, record.id] = turns
        return turns


@dataclass(frozen=True, slots=True)
class _Told:
    """Up to which ref the records of each collection are in the export. What came later, while it was written, is not
    spoken of: the file must be whole in itself."""

    store: Exportable
    last_refs: Mapping[str, int]

    def addresses(self, refs: set[int]) -> dict[int, list[Json]]:
        records = self.store.fetch(sorted(refs)).values()
        return {
            record.ref: [record.collection, record.group, record.id]
            for record in records
            if record.ref <= self.last_refs.get(record.collection, -1)
        }


def _edges(told: _Told) -> Iterator[Mapping[str, Json]]:
    last: tuple[int, int] | None = None
    while pairs := told.store.edges(after=last, limit=_BATCH):
        ends = told.addresses({ref for pair in pairs for ref in pair})
        for parent, child in pairs:
            if parent in ends and child in ends:
                yield {"type": "edge", "parent": ends[parent], "child": ends[child]}
        last = pairs[-1]


def _marks(told: _Told) -> Iterator[Mapping[str, Json]]:
    last: tuple[int, str] | None = None
    while marks := told.store.all_marks(after=last, limit=_BATCH):
        records = told.addresses({mark.ref for mark in marks})
        for mark in marks:
            if mark.ref in records:
                yield {"type": "mark", "record": records[mark.ref], "label": mark.label, "data": mark.data}
        last = (marks[-1].ref, marks[-1].label)


# ── import ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Arriving(Protocol):
    """Makes of what a line says what is written."""

    def writes(self, arrived: Write) -> Sequence[Write]: ...


def import_lines(
    store: Store, lines: Iterable[str], progress: Progress | None = None, arriving: Arriving | None = None
) -> ImportReport:
    """Add everything in the lines to the store; what is there already stays as it is. Without `arriving`, every line is
    written as it is."""
    reader = _Reader(lines)
    reader.header()
    policies: dict[str, Policy] = {}
    batch: list[Write] = []
    seen: Counter[Json] = Counter()
    added = 0
    for item in reader:
        kind = item.get("type")
        if kind == "end":
            reader.check_end(item, seen)
            break
        if kind == "collection":
            name = reader.text(item, "name")
            policies[name] = _policy(reader, name, item)
            continue
        arrived = _write(reader, item, policies)
        batch += [arrived] if arriving is None else arriving.writes(arrived)
        seen[kind] += 1
        if len(batch) >= _BATCH:
            added += _commit(store, reader, batch)
            batch = []
            if progress:
                progress(seen["record"], 0)
    else:
        raise reader.error("the file ends early: its last line is missing; what came before is imported")
    added += _commit(store, reader, batch)
    if progress:
        progress(seen["record"], seen["record"])
    return ImportReport(seen["record"], added, seen["edge"], seen["mark"])


def _commit(store: Store, reader: _Reader, batch: Sequence[Write]) -> int:
    try:
        return sum(store.commit(batch).fresh) if batch else 0
    except NotFoundError as error:
        raise reader.error(
            f"the file was changed or cut: an edge or a mark up to here names no record ({error})"
        ) from None


def _policy(reader: _Reader, name: str, item: Mapping[str, Json]) -> Policy:
    told = Policy(item.get("append_only") is True, item.get("searchable") is not False)
    ours = policy_of(name)
    if ours not in (None, told):
        raise reader.error(f"the collection {name!r} is {ours.words()}, not {told.words()}")
    return told


def _write(reader: _Reader, item: Mapping[str, Json], policies: Mapping[str, Policy]) -> Write:
    match item.get("type"):
        case "record":
            return _put(reader, item, policies)
        case "edge":
            return _link(reader, item)
        case "mark":
            data = item.get("data")
            if not isinstance(data, dict):
                raise reader.error("data must be an object")
            return Mark(reader.key(item, "record"), reader.text(item, "label"), data, overwrite=False)
        case kind:
            raise reader.error(f"unknown type {kind!r}")


def _link(reader: _Reader, item: Mapping[str, Json]) -> Link:
    parent, child = reader.key(item, "parent"), reader.key(item, "child")
    if not may_cover((parent.collection, parent.group), (child.collection, child.group)):
        raise reader.error(
            f"{parent.id!r} of {parent.collection!r} / {parent.group!r} cannot cover {child.id!r} of "
            f"{child.collection!r} / {child.group!r}: a summary covers turns and summaries of its own session"
        )
    return Link(parent, child)


def _put(reader: _Reader, item: Mapping[str, Json], policies: Mapping[str, Policy]) -> Put:
    collection, metadata, ts = reader.text(item, "collection"), item.get("metadata"), item.get("ts")
    if collection.startswith(_OF_THIS_STORE_ONLY):
        raise reader.error(f"the collection {collection!r} is a store's own and cannot be imported")
    if not isinstance(metadata, dict) or not isinstance(ts, int) or isinstance(ts, bool):
        raise reader.error("metadata must be an object and ts an integer")
    stored = metadata if summarised_namespace_of(collection) is None else without_continuity(metadata)
    draft = Draft(
        collection, reader.text(item, "id"), reader.text(item, "text"), stored, ts, reader.text(item, "group")
    )
    try:
        checked_name("id", draft.id)
        milliseconds("ts", ts)
        checked_text("text", draft.text)
        checked_text("group", draft.group)
        check_place(collection, draft.group)
        checked_metadata(stored)
    except InvalidInputError as error:
        raise reader.error(str(error)) from None
    if content_hash(draft.group, draft.id, ts, draft.text, canonical_json(stored)) != item.get("hash"):
        raise reader.error(f"the record {draft.id!r} does not match its hash")
    policy = policies.get(collection) or policy_of(collection) or Policy()
    return Put(draft, append_only=policy.append_only, searchable=policy.searchable)


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

    def check_end(self, item: Mapping[str, Json], seen: Counter[Json]) -> None:
        counted = _end(seen, self._digest.hexdigest())
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
        except (ValueError, RecursionError) as error:
            raise self.error(f"not JSON ({error})") from None
        if not isinstance(item, dict):
            raise self.error("must be a JSON object")
        return cast(Mapping[str, Json], item)
