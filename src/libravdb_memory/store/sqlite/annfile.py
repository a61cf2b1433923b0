"""The file of an approximate index.

    magic, length of the header · header (JSON) · sha256 of all before · zeros up to a multiple of 64
    · refs (int64) · tags (uint64) · graph, as usearch serialises it

Law: a file is used only if it is whole and is ours: magic, identity, length and checksums are compared before a byte of
it reaches the library, which would crash on a damaged graph. A file appears under its name only when it is on disk.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from libravdb_memory.identity import canonical_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from libravdb_memory.store.sqlite.cosine import Refs

_MAGIC = b"LVDBANN\x01"
_PREFIX = struct.Struct("<8sI")
_DIGEST_BYTES = 32
_ALIGNMENT = 64
_MAX_HEADER = 1 << 16


class UnusableIndexError(Exception):
    """Never leaves the store: the index is rebuilt, and its state names the reason."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a file must agree with to be this index."""

    store: str
    space: int
    fingerprint: str
    collection: int
    dimensions: int
    parameters: str


@dataclass(frozen=True, slots=True)
class Contents:
    """`edits` is the table's count of edits when these were all its rows up to the highest ref, None when they were
    not (the table is compared row by row then)."""

    refs: Refs
    tags: NDArray[np.uint64]
    scale: float
    graph: memoryview | bytes
    edits: int | None = None


def write(path: Path, identity: Identity, contents: Contents) -> None:
    """Replace the file, or leave it as it was (OSError)."""
    sections = (contents.refs.astype("<i8").tobytes(), contents.tags.astype("<u8").tobytes(), contents.graph)
    head = _head(identity, contents, sections)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".tmp")
    try:
        with partial.open("wb") as file:
            for part in (head, *sections):
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def read(path: Path, identity: Identity) -> Contents:
    """Map the file. Raises UnusableIndexError with the reason."""
    try:
        with path.open("rb") as file:
            whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise UnusableIndexError(f"cannot be read ({error})") from error
    header, start = _read_header(whole)
    found = header.get("identity")
    if found != asdict(identity):
        raise UnusableIndexError(_difference(found, asdict(identity)))
    lengths = cast("list[int]", header["lengths"])
    if start + sum(lengths) != len(whole):
        raise UnusableIndexError(f"has {len(whole)} bytes, not {start + sum(lengths)}")
    if hashlib.sha256(whole[start:]).hexdigest() != header["sections"]:
        raise UnusableIndexError("checksum differs")
    refs_end, tags_end = start + lengths[0], start + lengths[0] + lengths[1]
    return Contents(
        np.frombuffer(whole[start:refs_end], "<i8"),
        np.frombuffer(whole[refs_end:tags_end], "<u8"),
        float(cast("float", header["scale"])),
        whole[tags_end:],
        cast("int | None", header.get("edits")),
    )


def _head(identity: Identity, contents: Contents, sections: tuple[bytes | memoryview, ...]) -> bytes:
    digest = hashlib.sha256()
    for section in sections:
        digest.update(section)
    header = canonical_json(
        {
            "identity": asdict(identity),
            "scale": contents.scale,
            "edits": contents.edits,
            "lengths": [len(section) for section in sections],
            "sections": digest.hexdigest(),
        }
    ).encode()
    head = _PREFIX.pack(_MAGIC, len(header)) + header
    head += hashlib.sha256(head).digest()
    return head + bytes(-len(head) % _ALIGNMENT)


def _read_header(whole: memoryview) -> tuple[dict[str, object], int]:
    if len(whole) < _PREFIX.size:
        raise UnusableIndexError("is truncated")
    magic, length = cast("tuple[bytes, int]", _PREFIX.unpack_from(whole))
    if magic != _MAGIC or length > _MAX_HEADER:
        raise UnusableIndexError("is not an index of this format")
    end = _PREFIX.size + length
    if hashlib.sha256(whole[:end]).digest() != bytes(whole[end : end + _DIGEST_BYTES]):
        raise UnusableIndexError("header is damaged")
    header = cast("dict[str, object]", json.loads(bytes(whole[_PREFIX.size : end])))
    end += _DIGEST_BYTES
    return header, end + -end % _ALIGNMENT


def _difference(found: object, expected: dict[str, object]) -> str:
    held = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    names = [name for name, value in expected.items() if held.get(name) != value]
    return f"belongs to another index ({', '.join(names)} differ)"


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open folders; the rename is journalled there.
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
