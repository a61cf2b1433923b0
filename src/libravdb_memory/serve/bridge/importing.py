"""An import that goes to a daemon in parts.

Laws: the file is read and checked here, line by line, as an import is anywhere; what holds is sent on in parts of a
bounded size, each of them a whole export. So a file that is cut short or changed is told with its line, and what came
before is imported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from libravdb_memory.errors import InvalidInputError, NotFoundError
from libravdb_memory.identity import Json, canonical_json, content_hash
from libravdb_memory.portability import FORMAT, VERSION, ImportReport, import_lines
from libravdb_memory.store.protocol import Commit, Key, Link, Mark, Progress, Put, Store, Write

PART_BYTES = 4 << 20
Send: TypeAlias = Callable[[Iterable[str]], ImportReport]


def import_through(send: Send, lines: Iterable[str], progress: Progress | None) -> ImportReport:
    forwarding = cast(Store, _Forwarding(send))  # of a store, an import only commits
    return import_lines(forwarding, lines, progress)


class _Forwarding:
    def __init__(self, send: Send) -> None:
        self._send = send

    def commit(self, writes: Sequence[Write]) -> Commit:
        try:
            added = sum(self._send(part).added for part in parts_of(writes))
        except InvalidInputError as error:  # its line is that of a part
            raise NotFoundError("", error.reason) from error
        return Commit(0, (), (True,) * added)


def parts_of(writes: Iterable[Write], most_bytes: int = PART_BYTES) -> Iterator[list[str]]:
    """Whole exports, in order, of at least one write each."""
    part, size = _Part(), 0
    for write in writes:
        size += part.add(write)
        if size >= most_bytes:
            yield part.whole()
            part, size = _Part(), 0
    if part.counts:
        yield part.whole()


class _Part:
    def __init__(self) -> None:
        self.lines: list[str] = [canonical_json({"format": FORMAT, "version": VERSION})]
        self.counts: dict[str, Json] = {}
        self._told: set[str] = set()

    def add(self, write: Write) -> int:
        """The size of what was added."""
        before = len(self.lines)
        match write:
            case Put(draft):
                if draft.collection not in self._told:
                    self._told.add(draft.collection)
                    self._line("collection", _policy(write))
                self._line("record", _record(write), "records")
            case Link(parent, child):
                self._line("edge", {"parent": _address(parent), "child": _address(child)}, "edges")
            case Mark(key, label, data):
                self._line("mark", {"record": _address(key), "label": label, "data": data}, "marks")
            case _:
                raise TypeError(f"an import makes no {type(write).__name__}")
        return sum(len(line) for line in self.lines[before:])

    def whole(self) -> list[str]:
        digest = hashlib.sha256("".join(f"{line}\n" for line in self.lines).encode())
        counts = {"records": 0, "edges": 0, "marks": 0, **self.counts}
        return [*self.lines, canonical_json({"type": "end", **counts, "digest": f"sha256:{digest.hexdigest()}"})]

    def _line(self, kind: str, facts: Mapping[str, Json], counted: str = "") -> None:
        self.lines.append(canonical_json({"type": kind, **facts}))
        if counted:
            self.counts[counted] = cast(int, self.counts.get(counted, 0)) + 1


def _policy(put: Put) -> dict[str, Json]:
    return {"name": put.draft.collection, "append_only": put.append_only, "searchable": put.searchable}


def _record(put: Put) -> dict[str, Json]:
    draft = put.draft
    return {
        "collection": draft.collection,
        "group": draft.group,
        "id": draft.id,
        "ts": draft.ts,
        "text": draft.text,
        "metadata": draft.metadata,
        "hash": content_hash(draft.group, draft.id, draft.ts, draft.text, canonical_json(draft.metadata)),
    }


def _address(key: Key) -> list[Json]:
    return [key.collection, key.group, key.id]
