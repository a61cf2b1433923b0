"""What a store must do, whatever database is behind it.

Laws, for every implementation (tests/store/conformance.py runs them):

1. A commit is atomic over all its collections, and durable when `commit` returns.
2. Writes are idempotent: the same key with the same content changes nothing; with other content it is a
   ConflictError unless the write says replace.
3. Records of an append-only collection are never edited or removed, except by `erase`.
4. `ref` ascends in order of arrival inside a collection; a change sequence ascends over the whole store.
5. A vector search says whether it was exact and whether it saw every record that has a vector; it never returns
   fewer than k hits silently when more match.
6. Collections are opaque names; nothing is found through a collection it was not put in.
7. Vectors, the text index and their files are derived: they can be dropped and rebuilt from the records.
8. A mark is a named fact about a record, not part of it: it changes neither hash nor version, it may be set on records
   of append-only collections, it survives a replacement and goes with its record. Marks are not in the change log:
   who follows the log in order to mark records would otherwise follow itself.
9. Records of an unsearchable collection are read by address and page by page only: they are in no text index, need no
   vector, and no search finds them.
10. A space may keep a token row (opaque bytes) beside each vector, all made by one rule. Vector and row are stored in
   one step and leave together; a row is only ever handed to who names the rule that made it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from libravdb_memory.identity import Json
from libravdb_memory.model import Draft, Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Progress: TypeAlias = "Callable[[int, int], None]"
"""Called with (done, total); total 0 means unknown."""


# ── addresses and writes ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Key:
    """The address a caller gives a record: unique in the store."""

    collection: str
    id: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Put:
    """Store a record. `append_only` and `searchable` fix the collection's policy when this put creates it (and must
    agree later). `ts_given` False means the time was made up by us, so a re-delivery with another time is still the
    same record."""

    draft: Draft
    replace: bool = False
    append_only: bool = False
    ts_given: bool = True
    searchable: bool = True


@dataclass(frozen=True, slots=True)
class Remove:
    """Remove a record if it is there. Refused (AppendOnlyError) in an append-only collection."""

    key: Key


@dataclass(frozen=True, slots=True)
class Link:
    """Edge: `parent` covers `child`. Both must exist when the commit ends; a cycle is refused (ConflictError)."""

    parent: Key
    child: Key


@dataclass(frozen=True, slots=True)
class Expect:
    """The commit fails (StaleVersionError) unless the record is at this version; 0 means it does not exist."""

    key: Key
    version: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Set a mark on a record, over one of the same label unless `overwrite` is False. Marks and unmarks are applied
    in order after the puts and removals of their commit; a record that is not there then is a NotFoundError."""

    key: Key
    label: str
    data: Mapping[str, Json] = field(default_factory=dict[str, Json])
    overwrite: bool = True


@dataclass(frozen=True, slots=True)
class Unmark:
    """Take a mark off a record, if both are there."""

    key: Key
    label: str


Write: TypeAlias = Put | Remove | Link | Expect | Mark | Unmark


@dataclass(frozen=True, slots=True)
class Commit:
    """`records` answers the puts in order, as stored; `fresh` tells which of them changed anything."""

    sequence: int
    records: tuple[Record, ...]
    fresh: tuple[bool, ...]


# ── filters: a small grammar over "group", "id", "ts", "metadata.<key>" (top-level key), marks and edges ──────────


@dataclass(frozen=True, slots=True)
class Equals:
    field: str
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class OneOf:
    field: str
    values: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """low <= field <= high; None leaves an end open."""

    field: str
    low: int | float | None = None
    high: int | float | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """Has a mark of this label. Alone or as a part of a top-level `AllOf` it costs what the marked records cost."""

    label: str


@dataclass(frozen=True, slots=True)
class Covered:
    """Some other record covers it (`Link`)."""


@dataclass(frozen=True, slots=True)
class Not:
    of: Filter


@dataclass(frozen=True, slots=True)
class AllOf:
    of: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    of: tuple[Filter, ...]


