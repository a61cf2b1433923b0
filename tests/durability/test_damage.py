"""Damaged files: refused or named by verify, never a stray exception, never a wrong answer taken for right."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import numpy as np
import pytest
from turns_on_disk import COLLECTIONS, assert_holds, batch, commit_all, text_of

from libravdb_memory.cli import main
from libravdb_memory.errors import LibraVDBError, StoreCorruptError, StoreError
from libravdb_memory.store.protocol import Key, Store, TextQuery
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite.backup import restore
from libravdb_memory.store.sqlite.connections import PAGE_SIZE
from libravdb_memory.store.sqlite.store import SqliteStore

BATCHES = 40
DIMENSIONS = 16
PAGE = PAGE_SIZE
SETTINGS = StoreSettings(exact_limit=30)


def vector(ref: int) -> np.ndarray:
    return np.random.default_rng(ref).standard_normal(DIMENSIONS).astype(np.float32)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store with records, vectors and an index file, to be copied and hurt."""
    path = tmp_path_factory.mktemp("sound") / "store.libravdb"
    with SqliteStore.open(path, settings=SETTINGS) as store:
        commit_all(store, range(BATCHES))
        space = store.add_space("space", "space", DIMENSIONS)
        refs = [item.ref for item in store.unembedded(space, 10_000)]
        store.put_vectors(space, refs, np.array([vector(ref) for ref in refs]))
        for collection in COLLECTIONS:
            store.search_vectors(collection, vector(1), 3)
        assert store.settle(60)
        store.backup(path.with_name("backup.libravdb"))
    assert list(path.with_name("store.libravdb-ann").iterdir())
    return path


@pytest.fixture
def hurt(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound.parent, tmp_path / "copy")
    return tmp_path / "copy" / sound.name


def use(store: Store) -> None:
    """Every way of reading and searching."""
    store.status()
    store.collections()
    for collection in COLLECTIONS:
        for record in store.page(collection, limit=1000).records:
            store.get(Key(collection, record.id, record.group))
        with suppress(StoreCorruptError):  # the statistics for ranking are all that the index's own check passes over
            store.search_text(collection, TextQuery((("lantern",), ("quay", "and"))), 5)
        store.search_vectors(collection, vector(2), 5)
        store.search_vectors(collection, vector(2), 5, exact=True)
    store.changes_since(0)
    store.edges()
    store.find("3.0")


def verdict(path: Path) -> list[str]:
    """What opening or verifying says; empty when nothing is wrong."""
    try:
        with SqliteStore.open(path, settings=SETTINGS) as store:
            found = [f"{problem.kind}: {problem.detail}" for problem in store.verify().problems]
            try:
                use(store)
            except LibraVDBError as error:
                assert found, f"verify was content with what raises {error!r}"
            if not found:
                assert_holds(store, range(BATCHES))
            return found
    except StoreError as error:
        return [str(error)]


