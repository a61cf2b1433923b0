"""A proximity graph (HNSW of usearch) over the vectors of one collection.

Law: a graph never changes once made; it is a view of its serialised bytes, in a mapped file or in memory. Slots count
from zero in order of insertion and `refs` names them, so a replaced vector is a new slot and the old one is masked by
whoever searches.

Vectors are held as int8 under one scale for the collection, from the spread of its own components: the library's own
scale, made for components up to one, wastes most of the eight bits on unit vectors of hundreds of dimensions. The inner
product orders unit vectors as the cosine does and needs no length, so zero vectors do no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from libravdb_memory.store.sqlite import cosine
from libravdb_memory.store.sqlite.annfile import Contents
from libravdb_memory.store.sqlite.resident import SlotMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from libravdb_memory.store.sqlite.cosine import Query, Refs, Rows, Slots

    Codes = NDArray[np.int8]
    Tags = NDArray[np.uint64]

CONNECTIVITY = 24
EXPANSION_ADD = 128
# Candidates followed while searching: recall@10 .996 at 100,000 synthetic vectors. The figure for more is not measured.
_EXPANSION_SEARCH = 96
_EXPANSION_SEARCH_LARGE = 192
_LARGE = 200_000
_ADD_ROWS = 512


class _Matches(Protocol):
    keys: NDArray[np.uint64]


class _Index(Protocol):
    """What we use of usearch.index.Index, which has no types of its own."""

    def add(self, keys: Tags, vectors: Codes, *, threads: int) -> object: ...
    def search(self, vectors: Codes, count: int, *, threads: int) -> _Matches: ...
    def save(self) -> bytes | bytearray: ...
    def load(self, path_or_buffer: bytes) -> object: ...
    def view(self, path_or_buffer: memoryview | bytes) -> object: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Encoded:
    """Vectors ready for a graph."""

    refs: Refs
    tags: Tags
    codes: Codes


@dataclass(frozen=True, slots=True)
class Graph:
    contents: Contents
    places: SlotMap
    index: _Index

    @property
    def refs(self) -> Refs:
        return self.contents.refs

    def nearest(self, query: Query, count: int) -> Slots:
        """About the `count` nearest slots, nearest first; fewer when the graph does not lead to more."""
        codes = quantise(query.unit, self.contents.scale)
        return self.index.search(codes, count, threads=1).keys.astype(np.intp)


def parameters() -> str:
    """Part of a file's identity: a graph made with others is made again."""
    return f"usearch {version('usearch')} hnsw ip i8 m{CONNECTIVITY} ef{EXPANSION_ADD}"


def open_graph(contents: Contents, dimensions: int) -> Graph:
    index = _new_index(dimensions, _EXPANSION_SEARCH if len(contents.refs) <= _LARGE else _EXPANSION_SEARCH_LARGE)
    index.view(contents.graph)
    ascending = bool((contents.refs[1:] > contents.refs[:-1]).all())
    return Graph(contents, SlotMap.of(contents.refs, ascending), index)


def build(old: Contents | None, new: Encoded, scale: float, tick: Callable[[int, int], None]) -> Contents:
    """Serialise a graph of the old one's slots (if any) followed by the new vectors. `tick` is called with slots done
    and to do after every few hundred; an exception from it ends the work."""
    index = _new_index(new.codes.shape[1])
    start = 0
    if old is not None:
        index.load(bytes(old.graph))
        start = len(old.refs)
    total = start + len(new.refs)
    for at in range(0, len(new.refs), _ADD_ROWS):
        codes = new.codes[at : at + _ADD_ROWS]
        index.add(np.arange(start + at, start + at + len(codes), dtype=np.uint64), codes, threads=1)
        tick(start + at + len(codes), total)
    refs = new.refs if old is None else np.concatenate((old.refs, new.refs))
    tags = new.tags if old is None else np.concatenate((old.tags, new.tags))
    return Contents(refs, tags, scale, bytes(index.save()))


def encode(blocks: Iterable[tuple[Refs, Rows]], dimensions: int, scale: float | None) -> tuple[Encoded, float]:
    """Read and quantise; the scale, if not given, is taken from the first block: components of one embedding space are
    spread alike everywhere."""
    refs: list[Refs] = []
    tags: list[Tags] = []
    codes: list[Codes] = []
    for block_refs, rows in blocks:
        unit = rows.copy()
        cosine.make_unit(unit)
        scale = scale or scale_of(unit)
        refs.append(block_refs)
        tags.append(tag(rows))
        codes.append(quantise(unit, scale))
    if not refs:
        return Encoded(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty((0, dimensions), np.int8)), scale or 1.0
    return Encoded(np.concatenate(refs), np.concatenate(tags), np.concatenate(codes)), scale or 1.0


def scale_of(unit: Rows) -> float:
    """Nearly all components of these rows fit into int8 under this factor."""
    largest = float(np.quantile(np.abs(unit), 0.9999))
    return 127 / largest if largest > 0 else 127.0


def quantise(unit: Rows, scale: float) -> Codes:
    codes: Codes = np.clip(np.rint(unit * np.float32(scale)), -127, 127).astype(np.int8)
    return codes


def tag(rows: Rows) -> Tags:
    """64 bits of each vector that tell whether it is still the one in the graph."""
    words = np.ascontiguousarray(rows).view(np.uint32).astype(np.uint64)
    tags: Tags = (words * _tag_weights(rows.shape[1])).sum(axis=1, dtype=np.uint64)
    return tags


@lru_cache(maxsize=8)
def _tag_weights(dimensions: int) -> Tags:
    """Odd numbers without pattern (the finaliser of splitmix64); part of the file format."""
    mixed = np.arange(1, dimensions + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31)) | np.uint64(1)


def _new_index(dimensions: int, expansion_search: int = _EXPANSION_SEARCH) -> _Index:
    from usearch.index import Index  # pyright: ignore[reportMissingTypeStubs]

    # Key lookups stay enabled: without them usearch 2.25 writes beyond its memory.
    made: Any = Index(
        ndim=dimensions,
        metric="ip",
        dtype="i8",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=expansion_search,
    )
    return cast("_Index", made)
