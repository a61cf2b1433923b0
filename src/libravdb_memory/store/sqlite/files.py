"""Where a store's files are, and whether what lies there is ours.

Law: a file that is not ours is recognised from its first 100 bytes, before SQLite sees it, and left untouched.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from libravdb_memory.errors import ForeignFileError, StoreCorruptError

DATA_NAME = "data.libravdb"
APPLICATION_ID = 0x4C564442  # "LVDB"
_MAGIC = b"SQLite format 3\0"


def locate(path: str | os.PathLike[str]) -> Path:
    """The data file meant by a path: a folder (existing, ending in a slash, or a name without suffix) holds one. A link
    is followed, so that a store has one owner by whatever name it is opened."""
    spelled = os.fspath(path)
    found = Path(spelled)
    names_folder = spelled.endswith(("/", os.sep)) or (not found.suffix and not found.is_file())
    data = found / DATA_NAME if found.is_dir() or names_folder else found
    return Path(os.path.realpath(data)) if data.is_symlink() else data


def beside(data: Path, suffix: str) -> Path:
    return data.with_name(data.name + suffix)


def holds_store(data: Path) -> bool:
    """True when a store is there, False when nothing is; ForeignFileError when something else is."""
    try:
        mode = data.stat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(mode):  # opening a pipe would wait for ever, and a device is nothing to replace
        raise ForeignFileError(data, "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file")
    with data.open("rb") as file:
        head = file.read(100)
    if not head:
        return False
    if not head.startswith(_MAGIC):
        raise ForeignFileError(data, "it is not a SQLite file")
    if int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise ForeignFileError(data, "it is another program's SQLite file")
    return True


def refuse_remains(data: Path) -> None:
    """Where a store was lost no new one is made: not where a file was cut to nothing, and a write-ahead log whose data
    file is gone must not be replayed."""
    if data.exists() and beside(data, "-lock").exists():
        raise StoreCorruptError(data, "it is empty, though a store was here; remove it to start anew")
    for suffix in ("-wal", "-journal"):
        log = beside(data, suffix)
        if log.exists() and log.stat().st_size:
            raise StoreCorruptError(data, f"{log.name} is there without its data file; move it away to start anew")


def make_folder(folder: Path) -> None:
    """Create the folder, durably, for its owner alone; an existing one keeps its permissions."""
    if folder.is_dir():
        return
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):  # one by one: `parents` would give those above the rights of the day
        each.mkdir(mode=0o700, exist_ok=True)
    for made in missing:
        sync_folder(made.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in this folder durable (Windows needs and offers no such thing)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def size_on_disk(data: Path) -> int:
    files = [beside(data, suffix) for suffix in ("", "-wal", "-shm")]
    derived = beside(data, "-ann")
    if derived.is_dir():
        files.extend(derived.iterdir())
    return sum(file.stat().st_size for file in files if file.exists())