Filter: TypeAlias = "Equals | OneOf | Between | Marked | Covered | Not | AllOf | AnyOf"


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Page:
    """`cursor` is opaque and None on the last page; it stays valid while records come and go."""

    records: tuple[Record, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    name: str
    count: int
    append_only: bool
    searchable: bool = True


@dataclass(frozen=True, slots=True)
class GroupInfo:
    """Times are those of its first and its newest record, by arrival; `characters` those of all its texts."""

    name: str
    count: int
    first_ts: int
    last_ts: int
    characters: int


@dataclass(frozen=True, slots=True)
class GroupPage:
    """`total` counts the groups on all pages."""

    groups: tuple[GroupInfo, ...]
    total: int
    cursor: str | None


@dataclass(frozen=True, slots=True)
class StoredMark:
    ref: int
    label: str
    data: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Change:
    """`searchable` is False for a put into an unsearchable collection."""

    sequence: int
    ref: int
    kind: Literal["put", "remove", "erase"]
    searchable: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """One hit of a vector or text search. Vector scores are cosines in [-1, 1]; text scores are BM25-like, > 0."""

    ref: int
    score: float


@dataclass(frozen=True, slots=True)
class VectorHits:
    """`exact`: every eligible vector was compared in full precision. `complete`: every record of the collection has
    a vector in this space (otherwise `missing` of them could not be seen). Best first; ties by ref."""

    hits: tuple[Found, ...]
    exact: bool
    complete: bool
    missing: int = 0


@dataclass(frozen=True, slots=True)
class TextQuery:
    """Phrases joined by OR. Each phrase is a run of adjacent words, not yet folded or stemmed: that is the index's
    business. Words found in too many records to tell anything are dropped by the store while another word is left."""

    phrases: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Space:
    """An embedding space known to the store. `fingerprint` is the embedder's tagged identity; equal means the same
    vectors, digit for digit, may be compared. `tokens` is the rule by which the token rows beside the vectors are
    made; empty: there are none."""

    key: int
    fingerprint: str
    label: str
    dimensions: int
    active: bool
    tokens: str = ""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """`version` is what the text was read at; hand it back to `put_vectors`."""

    ref: int
    text: str
    version: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands, and what can be told of it without reading it: `before` and `after` are the records next
    to it in its group by ref (None at an end), `length` its characters, `asks` whether it ends in a question mark
    (white space aside). `role` and `speaker` are metadata of these names, empty where there is no such text."""

    ref: int
    group: int
    ts: int
    before: int | None
    after: int | None
    role: str
    speaker: str
    length: int
    asks: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """What to erase or export: exact keys, or a whole group of a collection, or whole collections."""

    keys: tuple[Key, ...] = ()
    groups: tuple[tuple[str, str], ...] = ()
    collections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Erasure:
    records: int
    edges: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `verify` found: where, what, and the command that mends it."""

    kind: str
    where: str
    detail: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Verification:
    checked: Mapping[str, int]
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What this store really can do here, found by trying it, not by reading version strings."""

    backend: str
    version: str
    durable: bool
    text_index: bool
    vector_index: bool
    online_backup: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreStatus:
    records: int
    collections: int
    edges: int
    sequence: int
    bytes_on_disk: int
    resident_vector_bytes: int
    unembedded: int
    spaces: tuple[Space, ...] = ()
    indexes: Mapping[str, str] = field(default_factory=dict[str, str])


class Store(Protocol):
    @property
    def path(self) -> Path: ...

    @property
    def uuid(self) -> str: ...

    def capabilities(self) -> Capabilities: ...

    def status(self) -> StoreStatus: ...

    def close(self) -> None: ...

    # writing
    def commit(self, writes: Sequence[Write], *, may_wait: bool = False) -> Commit:
        """All or nothing, and on disk when this returns. What `may_wait`, because it can be made again, is seen by all
        as soon, and is on disk with the next commit that must be."""
        ...

    def sync(self) -> None:
        """All that was committed is on disk when this returns."""
        ...

    def erase(self, selection: Selection) -> Erasure: ...

    # reading
    def get(self, key: Key) -> Record | None: ...

    def find(self, record_id: str) -> tuple[Record, ...]: ...

    def fetch(self, refs: Sequence[int]) -> dict[int, Record]: ...

    def page(
        self,
        collection: str,
        *,
        where: Filter | None = None,
        after: str | None = None,
        limit: int = 1000,
        newest_first: bool = False,
    ) -> Page:
        """`after` is a cursor of this collection; of another, or what is none, it is refused by that name. A collection
        that is not there has no records, whatever cursor is given."""
        ...

    def collections(self, prefix: str = "") -> tuple[CollectionInfo, ...]:
        """In order of creation: an import makes them in the order of the export, so refs keep their order too."""
        ...

    def groups(
        self,
        collection: str,
        *,
        name: str | None = None,
        containing: str = "",
        after: str | None = None,
        limit: int = 100,
    ) -> GroupPage:
        """Groups that hold records, that with the newest record first; all, that of a name, or those whose names
        contain a text, whatever the case of its plain letters."""
        ...

    def cursor(self, ref: int) -> str:
        """For `page`: what comes after this ref, whether or not a record has it."""
        ...

    def children(self, key: Key) -> tuple[Record, ...]: ...

    def parents(self, key: Key) -> tuple[Record, ...]: ...

    def edges(self, after: tuple[int, int] | None = None, limit: int = 10_000) -> tuple[tuple[int, int], ...]: ...

    def marks(self, refs: Sequence[int], label: str) -> dict[int, Mapping[str, Json]]:
        """The data of this mark, of those records that have it."""
        ...

    def count_marks(self, collection: str | None, label: str) -> int:
        """How many records have this mark, in one collection or in all."""
        ...

    def newest_marks(self, collection: str | None, label: str, limit: int) -> tuple[StoredMark, ...]:
        """Of the newest records with this mark, in one collection or (collection by collection) in all."""
        ...

    def all_marks(self, after: tuple[int, str] | None = None, limit: int = 10_000) -> tuple[StoredMark, ...]:
        """Every mark, by ref and label; `after` is the (ref, label) of the last one seen."""
        ...

    def changes_since(self, sequence: int, limit: int = 10_000) -> tuple[Change, ...]: ...

    def places(self, refs: Sequence[int]) -> dict[int, Place]:
        """Of those records that are there, each as it was at some moment of the call. Cheap: made for the hundreds of
        candidates of one question."""
        ...

    def speakers(self, collection: str) -> tuple[str, ...]:
        """Who speaks in a collection: at most 64 names, the most frequent first. Costs nothing while nothing is added.
        Names of records that were replaced or removed may stay until the store is opened again; erased ones do not."""
        ...

    # searching
    def search_text(
        self, collection: str, query: TextQuery, k: int, *, where: Filter | None = None
    ) -> tuple[Found, ...]: ...

    def search_vectors(
        self,
        collection: str,
        vector: NDArray[np.float32],
        k: int,
        *,
        where: Filter | None = None,
        exact: bool = False,
    ) -> VectorHits: ...

    def similarities(self, collection: str, vector: NDArray[np.float32], refs: Sequence[int]) -> dict[int, float]:
        """The exact cosines, in the active space, of those of these records that are in the collection and have a
        vector: the scores `search_vectors` would give them."""
        ...

    # embedding spaces
    def spaces(self) -> tuple[Space, ...]: ...

    def add_space(self, fingerprint: str, label: str, dimensions: int) -> Space: ...

    def activate_space(self, space: Space) -> None: ...

    def drop_space(self, space: Space) -> None: ...

    def keep_tokens(self, space: Space, rule: str) -> Space:
        """From now on this space keeps token rows made by that rule ("": none). The same rule again changes nothing;
        another one drops the rows there, and every record counts as unembedded until it has its new one. Searches by
        meaning are not disturbed meanwhile. Go on with the space returned."""
        ...

    def unembedded(self, space: Space, limit: int, *, but: Sequence[str] = ()) -> tuple[Unembedded, ...]:
        """Records that lack a vector, oldest change first; after them those that lack only their token row. Those of
        collections whose name begins with one of `but` are left out."""
        ...

    def count_unembedded(self, space: Space) -> int: ...

    def put_vectors(
        self,
        space: Space,
        refs: Sequence[int],
        vectors: NDArray[np.float32],
        *,
        versions: Sequence[int] | None = None,
        tokens: Sequence[bytes] | None = None,
    ) -> int:
        """Store vectors of records that are still there and, when `versions` is given, unchanged since the text was
        read; the others are ignored. Returns how many were stored. `tokens` are the rows by the space's rule: needed if
        it has one and refused if not (InvalidInputError), as is a space whose rule is another by now. They may reach
        the disk later: who has lost them makes them again."""
        ...

    def get_tokens(self, space: Space, refs: Sequence[int]) -> dict[int, bytes]:
        """The token rows of those records that have one; none when the space keeps them by another rule by now."""
        ...

    def get_vectors(self, space: Space, refs: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """The stored vectors of those records that have one, not to be written to."""
        ...

    # keeping
    def backup(self, target: Path, progress: Progress | None = None) -> None: ...

    def verify(self, progress: Progress | None = None) -> Verification: ...

    def rebuild_indexes(self, progress: Progress | None = None) -> None: ...

    def settle(self, timeout_s: float) -> bool: ...
