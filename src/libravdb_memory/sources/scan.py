"""What is in a root now: its files, its folders, and what could not be looked at.

Laws: every folder is entered at most once, whatever links say; no link leads out of the root; what vanishes while it is
looked at counts as gone, and what cannot be looked at counts as unknown, never as gone. The order is that of the names.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from libravdb_memory.errors import InvalidInputError
from libravdb_memory.ingest.turns import checked_name
from libravdb_memory.sources.reading import Stamp, reason_of, stamp_of
from libravdb_memory.sources.settings import Root

MOST_FILES = 200_000


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` is relative to the root, "" for the root itself."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """A file: where it really is, and its stamp."""

    place: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Scan:
    """`files` by their path relative to the root, with slashes. `folders` are those that were entered. `unknown` are
    folders whose content is not known. `missing`: there is no root."""

    files: dict[str, Found] = field(default_factory=dict[str, Found])
    folders: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    missing: bool = False

    def tells_of(self, path: str) -> bool:
        """Whether the absence of this path means that it is gone."""
        return not any(folder in ("", path) or path.startswith(folder + "/") for folder in self.unknown)


def scan(root: Root, most_files: int = MOST_FILES) -> Scan:
    walk = _Walk(root, most_files)
    walk.run()
    if is_gone(walk.top):  # perhaps only since a moment: what was seen of it tells nothing
        return Scan(missing=True)
    files = {path: walk.files[path] for path in sorted(walk.files)}
    return Scan(files, tuple(walk.folders), tuple(walk.unknown), tuple(walk.problems))


def is_gone(folder: str | Path) -> bool:
    """Whether there is no such folder. One that cannot be looked at is not gone."""
    try:
        return not stat.S_ISDIR(os.stat(folder).st_mode)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


class _Walk:
    """Folders wait in two lines: those behind links come last, so that a folder has its real name where it can."""

    def __init__(self, root: Root, most_files: int) -> None:
        self.root = root
        self.top = os.path.realpath(root.path)
        self.files: dict[str, Found] = {}
        self.folders: list[str] = []
        self.unknown: list[str] = []
        self.problems: list[Problem] = []
        self._left = most_files
        self._entered: set[tuple[int, int]] = set()
        self._apart = {os.path.realpath(path) for path in root.apart}
        self._linked_files: list[tuple[str, str]] = []
        self._linked_folders: list[tuple[str, str]] = []

    def run(self) -> None:
        self._descend("", self.top)
        while self._linked_folders:
            self._descend(*self._linked_folders.pop())
        places = {found.place for found in self.files.values()}
        for path, place in sorted(self._linked_files):
            if place not in places:
                self._add(path, place)

    def _descend(self, path: str, place: str) -> None:
        waiting = [(path, place)]
        while waiting:
            path, place = waiting.pop()
            try:
                if self._is_new(place):
                    waiting += reversed(list(self._look_into(path, place)))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                self.unknown.append(path)
                self.problems.append(Problem(path, reason_of(error)))

    def _is_new(self, place: str) -> bool:
        status = os.stat(place)  # noqa: PTH116
        identity = (status.st_dev, status.st_ino)
        if identity in self._entered:
            return False
        self._entered.add(identity)
        return True

    def _look_into(self, folder: str, place: str) -> Iterator[tuple[str, str]]:
        """The folders below; files are noted."""
        with os.scandir(place) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        self.folders.append(place)
        for entry in listed:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.path in self._apart:
                continue
            if entry.is_symlink():
                self._follow(path, entry)
            elif entry.is_dir(follow_symlinks=False):
                if self.root.selection.enters(path):
                    yield path, entry.path
            elif self.root.selection.takes(path):
                self._add(path, entry.path)

    def _follow(self, path: str, entry: os.DirEntry[str]) -> None:
        selection = self.root.selection
        try:
            is_folder = entry.is_dir()
        except OSError:  # a link to itself
            is_folder = False
        if not (selection.enters(path) if is_folder else selection.takes(path)):
            return
        place = os.path.realpath(entry.path)
        if not os.path.exists(place):  # noqa: PTH110
            self.problems.append(Problem(path, "is a link that leads nowhere"))
        elif not Path(place).is_relative_to(self.top):
            self.problems.append(Problem(path, "is a link that leads out of the root"))
        elif place not in self._apart:
            (self._linked_folders if is_folder else self._linked_files).append((path, place))

    def _add(self, path: str, place: str) -> None:
        if self._left == 0:
            if not self.unknown or self.unknown[-1] != "":
                self.unknown.append("")
                self.problems.append(Problem("", f"holds more files than can be read; {path} and others are not"))
            return
        try:
            checked_name("document", f"{self.root.name}/{path}")
            self.files[path] = Found(place, stamp_of(os.lstat(place)))
            self._left -= 1
        except InvalidInputError as error:
            self.problems.append(Problem(printable(path), f"its name {error.reason}"))
        except FileNotFoundError:
            return
        except OSError as error:
            self.unknown.append(path)
            self.problems.append(Problem(path, reason_of(error)))


def printable(path: str) -> str:
    return os.fsencode(path).decode(errors="replace")
