"""A disk that can lose power, as a SQLite VFS over the real file system.

Model: what was synced is on the platter. Of what was written since, any sectors may have arrived and others not, in any
order, torn inside a write; a truncation may be lost; a new file's name is sure only after its first sync (which syncs
the folder too), and a deleted one may come back until then. A wreck is one moment of that, taken between two
operations, from which any number of images can be drawn.
"""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

import apsw

SECTORS = (512, 4096)


@dataclass
class Contents:
    """`pending` are writes (offset, bytes) and truncations (length, None) since the last sync."""

    synced: bytearray
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    named_for_sure: bool = True

    def settle(self) -> None:
        for place, data in self.pending:
            _apply(self.synced, place, data)
        self.pending.clear()
        self.named_for_sure = True

    def torn(self, chance: random.Random) -> bytes:
        """What the platter may hold."""
        image = bytearray(self.synced)
        arrives = chance.choice((0.0, 0.2, 0.5, 0.8, 1.0))
        sector = chance.choice(SECTORS)
        for place, data in self.pending:
            if data is None:
                if chance.random() < arrives:
                    _apply(image, place, None)
                continue
            at = 0
            while at < len(data):
                size = sector - (place + at) % sector
                if chance.random() < arrives:
                    _apply(image, place + at, data[at : at + size])
                at += size
        return bytes(image)


def _apply(image: bytearray, place: int, data: bytes | None) -> None:
    if data is None:
        del image[place:]
        return
    if len(image) < place:
        image.extend(bytes(place - len(image)))
    image[place : place + len(data)] = data


@dataclass
class Wreck:
    files: dict[str, Contents]
    ghosts: dict[str, Contents]

    def draw(self, folder: Path, chance: random.Random) -> None:
        """Put one possible set of files into a folder."""
        held = {name: each for name, each in self.files.items() if each.named_for_sure or chance.random() < 0.5}
        held |= {name: each for name, each in self.ghosts.items() if name not in held and chance.random() < 0.5}
        for name, contents in held.items():
            (folder / name).write_bytes(contents.torn(chance))


class SimulatedDisk(apsw.VFS):
    """`before` is called before every operation that changes something, with its kind ("write", "sync", …).

    `lies` makes it forget to sync while saying it did.
    """

    def __init__(self) -> None:
        self.name = f"disk-{uuid.uuid4()}"
        self.guard = threading.RLock()
        self.before: Callable[[str], None] = lambda _: None
        self.lies = False
        self._contents: dict[int, Contents] = {}
        self._names: dict[str, int] = {}
        self._ghosts: dict[str, Contents] = {}
        super().__init__(self.name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        assert isinstance(name, str | apsw.URIFilename)
        path = Path(name if isinstance(name, str) else name.filename())
        with self.guard:
            existed = path.exists()
            file = _File(self, path, name, flags)
            inode = path.stat().st_ino
            if not existed or inode not in self._contents:
                self._contents[inode] = Contents(bytearray(path.read_bytes()), named_for_sure=existed)
            renamed = [old for old, held in self._names.items() if held == inode and old != path.name]
            for old in renamed:
                del self._names[old]
            self._names[path.name] = file.inode = inode
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:
        with self.guard:
            self.before("delete")
            super().xDelete(filename, syncdir)
            inode = self._names.pop(Path(filename).name, None)
            if inode is not None:
                contents = self._contents.pop(inode)
                self._ghosts[Path(filename).name] = contents
            if syncdir:
                self.sync_names()

    def sync_names(self) -> None:
        self._ghosts.clear()
        for inode in self._names.values():
            self._contents[inode].named_for_sure = True

    def wreck(self) -> Wreck:
        """The power goes now."""
        with self.guard:
            files = {name: deepcopy(self._contents[inode]) for name, inode in self._names.items()}
            return Wreck(files, deepcopy(self._ghosts))

    # ── what its files report ────────────────────────────────────────────────────────────────────────────────────

    def wrote(self, inode: int, offset: int, data: bytes) -> None:
        self._contents[inode].pending.append((offset, data))

    def truncated(self, inode: int, length: int) -> None:
        self._contents[inode].pending.append((length, None))

    def synced(self, inode: int) -> None:
        if self.lies:
            return
        new = not self._contents[inode].named_for_sure
        self._contents[inode].settle()
        if new:
            self.sync_names()


class _File(apsw.VFSFile):
    def __init__(self, disk: SimulatedDisk, path: Path, name: str | apsw.URIFilename, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        self.inode = 0

    def xWrite(self, data: bytes, offset: int) -> None:
        with self._disk.guard:
            self._disk.before("write")
            super().xWrite(data, offset)
            self._disk.wrote(self.inode, offset, bytes(data))

    def xTruncate(self, newsize: int) -> None:
        with self._disk.guard:
            self._disk.before("truncate")
            super().xTruncate(newsize)
            self._disk.truncated(self.inode, newsize)

    def xSync(self, flags: int) -> None:
        with self._disk.guard:
            self._disk.before("sync")
            super().xSync(flags)
            self._disk.synced(self.inode)