@pytest.mark.parametrize("seed", [0, 1, 116, 129])
def test_flipped_bytes_are_refused_named_or_harmless(hurt: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole = hurt.read_bytes()
    named = 0
    for _ in range(25):
        image = bytearray(whole)
        for _ in range(chance.choice((1, 1, 1, 20))):
            image[chance.randrange(len(image))] ^= chance.randrange(1, 256)
        hurt.write_bytes(image)
        named += bool(verdict(hurt))
        hurt.with_name(hurt.name + "-wal").unlink(missing_ok=True)
    assert named > 0


@pytest.mark.parametrize("seed", range(2))
def test_overwritten_pages_are_refused_or_named(hurt: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole = hurt.read_bytes()
    free = freelist(hurt)
    for _ in range(12):
        page = chance.choice([number for number in range(2, len(whole) // PAGE + 1) if number not in free])
        image = bytearray(whole)
        image[(page - 1) * PAGE : page * PAGE] = chance.choice((bytes(PAGE), chance.randbytes(PAGE)))
        hurt.write_bytes(image)
        assert verdict(hurt), f"seed {seed}: nobody noticed page {page}"


def freelist(path: Path) -> set[int]:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    used = {page for (page,) in db.execute("SELECT pageno FROM dbstat")}
    count = db.pragma("page_count")
    db.close()
    return set(range(1, count + 1)) - used


@pytest.mark.parametrize("share", [0.98, 0.75, 0.5, 0.01])
def test_a_truncated_store_is_refused_and_can_be_restored(hurt: Path, share: float) -> None:
    whole = hurt.read_bytes()
    cut = whole[: int(len(whole) * share)]
    hurt.write_bytes(cut)
    with pytest.raises(StoreCorruptError):
        SqliteStore.open(hurt)
    assert hurt.read_bytes() == cut
    kept = restore(hurt.with_name("backup.libravdb"), hurt)
    assert kept is not None
    assert kept.read_bytes() == cut
    with SqliteStore.open(hurt) as store:
        assert_holds(store, range(BATCHES))


def test_an_altered_text_is_named_by_its_record(hurt: Path) -> None:
    needle = text_of(3, 1).encode()
    raw = hurt.read_bytes()
    assert raw.count(needle) == 2
    at = raw.index(needle)
    hurt.write_bytes(raw[:at] + b"L" + raw[at + 1 :])
    with SqliteStore.open(hurt) as store:
        problems = store.verify().problems
        assert [(problem.kind, problem.where) for problem in problems if problem.kind == "hash"] == [
            ("hash", "record '3.1'")
        ]


def test_a_vector_that_is_no_number_is_named_and_embedded_anew(hurt: Path) -> None:
    with SqliteStore.open(hurt) as store:
        ref = store.page("notes", limit=1).records[0].ref
    raw = hurt.read_bytes()
    needle = vector(ref).tobytes()
    assert raw.count(needle) == 1
    at = raw.index(needle)
    hurt.write_bytes(raw[:at] + np.array([np.nan], np.float32).tobytes() + raw[at + 4 :])
    with SqliteStore.open(hurt) as store:
        assert "vector" in {problem.kind for problem in store.verify().problems}
        assert {record.id for record in store.page("notes", limit=1000).records}


def test_a_broken_text_index_is_named_and_rebuilt(hurt: Path) -> None:
    db = apsw.Connection(str(hurt))
    db.execute("UPDATE fts_data SET block = zeroblob(40) WHERE id > 10")
    db.close()
    with SqliteStore.open(hurt) as store:
        problems = store.verify().problems
    assert "text index" in {problem.kind for problem in problems}
    assert {problem.remedy for problem in problems} == {"libravdb reindex --indexes"}
    assert main(["--db", str(hurt), "verify"]) == 1
    assert main(["--db", str(hurt), "reindex", "--indexes"]) == 0
    assert main(["--db", str(hurt), "verify"]) == 0
    with SqliteStore.open(hurt) as store:
        assert_holds(store, range(BATCHES))


def test_the_program_names_damage_and_its_remedy(
    hurt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LIBRAVDB_EMBEDDING_BACKEND", "hashed")
    raw = bytearray(hurt.read_bytes())
    raw[PAGE * 4 : PAGE * 6] = bytes(2 * PAGE)
    hurt.write_bytes(raw)
    for command, codes in (("verify", (1, 5)), ("doctor", (1,))):
        assert main(["--db", str(hurt), command]) in codes
        said = "".join(capsys.readouterr())
        assert "Traceback" not in said
        assert "unexpected" not in said
        assert "restore" in said


# ── derived files ────────────────────────────────────────────────────────────────────────────────────────────────


def truncated(file: Path, _: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def emptied(file: Path, _: Path) -> None:
    file.write_bytes(b"")


def garbage(file: Path, _: Path) -> None:
    file.write_bytes(random.Random(2).randbytes(file.stat().st_size))


def one_bit(file: Path, _: Path) -> None:
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 1
    file.write_bytes(raw)


def of_another_collection(file: Path, folder: Path) -> None:
    other = next(each for each in folder.iterdir() if each != file)
    shutil.copy(other, file)


def a_folder(file: Path, _: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize("damage", [truncated, emptied, garbage, one_bit, of_another_collection, a_folder])
def test_an_unusable_index_file_is_named_and_never_used(hurt: Path, damage: Callable[[Path, Path], None]) -> None:
    folder = hurt.with_name(hurt.name + "-ann")
    file = sorted(folder.iterdir())[0]
    damage(file, folder)
    with SqliteStore.open(hurt, settings=SETTINGS) as store:
        assert [(problem.kind, problem.where) for problem in store.verify().problems] == [("index", file.name)]
    assert main(["--db", str(hurt), "verify"]) == 1
    with SqliteStore.open(hurt, settings=SETTINGS) as store:
        for collection in COLLECTIONS:
            exact = store.search_vectors(collection, vector(2), 5, exact=True)
            assert store.search_vectors(collection, vector(2), 5).hits == exact.hits
            assert store.settle(60)
            assert store.search_vectors(collection, vector(2), 1).hits == exact.hits[:1]
        assert_records(store)


def assert_records(store: Store) -> None:
    assert len(store.page("notes", limit=1000).records) == 2 * BATCHES


def test_a_stale_index_file_is_caught_up(hurt: Path) -> None:
    """The file is from before; the table has gone on: new vectors are found and gone ones are not."""
    folder = hurt.with_name(hurt.name + "-ann")
    held = {file: file.read_bytes() for file in folder.iterdir()}
    with SqliteStore.open(hurt, settings=SETTINGS) as store:
        commit_all(store, range(BATCHES, BATCHES + 10))
        space = next(space for space in store.spaces() if space.active)
        new = [item.ref for item in store.unembedded(space, 1000)]
        store.put_vectors(space, new, np.array([vector(ref) for ref in new]))
        store.search_vectors("notes", vector(1), 3)
        store.settle(60)
    for file, raw in held.items():
        file.write_bytes(raw)
    with SqliteStore.open(hurt, settings=SETTINGS) as store:
        for _ in range(2):
            found = store.search_vectors("notes", vector(new[0]), 1)
            assert [hit.ref for hit in found.hits] == new[:1]
            assert store.settle(60)
        assert_holds(store, range(BATCHES + 10))


def test_a_removed_index_folder_is_made_again(hurt: Path) -> None:
    shutil.rmtree(hurt.with_name(hurt.name + "-ann"))
    assert verdict(hurt) == []


@pytest.mark.parametrize("contents", [b"", b"not a pid", b"99999999999999999999999", b"\xff" * 5000])
def test_garbage_in_the_lock_file_is_overwritten(hurt: Path, contents: bytes) -> None:
    hurt.with_name(hurt.name + "-lock").write_bytes(contents)
    assert verdict(hurt) == []


def test_batches_are_distinct() -> None:
    assert len({put.draft.text for number in range(BATCHES) for put in batch(number)}) == 2 * BATCHES
