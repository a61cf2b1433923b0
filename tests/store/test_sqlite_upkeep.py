"""The log is folded and pieces of the text index are merged beside the commits; where that fails, commits see to it."""

from __future__ import annotations

import logging
import threading
from hashlib import sha256
from pathlib import Path

import apsw
import pytest

from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Put, Selection, TextQuery
from libravdb_memory.store.settings import StoreSettings
from libravdb_memory.store.sqlite import fulltext
from libravdb_memory.store.sqlite.store import SqliteStore
from libravdb_memory.store.sqlite.upkeep import Upkeep

MB = 1024 * 1024
SMALL = StoreSettings(wal_mb=1, cache_mb=1)


def say(store: SqliteStore, number: int, text: str = "") -> None:
    words = text or f"word{number} " * 40
    store.commit([Put(Draft("history:ada", f"t{number}", words, group="s"), append_only=True)])


def log_size(store: SqliteStore) -> int:
    return Path(f"{store.path}-wal").stat().st_size


def pieces_left(store: SqliteStore) -> bool:
    return store._writer.call(fulltext.merge_some)


def test_the_log_is_folded_beside_the_commits_and_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folded: list[str] = []
    fold = Upkeep._fold

    def watched(upkeep: Upkeep) -> None:
        fold(upkeep)
        folded.append(threading.current_thread().name)

    monkeypatch.setattr(Upkeep, "_fold", watched)
    with SqliteStore.open(tmp_path, settings=SMALL) as store:
        for number in range(60):
            say(store, number, "x" * 100_000)
            assert store.settle(30)
        assert len(folded) >= 4 and set(folded) == {"libravdb-upkeep"}
        assert log_size(store) < 2 * MB, "it began anew whenever it was folded"


def test_where_nobody_folds_the_log_the_writer_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Upkeep, "committed", lambda upkeep, pages: None)
    with SqliteStore.open(tmp_path, settings=SMALL) as store:
        for number in range(120):
            say(store, number, "x" * 100_000)
        assert log_size(store) < 6 * MB


def test_pieces_of_the_text_index_are_merged_beside_the_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqliteStore.open(tmp_path / "kept") as kept:
        for number in range(40):
            say(kept, number)
            assert kept.settle(30)
        assert not pieces_left(kept)
        [found] = kept.search_text("history:ada", TextQuery((("word7",),)), 5)
        assert kept.fetch([found.ref])[found.ref].id == "t7"
        assert kept.verify().ok
    monkeypatch.setattr(Upkeep, "committed", lambda upkeep, pages: None)
    with SqliteStore.open(tmp_path / "left") as left:
        for number in range(10):
            say(left, number)
        assert pieces_left(left), "no commit merged them"


def test_stores_made_before_are_told_to_merge_beside_the_commits(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        say(store, 1)
        path = store.path
    db = apsw.Connection(str(path))
    db.execute("INSERT INTO fts (fts, rank) VALUES ('automerge', 4); PRAGMA user_version = 3")
    db.close()
    with SqliteStore.open(tmp_path) as store, store._reading() as reader:
        assert reader.execute("SELECT v FROM fts_config WHERE k = 'automerge'").get == 0


def test_who_erases_waits_for_whoever_folds_the_log_and_leaves_it_empty(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path) as store:
        say(store, 1, "the secret is plum")
        erasing = threading.Thread(target=store.erase, args=(Selection(keys=(Key("history:ada", "t1", "s"),)),))
        with store._writer.folding:
            erasing.start()
            erasing.join(0.2)
            assert erasing.is_alive()
        erasing.join(30)
        assert not erasing.is_alive() and log_size(store) == 0
        assert b"plum" not in store.path.read_bytes()


def test_words_of_erased_records_do_not_tell_pages_of_the_index_apart(tmp_path: Path) -> None:
    """Merging in steps leaves whole words between pages; taking their records out does not take them away."""
    with SqliteStore.open(tmp_path) as store:
        said = {
            number: [sha256(f"{number} {word}".encode()).hexdigest()[:16] for word in range(100)]
            for number in range(400)
        }
        for number, words in said.items():
            say(store, number, " ".join(words))
            pieces_left(store)
        parted = {bytes(term)[1:].decode() for (term,) in _separators(store)}
        held = {number for number, words in said.items() if parted & set(words)}
        assert held, "nothing to see here without a whole word between two pages"
        for number in held:
            store.erase(Selection(keys=(Key("history:ada", f"t{number}", "s"),)))
        left = store.path.read_bytes() + Path(f"{store.path}-wal").read_bytes()
        assert not [word for number in held for word in said[number] if word.encode() in left]
        assert store.verify().ok
        for number in said.keys() - held:
            [found] = store.search_text("history:ada", TextQuery(((said[number][7],),)), 5)
            assert store.fetch([found.ref])[found.ref].id == f"t{number}"


def _separators(store: SqliteStore) -> list[tuple[bytes]]:
    with store._reading() as reader:
        return reader.execute("SELECT term FROM fts_idx").fetchall()


def test_where_no_thread_can_be_had_commits_and_closing_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refused(thread: threading.Thread) -> None:
        if thread.name == "libravdb-upkeep":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    with SqliteStore.open(tmp_path, settings=SMALL) as store:
        for number in range(30):
            say(store, number, "x" * 100_000)
    with SqliteStore.open(tmp_path) as store:
        assert store.status().records == 30


def test_two_never_fold_the_log_at_once(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path, settings=SMALL) as store:
        with store._writer.folding:
            for number in range(15):
                say(store, number, "x" * 100_000)
            assert not store.settle(0.3)
        assert store.settle(30)


def test_what_fails_is_told_and_disturbs_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused() -> None:
        raise apsw.CantOpenError("no more files")

    with SqliteStore.open(tmp_path, settings=SMALL) as store, caplog.at_level(logging.WARNING):
        monkeypatch.setattr(store._upkeep, "_connect", refused)
        for number in range(20):
            say(store, number, "x" * 100_000)
            assert store.settle(30)
        assert store.status().records == 20
    assert "the log is left as it is for now: no more files" in caplog.messages
