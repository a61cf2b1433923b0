"""One file into text, safely.

Laws: reading never blocks (a pipe or a device is refused before a byte is asked for), never reads more than the bound,
and follows no link that was put in the file's place. Text is UTF-8 without NUL, or there is a reason in words.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass

from libravdb_memory.wording import counted

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system says of a file without reading it. Equal stamps of a file at rest mean equal content."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Content:
    """`hash` is over the bytes of the file."""

    text: str
    hash: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Unreadable:
    reason: str
    stamp: Stamp | None = None


def stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def read_file(path: str, max_bytes: int) -> Content | Unreadable | None:
    """The content of a file, why it cannot be read, or None when it is not there any more."""
    try:
        descriptor = os.open(path, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Unreadable(reason_of(error))
    try:
        return _read(descriptor, max_bytes)
    except OSError as error:
        return Unreadable(reason_of(error))
    finally:
        os.close(descriptor)


def reason_of(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _read(descriptor: int, max_bytes: int) -> Content | Unreadable:
    status = os.fstat(descriptor)
    stamp = stamp_of(status)
    if not stat.S_ISREG(status.st_mode):
        return Unreadable("is not a regular file", stamp)
    if status.st_size > max_bytes:
        return _too_large(status.st_size, max_bytes, stamp)
    raw = bytearray()
    while len(raw) <= max_bytes and (piece := os.read(descriptor, min(1 << 20, max_bytes + 1 - len(raw)))):
        raw += piece
    if len(raw) > max_bytes:
        return _too_large(len(raw), max_bytes, stamp)
    return _text(bytes(raw), stamp)


def _too_large(size: int, max_bytes: int, stamp: Stamp) -> Unreadable:
    return Unreadable(f"has {counted(size, 'byte')}; at most {max_bytes:,} are read", stamp)


def _text(raw: bytes, stamp: Stamp) -> Content | Unreadable:
    if b"\0" in raw:
        return Unreadable("is binary", stamp)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return Unreadable(f"is not UTF-8 at byte {error.start}", stamp)
    return Content(text, f"sha256:{hashlib.sha256(raw).hexdigest()}", stamp)
