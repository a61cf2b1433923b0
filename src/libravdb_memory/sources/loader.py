"""What changed in a root, brought into memory.

A file becomes the document `<root>/<path>`. Laws: a file is read again only when its stamp says so, and loaded again
only when its bytes changed, also after a restart, for a document remembers the hash of its file. A file that moved is
removed and loaded in one commit. A file that is gone takes its document along; one that cannot be read keeps the
version loaded before, and is reported. Rules that do not fit are reported, and tried again when others made room.
Secrets are masked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from libravdb_memory.errors import RulesOverrunError
from libravdb_memory.identity import Json
from libravdb_memory.ingest.partition import Partition, is_core_name
from libravdb_memory.model import Document
from libravdb_memory.sources.reading import Content, Unreadable, read_file
from libravdb_memory.sources.report import Report, Seen
from libravdb_memory.sources.scan import Problem, Scan, scan
from libravdb_memory.sources.settings import Root
from libravdb_memory.sources.tags import includes, tags_of

_LAW = 1  # raise it when the same file would make another document
_READING = "source_reading"
_BATCH_DOCUMENTS, _BATCH_CHARACTERS = 100, 2_000_000


class Documents(Protocol):
    """What a loader needs of memory."""

    def change_documents(
        self, load: Sequence[Document] = (), remove: Sequence[str] = ()
    ) -> tuple[Partition | RulesOverrunError, ...]: ...

    def sourced_documents(self, root: str | None = None) -> Mapping[str, Mapping[str, Json]]: ...


@dataclass(frozen=True, slots=True)
class _Item:
    """A document to load; `old` is the path that it comes from when it moved."""

    path: str
    seen: Seen
    document: Document
    old: str | None


@dataclass(slots=True)
class _Batch:
    items: list[_Item] = field(default_factory=list[_Item])
    characters: int = 0

    def add(self, item: _Item) -> None:
        self.items.append(item)
        self.characters += len(item.document.text)

    @property
    def is_full(self) -> bool:
        return len(self.items) >= _BATCH_DOCUMENTS or self.characters >= _BATCH_CHARACTERS


@dataclass(slots=True)
class _Absent:
    """Documents without a file. What is `departing` by its hash may turn up elsewhere in the root."""

    paths: set[str]
    departing: dict[str, list[str]]

    def arrives(self, file_hash: str) -> str | None:
        """The path that a file with this content moved away from, if it did."""
        waiting = self.departing.get(file_hash)
        old = waiting.pop() if waiting else None
        self.paths.discard(old or "")
        return old


class Loader:
    """Not for several threads at once."""

    def __init__(self, root: Root, documents: Documents, *, clock_ns: Callable[[], int] = time.time_ns) -> None:
        self.root = root
        self._documents = documents
        self._clock_ns = clock_ns
        self._seen: dict[str, Seen] = {}
        self._loaded: dict[str, str] | None = None

    def run(self, stopping: Callable[[], bool] = lambda: False) -> Report:
        """Bring everything up to date, once. When it is stopped early, `complete` is False and the next run goes on."""
        report = self._pass(stopping)
        refused = [path for path, seen in self._seen.items() if seen.refused]
        if refused and (report.changed or report.moved or report.removed) and not stopping():
            for path in refused:
                del self._seen[path]
            again = self._pass(stopping)
            again.added, again.changed = report.added + again.added, report.changed + again.changed
            again.moved, again.removed = report.moved + again.moved, report.removed + again.removed
            return again
        return report

    def _pass(self, stopping: Callable[[], bool]) -> Report:
        found = scan(self.root)
        report = Report(folders=found.folders, missing=found.missing)
        absent = self._absent(found)
        self._seen = {
            path: seen for path, seen in self._seen.items() if path in found.files or not found.tells_of(path)
        }
        batch = _Batch()
        for path, content, seen in self._news(found, absent):
            if stopping():
                report.complete = False
                break
            self._take(path, content, seen, absent, batch)
            if batch.is_full:
                batch = self._flush(batch, report)
        self._flush(batch, report)
        if report.complete:
            self._remove(sorted(absent.paths), report)
        standing = (Problem(path, seen.problem) for path, seen in self._seen.items() if seen.problem)
        report.problems = (*found.problems, *standing)
        report.documents = len(self._hashes())
        return report

    def _absent(self, found: Scan) -> _Absent:
        hashes = self._hashes()
        paths = {path for path in hashes if path not in found.files and found.tells_of(path)}
        departing: dict[str, list[str]] = {}
        for path in sorted(paths, reverse=True):
            departing.setdefault(hashes[path], []).append(path)
        return _Absent(paths, departing)

    # ── files ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _news(self, found: Scan, absent: _Absent) -> Iterator[tuple[str, Content, Seen]]:
        """The files whose content is not that of their document."""
        for path, file in found.files.items():
            before = self._seen.get(path)
            if before is not None and before.still_holds(file.stamp):
                continue
            read_ns = self._clock_ns()
            content = read_file(file.place, self.root.max_bytes)
            if isinstance(content, Content):
                seen = Seen(content.stamp, read_ns, content.hash)
                if self._hashes().get(path) != content.hash:
                    yield path, content, seen
                else:
                    self._seen[path] = seen
            else:
                self._lacks(path, content, read_ns, absent)

    def _lacks(self, path: str, problem: Unreadable | None, read_ns: int, absent: _Absent) -> None:
        """A file cannot be read, or vanished since the folder was listed."""
        loaded = path in self._hashes()
        if problem is not None:
            kept = "; the version loaded before stays" if loaded else ""
            self._seen[path] = Seen(problem.stamp, read_ns, problem=problem.reason + kept)
            return
        self._seen.pop(path, None)
        if loaded:
            absent.paths.add(path)

    # ── documents ────────────────────────────────────────────────────────────────────────────────────────────────

    def _take(self, path: str, content: Content, seen: Seen, absent: _Absent, batch: _Batch) -> None:
        loaded = path in self._hashes()
        if self._wants(path, content.text):
            old = None if loaded else absent.arrives(content.hash)
            batch.add(_Item(path, seen, self._document(path, content), old))
            return
        self._seen[path] = seen
        if loaded:
            absent.paths.add(path)

    def _wants(self, path: str, text: str) -> bool:
        if not self.root.tags or path.rpartition("/")[2].lower() == "memory.md":
            return True
        return includes(self.root.tags, tags_of(text))

    def _document(self, path: str, content: Content) -> Document:
        core = is_core_name(path)
        lore = self.root.rules == "core" and not core
        return Document(self._name(path), content.text, core, lore, self._facts(path, content.hash))

    def _facts(self, path: str, file_hash: str) -> dict[str, Json]:
        return {
            "source_root": self.root.name,
            "source_path": path,
            "source_kind": self.root.kind,
            "file_hash": file_hash,
            _READING: f"{_LAW}:{self.root.rules}",
        }

    def _name(self, path: str) -> str:
        return f"{self.root.name}/{path}"

    def _flush(self, batch: _Batch, report: Report) -> _Batch:
        """Commit a batch; an empty one follows. What a file was is noted after the commit: if that fails, the next pass
        tries again."""
        if batch.items:
            departed = [self._name(item.old) for item in batch.items if item.old is not None]
            outcomes = self._documents.change_documents([item.document for item in batch.items], departed)
            for item, outcome in zip(batch.items, outcomes, strict=True):
                self._note(item, outcome, report)
        return _Batch()

    def _note(self, item: _Item, outcome: Partition | RulesOverrunError, report: Report) -> None:
        hashes, path = self._hashes(), item.path
        if item.old is not None:
            del hashes[item.old]
        if isinstance(outcome, RulesOverrunError):
            self._seen[path] = replace(item.seen, problem=outcome.message, refused=True)
            report.removed += [item.old] if item.old is not None else []
            return
        if item.old is not None:
            report.moved.append((item.old, path))
        else:
            (report.changed if path in hashes else report.added).append(path)
        self._seen[path], hashes[path] = item.seen, item.seen.hash

    def _remove(self, paths: Sequence[str], report: Report) -> None:
        hashes = self._hashes()
        for start in range(0, len(paths), _BATCH_DOCUMENTS):
            some = paths[start : start + _BATCH_DOCUMENTS]
            self._documents.change_documents(remove=[self._name(path) for path in some])
            for path in some:
                del hashes[path]
            report.removed += some

    def _hashes(self) -> dict[str, str]:
        """The hash of the file behind each document of this root, "" where it was read by another law."""
        if self._loaded is None:
            self._loaded = {}
            for name, facts in self._documents.sourced_documents(self.root.name).items():
                if _READING not in facts:  # a host read it, from a root that it calls by the same name
                    continue
                path, file_hash = name.removeprefix(f"{self.root.name}/"), str(facts.get("file_hash", ""))
                wanted = self._facts(path, file_hash)
                same = {key: facts.get(key) for key in wanted} == wanted
                self._loaded[path] = file_hash if same else ""
        return self._loaded


def watched_root(facts: Mapping[str, Json]) -> str | None:
    """The root that a document was read from by us; None for one that a host or a person loaded."""
    root = facts.get("source_root")
    return root if _READING in facts and isinstance(root, str) else None


def forget_other_roots(documents: Documents, roots: Iterable[Root]) -> tuple[str, ...]:
    """Remove what was read from roots that are roots no more; the names of the documents."""
    names = {root.name for root in roots}
    sourced = documents.sourced_documents().items()
    stale = [name for name, facts in sourced if _READING in facts and facts.get("source_root") not in names]
    for start in range(0, len(stale), _BATCH_DOCUMENTS):
        documents.change_documents(remove=stale[start : start + _BATCH_DOCUMENTS])
    return tuple(stale)
