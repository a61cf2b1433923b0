"""The approximate index: as good as exact search, never stale, never short, whatever happens to its file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from libravdb_memory.store.protocol import Space
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite import annfile, graph, schema, vectortable
from libravdb_memory.store.sqlite.vectors import VectorShelf

COLLECTION = 2
FIRST = COLLECTION << 40
DIMENSIONS = 32
Vectors = NDArray[np.float32]


def clustered(count: int, seed: int, dimensions: int = DIMENSIONS) -> Vectors:
    """Unit vectors in clusters of about a hundred, with a spectrum that falls off, as sentence embeddings have."""
    centres = np.random.default_rng(77).standard_normal((max(count // 100, 10), dimensions), dtype=np.float32)
    rng = np.random.default_rng(seed)
    rows = centres[rng.integers(len(centres), size=count)] + rng.standard_normal((count, dimensions), dtype=np.float32)
    rows *= np.arange(1, dimensions + 1, dtype=np.float32) ** np.float32(-0.35)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


@dataclass
class Table:
    """A vector table on disk, a reader for each thread, and shelves over it."""

    path: Path
    dimensions: int = DIMENSIONS
    uuid: str = "uuid"
    fingerprint: str = "sha256:test"
    options: dict[str, int] = field(default_factory=lambda: {"exact_limit": 1000})
    shelf: VectorShelf = field(init=False)

    def __post_init__(self) -> None:
        self._threads = threading.local()
        self.writer = apsw.Connection(str(self.path))
        self.writer.execute("PRAGMA journal_mode = WAL")
        if not self.writer.table_exists(None, "vector_1"):
            self.writer.execute("CREATE TABLE vector_1 (ref INTEGER PRIMARY KEY, data BLOB NOT NULL)")
            self.writer.execute(schema.VERSION_3)
            self.writer.execute(schema.count_edits(1))
        self.writer.execute("PRAGMA recursive_triggers = 1")
        self.shelf = self.open()

    @property
    def space(self) -> Space:
        return Space(1, self.fingerprint, "test", self.dimensions, True)

    @property
    def folder(self) -> Path:
        return self.path.with_name(self.path.name + "-ann")

    @property
    def file(self) -> Path:
        return self.folder / f"1-{COLLECTION}.ann"

    @property
    def state(self) -> str:
        return self.shelf.describe().get(self.file.name, "none")

    def open(self) -> VectorShelf:
        return VectorShelf(self.read, self.folder, self.uuid, StoreSettings(**self.options))

    def reopen(self) -> None:
        self.shelf.close()
        self.shelf = self.open()

    def read(self) -> apsw.Connection:
        if not hasattr(self._threads, "connection"):
            self._threads.connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        connection: apsw.Connection = self._threads.connection
        return connection

    def put(self, refs: Sequence[int], vectors: Vectors, told: bool = True) -> None:
        rows = [(ref, vector.tobytes()) for ref, vector in zip(refs, vectors, strict=True)]
        with self.writer:
            self.writer.executemany("INSERT OR REPLACE INTO vector_1 VALUES (?, ?)", rows)
        if told:
            self.shelf.added(1, refs, vectors)

    def remove(self, refs: Sequence[int], told: bool = True) -> None:
        with self.writer:
            self.writer.executemany("DELETE FROM vector_1 WHERE ref = ?", [(ref,) for ref in refs])
        if told:
            self.shelf.removed(refs)

    def erase(self, refs: Sequence[int]) -> None:
        self.shelf.forget_files(refs)
        self.remove(refs, told=False)
        self.shelf.erased(refs)

    def holds(self, vector: Vectors, scale: float) -> list[str]:
        """The files in which the vector is, as it is or as the graph has it."""
        traces = vector.tobytes(), graph.quantise(vector, scale).tobytes()
        return [path.name for path in self.folder.glob("*") if any(trace in path.read_bytes() for trace in traces)]

    def search(
        self, query: Vectors, k: int = 10, eligible: Sequence[int] | None = None, exact: bool = False
    ) -> tuple[list[int], bool]:
        chosen = None if eligible is None else np.array(eligible, np.int64)
        hits, was_exact = self.shelf.search(self.space, COLLECTION, query, k, chosen, exact)
        assert [(-hit.score, hit.ref) for hit in hits] == sorted((-hit.score, hit.ref) for hit in hits)
        return [hit.ref for hit in hits], was_exact

    def ready(self) -> None:
        """Search until the approximate index answers."""
        query = np.ones(self.dimensions, np.float32)
        self.search(query)
        assert self.shelf.settle(120)
        assert self.search(query)[1] is False, self.state

    def recall(self, queries: Vectors, k: int = 10, eligible: Sequence[int] | None = None) -> float:
        shares: list[float] = []
        for query in queries:
            found, was_exact = self.search(query, k, eligible)
            true, _ = self.search(query, k, eligible, exact=True)
            assert not was_exact
            assert len(found) == len(true)
            shares.append(len(set(found) & set(true)) / max(len(true), 1))
        return float(np.mean(shares))


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    made = Table(tmp_path / "data")
    yield made
    made.shelf.close()


@pytest.fixture(scope="session")
def indexed_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Vectors]:
    """Three thousand vectors with their index file, built once."""
    folder = tmp_path_factory.mktemp("indexed")
    made = Table(folder / "data")
    vectors = clustered(3000, 1)
    made.put(range(FIRST, FIRST + 3000), vectors)
    made.ready()
    made.shelf.close()
    made.read().close()
    made.writer.close()
    return made.path, vectors


@pytest.fixture
def indexed(tmp_path: Path, indexed_once: tuple[Path, Vectors]) -> Iterator[tuple[Table, Vectors]]:
    """A fresh copy of it, not opened yet."""
    path, vectors = indexed_once
    (tmp_path / "data").write_bytes(path.read_bytes())
    folder = tmp_path / "data-ann"
    folder.mkdir()
    name = f"1-{COLLECTION}.ann"
    (folder / name).write_bytes((path.with_name("data-ann") / name).read_bytes())
    made = Table(tmp_path / "data")
    yield made, vectors
    made.shelf.close()


def test_recall_is_at_least_99_in_100_at_thirty_thousand(tmp_path: Path) -> None:
    table = Table(tmp_path / "data", dimensions=96, options={"exact_limit": 5000})
    vectors = clustered(30_100, 3, 96)
    table.put(range(FIRST, FIRST + 30_000), vectors[:30_000])
    table.ready()
    assert table.recall(vectors[30_000:]) >= 0.99
    table.shelf.close()


def test_small_collections_get_no_index(table: Table) -> None:
    table.put(range(FIRST, FIRST + 1000), clustered(1000, 2))
    assert table.search(np.ones(DIMENSIONS, np.float32))[1] is True
    assert table.shelf.settle(10)
    assert table.shelf.describe() == {}
    assert not table.folder.exists()


def test_exact_search_serves_until_the_index_is_ready(table: Table) -> None:
    vectors = clustered(3000, 1)
    table.put(range(FIRST, FIRST + 3000), vectors)
    found, was_exact = table.search(vectors[5])
    assert (found[0], was_exact) == (FIRST + 5, True)
    assert table.shelf.settle(60)
    found, was_exact = table.search(vectors[5])
    assert (found[0], was_exact) == (FIRST + 5, False)
    assert table.state == "ready: 3000 vectors"


def test_a_file_is_opened_again_without_being_written(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    before = table.file.stat().st_mtime_ns
    table.ready()
    assert table.state == "ready: 3000 vectors"
    assert table.file.stat().st_mtime_ns == before
    assert table.recall(vectors[::100] + vectors[1::100]) >= 0.99


def test_the_first_search_uses_a_file_nothing_was_edited_since_and_the_vectors_are_loaded_afterwards(
    indexed: tuple[Table, Vectors],
) -> None:
    table, vectors = indexed
    new = clustered(50, 9)
    table.put(range(FIRST + 5000, FIRST + 5050), new, told=False)
    held = Held(table)
    assert table.search(vectors[5]) == ([FIRST + 5, *table.search(vectors[5])[0][1:]], False)
    assert table.search(new[3])[0][0] == FIRST + 5003
    assert table.state == "ready: 3000 vectors, 50 searched exactly"
    assert table.shelf.resident_bytes < vectors.nbytes // 2
    held.release()
    assert table.shelf.settle(60)
    assert table.shelf.resident_bytes > vectors.nbytes
    assert table.recall(np.concatenate((new[::10], vectors[::100]))) >= 0.99


class Held:
    """Keeps the background thread busy until it is released."""

    def __init__(self, table: Table) -> None:
        self._gate = threading.Event()
        table.shelf._background.submit(lambda: assert_set(self._gate))

    def release(self) -> None:
        self._gate.set()


def assert_set(gate: threading.Event) -> None:
    assert gate.wait(60)


@pytest.mark.parametrize("edit", ["changed", "removed", "put between", "last one changed", "put back by hand"])
def test_a_file_that_an_edit_overtook_is_compared_before_it_answers(indexed: tuple[Table, Vectors], edit: str) -> None:
    table, vectors = indexed
    last = FIRST + 2999
    {
        "changed": lambda: table.put([FIRST + 7], -vectors[7:8], told=False),
        "removed": lambda: table.remove([FIRST + 7], told=False),
        "put between": lambda: table.put([FIRST + 5000, FIRST + 4000], -vectors[6:8], told=False),
        "last one changed": lambda: table.put([last], -vectors[7:8], told=False),
        "put back by hand": lambda: put_back(table, last, -vectors[7]),
    }[edit]()
    assert table.search(vectors[5])[1] is True
    assert table.shelf.settle(60)
    assert table.search(vectors[5])[1] is False
    expected = {"changed": FIRST + 7, "put between": FIRST + 4000, "last one changed": last, "put back by hand": last}
    assert table.search(-vectors[7])[0][0] == expected.get(edit, table.search(-vectors[7], exact=True)[0][0])
    table.reopen()
    assert table.search(vectors[5])[1] is True


def put_back(table: Table, ref: int, vector: Vectors) -> None:
    """As when an older copy of the data file, with as many edits, was put under the newer index file."""
    table.writer.execute("UPDATE vector_1 SET data = ? WHERE ref = ?", (vector.tobytes(), ref))
    table.writer.execute("DELETE FROM edits")


@pytest.mark.parametrize("edited", ["among them", "before it was opened"])
def test_a_file_with_many_additions_is_opened_quickly_unless_something_was_edited(
    indexed: tuple[Table, Vectors], edited: str
) -> None:
    table, vectors = indexed
    new = clustered(5000, 10)
    for quickly, start in ((True, 0), (False, 2500)):
        if not quickly and edited == "before it was opened":
            table.put([FIRST + 3], -vectors[3:4], told=False)
            table.reopen()
        table.ready()
        for at in range(start, start + 2500, 100):
            table.put(range(FIRST + 9000 + at, FIRST + 9100 + at), new[at : at + 100])
            if at == start and not quickly and edited == "among them":
                table.put([FIRST + 3], -vectors[3:4])
        assert table.shelf.settle(60)
        assert int(table.state.removeprefix("ready: ").split()[0]) > 5000
        table.reopen()
        assert table.search(new[start + 2400])[1] is not quickly
        assert table.search(new[start + 2400])[0][0] == FIRST + 9000 + start + 2400
        assert table.shelf.settle(60)
        assert FIRST + 3 not in table.search(-vectors[3] if quickly else vectors[3])[0]


@given(
    st.lists(st.tuples(st.sampled_from(["put", "remove"]), st.integers(0, 5), st.integers(0, 2)), max_size=30),
)
@settings(deadline=None, max_examples=60)
def test_edits_count_every_change_but_an_addition_at_the_end(steps: list[tuple[str, int, int]]) -> None:
    db = apsw.Connection(":memory:")
    db.execute("CREATE TABLE vector_1 (ref INTEGER PRIMARY KEY, data BLOB NOT NULL)")
    db.execute(schema.VERSION_3)
    db.execute(schema.count_edits(1))
    space = Space(1, "sha256:test", "test", 1, True)
    db.execute("INSERT INTO vector_1 VALUES (?, x'00')", (9 << 40,))  # another collection, behind this one
    kept: dict[int, int] = {}
    for what, number, value in steps:
        before, ref = vectortable.edits(db, space, COLLECTION), FIRST + number
        if what == "remove":
            edited = kept.pop(number, None) is not None
            db.execute("DELETE FROM vector_1 WHERE ref = ?", (ref,))
        else:
            edited = number in kept or number < max(kept, default=-1)
            kept[number] = value
            db.execute(
                "INSERT INTO vector_1 VALUES (?, ?) ON CONFLICT DO UPDATE SET data = excluded.data",
                (ref, bytes([value])),
            )
        assert (vectortable.edits(db, space, COLLECTION) > before) == edited
    assert vectortable.edits(db, space, 9) == 0


def test_closing_while_the_vectors_are_loaded_does_not_wait_for_them(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    held = Held(table)
    assert table.search(vectors[5])[1] is False
    (collection,) = table.shelf._collections.values()
    table.shelf._background._closed = True
    held.release()
    table.shelf.close()
    collection.load_vectors(table.read, lambda: True)
    assert collection._exact.resident() is None


def test_additions_replacements_and_removals_after_opening_are_seen_at_once(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    table.ready()
    new = clustered(50, 9)
    table.put(range(FIRST + 5000, FIRST + 5050), new)
    table.put([FIRST + 7], -vectors[7:8])
    table.remove([FIRST + 8])
    assert table.search(new[3])[0][0] == FIRST + 5003
    assert table.search(-vectors[7])[0][0] == FIRST + 7
    assert FIRST + 7 not in table.search(vectors[7])[0]
    assert FIRST + 8 not in table.search(vectors[8])[0]
    assert table.state == "ready: 3000 vectors, 51 searched exactly, 2 masked"
    assert table.recall(new) >= 0.99


def test_a_file_that_is_behind_is_completed_from_the_table(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    new = clustered(50, 9)
    table.put(range(FIRST + 5000, FIRST + 5050), new, told=False)
    table.put([FIRST + 7], -vectors[7:8], told=False)
    table.remove([FIRST + 8], told=False)
    table.ready()
    assert table.state == "ready: 3000 vectors, 51 searched exactly, 2 masked"
    assert table.search(new[3])[0][0] == FIRST + 5003
    assert table.search(-vectors[7])[0][0] == FIRST + 7
    assert FIRST + 8 not in table.search(vectors[8])[0]
    assert table.search(new[3])[1] is False


def test_many_additions_are_merged_into_the_graph_and_survive_reopening(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    table.ready()
    new = clustered(2500, 10)
    for start in range(0, 2500, 100):
        table.put(range(FIRST + 9000 + start, FIRST + 9100 + start), new[start : start + 100])
    table.put([FIRST + 3], -vectors[3:4])
    assert table.shelf.settle(60)
    table.reopen()
    table.ready()
    graph = int(table.state.removeprefix("ready: ").split()[0])
    assert graph > 5000
    assert table.search(-vectors[3])[0][0] == FIRST + 3
    assert table.recall(np.concatenate((new[::100], vectors[::100]))) >= 0.99


def test_a_file_that_lost_too_much_is_built_again(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    table.remove(range(FIRST, FIRST + 1000), told=False)
    table.ready()
    assert table.state.startswith("ready: 2000 vectors")
    assert "too many vectors that are gone" in table.state
    assert table.search(vectors[1500])[0][0] == FIRST + 1500


def test_removing_much_builds_again_and_removing_nearly_all_needs_no_index(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    table.ready()
    table.remove(range(FIRST, FIRST + 900))
    table.search(vectors[2000])
    assert table.shelf.settle(60)
    assert table.state.startswith("ready: 2100 vectors")
    table.remove(range(FIRST + 900, FIRST + 2500))
    table.search(vectors[2600])
    assert table.shelf.settle(60)
    assert table.search(vectors[2600])[1] is True
    assert not table.file.exists()


def spoil_magic(data: bytearray) -> None:
    data[0] ^= 1


def spoil_header(data: bytearray) -> None:
    data[30] ^= 1


def spoil_payload(data: bytearray) -> None:
    data[-1000] ^= 1


def spoil_refs(data: bytearray) -> None:
    data[1024] ^= 1


def truncate(data: bytearray) -> None:
    del data[len(data) // 2 :]


def truncate_to_a_few_bytes(data: bytearray) -> None:
    del data[5:]


def empty(data: bytearray) -> None:
    data.clear()


def extend(data: bytearray) -> None:
    data.extend(b"\0")


def replace_by_noise(data: bytearray) -> None:
    data[:] = np.random.default_rng(0).bytes(len(data))


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_magic,
        spoil_header,
        spoil_payload,
        spoil_refs,
        truncate,
        truncate_to_a_few_bytes,
        empty,
        extend,
        replace_by_noise,
    ],
)
def test_a_damaged_file_is_reported_never_used_and_built_again(
    indexed: tuple[Table, Vectors], spoil: Callable[[bytearray], None]
) -> None:
    table, vectors = indexed
    data = bytearray(table.file.read_bytes())
    spoil(data)
    table.file.write_bytes(data)
    assert [problem.where for problem in table.shelf.verify(table.space)] == [table.file.name]
    found, was_exact = table.search(vectors[42])
    assert (found[0], was_exact) == (FIRST + 42, True)
    table.ready()
    assert "rebuilt because the file" in table.state
    assert list(table.shelf.verify(table.space)) == []
    assert table.recall(vectors[::300]) >= 0.99


@pytest.mark.parametrize("owner", [{"uuid": "other"}, {"fingerprint": "sha256:other"}])
def test_a_file_of_another_store_or_space_is_not_used(
    indexed: tuple[Table, Vectors], owner: dict[str, str], tmp_path: Path
) -> None:
    table, _ = indexed
    table.shelf.close()
    other = Table(tmp_path / "data", **owner)  # type: ignore[arg-type]
    assert [table.file.name in problem.where for problem in other.shelf.verify(other.space)] == [True]
    other.ready()
    assert "belongs to another index" in other.state
    other.shelf.close()


def test_a_folder_that_cannot_be_written_keeps_the_index_in_memory_and_says_so(table: Table) -> None:
    table.folder.write_bytes(b"a file where the folder should be")
    vectors = clustered(3000, 1)
    table.put(range(FIRST, FIRST + 3000), vectors)
    table.ready()
    assert "kept in memory" in table.state
    assert table.search(vectors[42]) == (table.search(vectors[42], exact=True)[0], False)


def test_filters_are_answered_in_full_however_much_they_leave_out(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    table.put(range(FIRST + 10_000, FIRST + 17_000), clustered(7000, 12))
    table.ready()
    rng = np.random.default_rng(4)
    everything = [*range(FIRST, FIRST + 3000), *range(FIRST + 10_000, FIRST + 17_000)]
    for size in (1, 5, 300, 5000, 9000):
        eligible = rng.permutation(everything)[:size].tolist()
        for query in vectors[::500]:
            for k in (1, 10, 200):
                found, _ = table.search(query, k, eligible)
                true, _ = table.search(query, k, eligible, exact=True)
                assert len(found) == len(true) == min(k, size)
                assert set(found) <= set(eligible)
                assert len(set(found) & set(true)) >= 0.9 * len(true)


def test_a_filter_far_from_the_query_is_still_answered_in_full(table: Table) -> None:
    """The eligible half lies opposite the query, so the nearest thousands are all ineligible."""
    near, far = clustered(5000, 13), clustered(5000, 14)
    near[:, 0], far[:, 0] = 5, -5
    table.put(range(FIRST, FIRST + 5000), near)
    table.put(range(FIRST + 5000, FIRST + 10_000), far)
    table.ready()
    query = np.eye(1, DIMENSIONS, dtype=np.float32)[0]
    eligible = range(FIRST + 5000, FIRST + 10_000)
    assert table.search(query, 10, eligible) == (table.search(query, 10, eligible, exact=True)[0], True)


@pytest.mark.parametrize("k", [0, 1, 11, 300, 2999, 3000, 1_000_000])
def test_any_k_is_answered_in_full(indexed: tuple[Table, Vectors], k: int) -> None:
    table, vectors = indexed
    table.ready()
    assert len(set(table.search(vectors[0], k)[0])) == min(k, 3000)


def test_an_index_without_resident_vectors_reads_them_from_the_table(tmp_path: Path) -> None:
    table = Table(tmp_path / "data", options={"exact_limit": 1000, "resident_vector_mb": 1})
    vectors = clustered(12_000, 15)
    table.put(range(FIRST, FIRST + 12_000), vectors)
    table.ready()
    assert table.shelf.resident_bytes <= 1 << 20
    assert table.recall(vectors[::600]) >= 0.99
    table.shelf.close()


def test_a_dropped_space_leaves_no_file(indexed: tuple[Table, Vectors]) -> None:
    table, _ = indexed
    table.ready()
    table.shelf.dropped(1)
    assert table.shelf.settle(10)
    assert not table.file.exists()
    assert table.shelf.describe() == {}
    assert table.shelf.resident_bytes == 0


def scale_in(table: Table) -> float:
    ann = table.shelf._collections[1, COLLECTION].ann
    assert ann is not None and ann._live is not None
    return ann._live.graph.contents.scale


def test_what_is_erased_is_in_no_file_from_then_on(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    table.ready()
    scale = scale_in(table)
    assert table.holds(vectors[1234], scale) == [table.file.name]
    table.erase([FIRST + 1234])
    assert table.holds(vectors[1234], scale) == []
    assert FIRST + 1234 not in table.search(vectors[1234])[0]
    table.ready()
    assert table.file.exists() and table.holds(vectors[1234], scale) == []
    assert table.holds(vectors[77], scale_in(table)) == [table.file.name], "where to look for a trace"
    assert table.recall(vectors[::300]) >= 0.99
    table.erase(range(FIRST, FIRST + 3000))
    assert table.shelf.settle(60) and not list(table.folder.glob("*"))


def test_a_file_that_nobody_has_opened_goes_with_what_is_erased(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    partial = table.file.with_name(table.file.name + ".tmp")
    partial.write_bytes(vectors.tobytes())
    other = table.file.with_name(f"1-{COLLECTION + 10}.ann")
    other.write_bytes(b"of another collection")
    table.erase([FIRST + 5])
    assert list(table.folder.glob("*")) == [other]
    table.ready()
    assert table.recall(vectors[::300]) >= 0.99


def test_a_file_that_was_made_again_just_before_the_commit_goes_after_it(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    table.ready()
    scale, made = scale_in(table), table.file.read_bytes()
    table.shelf.forget_files([FIRST + 8])
    table.file.write_bytes(made)
    table.remove([FIRST + 8], told=False)
    table.shelf.erased([FIRST + 8])
    assert table.holds(vectors[8], scale) == []
    table.ready()
    assert table.file.exists() and table.holds(vectors[8], scale_in(table)) == []


@pytest.mark.parametrize("before", [0, 3000], ids=["first", "merged"])
def test_what_is_erased_while_a_file_is_made_is_not_in_it(
    table: Table, before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = clustered(7000, 21)
    if before:
        table.put(range(FIRST, FIRST + before), vectors[:before])
        table.ready()
    erased = threading.Event()
    write = annfile.write

    def slowly(path: Path, identity: annfile.Identity, contents: annfile.Contents) -> None:
        if not erased.is_set():
            table.erase([FIRST + 100])
            erased.set()
        write(path, identity, contents)

    monkeypatch.setattr(annfile, "write", slowly)
    table.put(range(FIRST + before, FIRST + 7000), vectors[before:])
    table.search(vectors[100])
    assert table.shelf.settle(120) and erased.is_set()
    assert not table.file.exists()
    assert FIRST + 100 not in table.search(vectors[100])[0]
    table.ready()
    assert table.file.exists() and table.holds(vectors[100], scale_in(table)) == []


def test_rebuilding_makes_the_file_again(indexed: tuple[Table, Vectors]) -> None:
    table, vectors = indexed
    table.ready()
    before = table.file.stat().st_ino
    seen: list[tuple[int, int]] = []
    table.shelf.rebuild(lambda done, total: seen.append((done, total)))
    assert seen[-1] == (3000, 3000)
    assert table.file.stat().st_ino != before
    assert table.recall(vectors[::300]) >= 0.99


def test_closing_while_building_stops_and_leaves_no_partial_file(table: Table) -> None:
    table.put(range(FIRST, FIRST + 20_000), clustered(20_000, 16))
    table.search(np.ones(DIMENSIONS, np.float32))
    table.shelf.close()
    assert not table.file.exists()
    assert list(table.folder.glob("*.tmp")) == []


def test_searches_while_the_index_is_built_and_changed_never_miss(table: Table) -> None:
    vectors = clustered(8000, 17)
    table.put(range(FIRST, FIRST + 2000), vectors[:2000])
    acknowledged = [2000]
    failures: list[str] = []

    def write() -> None:
        for start in range(2000, 8000, 50):
            table.put(range(FIRST + start, FIRST + start + 50), vectors[start : start + 50])
            acknowledged[0] = start + 50

    writer = threading.Thread(target=write)

    def search(seed: int) -> None:
        rng = np.random.default_rng(seed)
        while writer.is_alive() and not failures:
            at = int(rng.integers(acknowledged[0]))
            if (found := table.search(vectors[at], 5)[0])[0] != FIRST + at:
                failures.append(f"{at}: {found}, {table.state}")

    searchers = [threading.Thread(target=search, args=(seed,)) for seed in range(2)]
    for thread in (writer, *searchers):
        thread.start()
    for thread in (writer, *searchers):
        thread.join()
    assert failures == []
    assert table.shelf.settle(60)
    assert table.recall(vectors[::200]) >= 0.99
