"""Verification: everything stored is re-derived or looked at from the other side.

Law: it changes nothing, and each problem names the command that mends it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from libravdb_memory.errors import StoreCorruptError
from libravdb_memory.identity import content_hash
from libravdb_memory.store.protocol import Problem, Progress, Space, Verification
from libravdb_memory.store.sqlite import lacking, spaces, textcheck
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.schema import REF_BITS, token_table, vector_table

if TYPE_CHECKING:
    from libravdb_memory.store.sqlite.vectors import VectorShelf

RESTORE = "libravdb restore BACKUP, or libravdb export --salvage FILE for what can be read"
REINDEX = "libravdb reindex --indexes"
_MOST_OF_A_KIND = 100
_REPORT_EVERY = 1000


class _Report:
    """Counts what was looked at, keeps what was wrong, and tells how far it is."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.checked: Counter[str] = Counter()
        self.problems: list[Problem] = []
        self._kinds: Counter[str] = Counter()
        self._total = total
        self._done = 0
        self._progress = progress

    def looked(self, kind: str, number: int = 1) -> None:
        self.checked[kind] += number

    def step(self) -> None:
        self._done += 1
        if self._progress is not None and self._done % _REPORT_EVERY == 0:
            self._progress(min(self._done, self._total), self._total)

    def finish(self) -> None:
        if self._progress is not None:
            self._progress(self._total, self._total)

    def add(self, problem: Problem) -> None:
        self._kinds[problem.kind] += 1
        if self._kinds[problem.kind] <= _MOST_OF_A_KIND:
            self.problems.append(problem)


def verify(db: Database, shelf: VectorShelf, path: Path, progress: Progress | None) -> Verification:
    """The connection must remember nothing of what it reads."""
    report = _Report(_total(db), progress)
    known = spaces.list_spaces(db)
    parts: tuple[Callable[[], None], ...] = (
        lambda: _pages(db, report),
        lambda: _records(db, report),
        lambda: _text_index(db, report),
        lambda: _names(db, report),
        lambda: _edges(db, report),
        lambda: _marks(db, report),
        lambda: _vectors(db, known, report),
        lambda: _tokens(db, known, report),
        lambda: _files(shelf, known, report),
    )
    for part in parts:
        try:
            part()
        except (apsw.Error, StoreCorruptError, AttributeError, TypeError, ValueError) as error:
            # A damaged row need not have the types of its columns.
            report.add(Problem("page", str(path), str(error), RESTORE))
    report.finish()
    return Verification(dict(report.checked), tuple(report.problems))


def _total(db: Database) -> int:
    try:
        return int(db.execute("SELECT count(*) FROM record").get)
    except apsw.CorruptError:
        return 0


def _pages(db: Database, report: _Report) -> None:
    report.looked("pages", int(db.pragma("page_count")))
    for (finding,) in db.execute(f"PRAGMA integrity_check({_MOST_OF_A_KIND:d})"):
        if finding != "ok":
            index = finding.startswith("fts5") or ("index" in finding and "tree" not in finding.lower())
            report.add(Problem("page", "data file", finding, REINDEX if index else RESTORE))


def _records(db: Database, report: _Report) -> None:
    sql = (
        "SELECT r.ref, CAST(g.name AS BLOB), g.collection, CAST(r.id AS BLOB), r.ts, CAST(r.text AS BLOB), "
        "CAST(r.metadata AS BLOB), CAST(r.hash AS BLOB) FROM record r LEFT JOIN grp g ON g.key = r.grp ORDER BY r.ref"
    )
    for ref, group, collection, record_id, ts, text, metadata_json, digest in db.execute(sql):
        report.looked("records")
        report.step()
        where = f"record {_readable(record_id)!r}"
        if group is None or collection != ref >> REF_BITS:
            report.add(Problem("group", where, "its group is gone or belongs to another collection", RESTORE))
        elif not agrees(digest, group, record_id, ts, text, metadata_json):
            report.add(Problem("hash", where, "its content is not what was stored", RESTORE))


def _readable(raw: bytes | None) -> str:
    return "" if raw is None else raw.decode(errors="replace")


def agrees(digest: bytes, group: bytes, record_id: bytes, ts: int, text: bytes, metadata_json: bytes) -> bool:
    """Whether a record is what was stored. Read as bytes, because what is damaged need not be text any more."""
    try:
        content = group.decode(), record_id.decode(), ts, text.decode(), metadata_json.decode()
        return content_hash(*content) == digest.decode()
    except (AttributeError, UnicodeDecodeError):
        return False


