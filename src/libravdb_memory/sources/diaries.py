"""The diaries of a root, read again when they change.

Laws: a diary is promoted as a whole; one that is gone, cannot be read or promotes nothing leaves what it promoted
before. Promoting again changes nothing, so nothing needs to be remembered over a restart. Its name is where it
really is, as for those that promote it by hand: read both ways, it is one diary.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from libravdb_memory.errors import ConfigError
from libravdb_memory.masking import Masking
from libravdb_memory.namespaces import resolve_namespace
from libravdb_memory.sources.diary import read_diary
from libravdb_memory.sources.dreams import Promotion, promote
from libravdb_memory.sources.reading import Unreadable, read_file
from libravdb_memory.sources.report import Report, Seen
from libravdb_memory.sources.scan import Problem, scan
from libravdb_memory.sources.settings import Root
from libravdb_memory.store.protocol import Store


class DiaryLoader:
    """Not for several threads at once. `promoted` is called after dreams were stored."""

    def __init__(
        self,
        root: Root,
        store: Store,
        masking: Masking,
        *,
        promoted: Callable[[], None] = lambda: None,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        if root.user is None:
            raise ConfigError("sources.diary_user", "is needed: dreams belong to somebody")
        self.root = root
        self._namespace = resolve_namespace(root.user)
        self._store = store
        self._masking = masking
        self._promoted = promoted
        self._clock_ns = clock_ns
        self._seen: dict[str, Seen] = {}

    def run(self, stopping: Callable[[], bool] = lambda: False) -> Report:
        """Promote every diary that changed, once."""
        found = scan(self.root)
        report = Report(folders=found.folders, missing=found.missing)
        self._seen = {path: seen for path, seen in self._seen.items() if path in found.files}
        for path, file in found.files.items():
            if stopping():
                report.complete = False
                break
            seen = self._seen.get(path)
            if seen is None or not seen.still_holds(file.stamp):
                self._look_at(path, file.place, report)
        report.problems = (
            *found.problems,
            *(Problem(p, seen.problem) for p, seen in self._seen.items() if seen.problem),
        )
        report.documents = len(self._seen)
        return report

    def _look_at(self, path: str, place: str, report: Report) -> None:
        content = read_file(place, self.root.max_bytes)
        before, now_ns = self._seen.get(path), self._clock_ns()
        if isinstance(content, Unreadable):
            self._seen[path] = Seen(content.stamp, now_ns, problem=content.reason)
        elif content is not None and before is not None and before.hash == content.hash:
            self._seen[path] = Seen(content.stamp, now_ns, content.hash, before.problem)
        elif content is not None:
            done = self._promote(place, content.text, now_ns)
            if done.changed:
                (report.added if before is None else report.changed).append(path)
            self._seen[path] = Seen(content.stamp, now_ns, content.hash, _problem_of(done))

    def _promote(self, place: str, text: str, now_ns: int) -> Promotion:
        diary, entries = os.path.realpath(place), read_diary(text)
        done = promote(self._store, self._masking, self._namespace, diary, entries, now_ns // 1_000_000)
        if done.changed:
            self._promoted()
        return done


def _problem_of(done: Promotion) -> str:
    if done.promoted:
        return ""
    return f"promotes nothing ({len(done.rejected)} rejected); what it promoted before stays"