def _text_index(db: Database, report: _Report) -> None:
    report.looked("text index")
    try:
        found = textcheck.difference(db)
    except apsw.CorruptError as error:
        found = str(error)
    if found is not None:
        report.add(Problem("text index", "fts", found, REINDEX))


def _names(db: Database, report: _Report) -> None:
    report.looked("collections", int(db.execute("SELECT count(*) FROM collection").get))
    report.looked("groups", int(db.execute("SELECT count(*) FROM grp").get))
    for (name,) in db.execute("SELECT name FROM grp WHERE collection NOT IN (SELECT key FROM collection)"):
        report.add(Problem("group", f"group {name!r}", "its collection is gone", RESTORE))


def _edges(db: Database, report: _Report) -> None:
    report.looked("edges", int(db.execute("SELECT count(*) FROM edge").get))
    sql = (
        "SELECT parent, child FROM edge WHERE parent NOT IN (SELECT ref FROM record) "
        "OR child NOT IN (SELECT ref FROM record)"
    )
    for parent, child in db.execute(sql):
        report.add(Problem("edge", f"edge {parent} -> {child}", "one of its records is gone", RESTORE))
    for ref in _on_cycles(db):
        report.add(Problem("edge", f"record {ref}", "lies on a cycle", RESTORE))


def _marks(db: Database, report: _Report) -> None:
    report.looked("marks", int(db.execute("SELECT count(*) FROM mark").get))
    sql = (
        "SELECT m.ref, l.name, r.ref IS NULL FROM mark m LEFT JOIN label l ON l.key = m.label "
        "LEFT JOIN record r ON r.ref = m.ref WHERE l.key IS NULL OR r.ref IS NULL OR NOT json_valid(m.data)"
    )
    for ref, label, orphan in db.execute(sql):
        detail = "its record is gone" if orphan else "its label is gone" if label is None else "its data is not JSON"
        report.add(Problem("mark", f"mark {label!r} of record {ref}", detail, RESTORE))


def _on_cycles(db: Database) -> Iterator[int]:
    """What is left after taking away, again and again, every record that nothing left covers."""
    children: dict[int, list[int]] = {}
    covered: Counter[int] = Counter()
    for parent, child in db.execute("SELECT parent, child FROM edge"):
        children.setdefault(parent, []).append(child)
        covered[child] += 1
    free = [parent for parent in children if not covered[parent]]
    while free:
        for child in children.pop(free.pop(), ()):
            covered[child] -= 1
            if not covered[child]:
                free.append(child)
    return (parent for parent in children if covered[parent])


def _vectors(db: Database, known: tuple[Space, ...], report: _Report) -> None:
    from libravdb_memory.store.sqlite.vectortable import fault_of

    for space in known:
        where = f"space {space.label}"
        table = vector_table(space.key)
        sql = f"SELECT v.ref, v.data, r.ref IS NULL FROM {table} v LEFT JOIN record r ON r.ref = v.ref"  # noqa: S608
        for ref, data, orphan in db.execute(sql):
            report.looked("vectors")
            if orphan:
                report.add(Problem("vector", f"{where}, record {ref}", "its record is gone", REINDEX))
            elif fault := fault_of(space, data):
                report.add(Problem("vector", f"{where}, record {ref}", fault, REINDEX))


def _tokens(db: Database, known: tuple[Space, ...], report: _Report) -> None:
    for space in known:
        if not space.tokens:
            continue
        where, table = f"space {space.label}", token_table(space.key)
        report.looked("token rows", int(db.execute(f"SELECT count(*) FROM {table}").get))  # noqa: S608
        sql = (
            f"SELECT t.ref, r.ref IS NULL FROM {table} t LEFT JOIN record r ON r.ref = t.ref "  # noqa: S608
            "WHERE r.ref IS NULL OR typeof(t.data) <> 'blob'"
        )
        for ref, orphan in db.execute(sql):
            detail = "its record is gone" if orphan else "is no blob"
            report.add(Problem("token row", f"{where}, record {ref}", detail, REINDEX))
        for ref in lacking.lost_tokens(db, space):
            report.add(Problem("token row", f"{where}, record {ref}", "is lost", REINDEX))


def _files(shelf: VectorShelf, known: tuple[Space, ...], report: _Report) -> None:
    for space in known:
        report.looked("vector indexes")
        for problem in shelf.verify(space):
            report.add(problem)
