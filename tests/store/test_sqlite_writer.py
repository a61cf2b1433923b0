"""The group writer: one failing or interrupted thread takes nobody with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from libravdb_memory.errors import ConflictError, StoreClosedError, StoreFullError
from libravdb_memory.model import Draft
from libravdb_memory.store.protocol import Key, Put
from libravdb_memory.store.sqlite.database import Database
from libravdb_memory.store.sqlite.store import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path) as store:
        yield store


class Held:
    """A piece of work that holds the lead until it is let go, so that others queue up behind it."""

    def __init__(self, store: SqliteStore) -> None:
        self._entered, self._release = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=lambda: store._writer.call(self._act))
        self._thread.start()
        self._entered.wait()

    def _act(self, db: Database) -> None:
        self._entered.set()
        self._release.wait()

    def let_go(self) -> None:
        self._release.set()
        self._thread.join()


def queued(store: SqliteStore, number: int) -> None:
    while len(store._writer._queue) < number:
        pass


def outcome(store: SqliteStore, writes: list[Put]) -> str:
    try:
        store.commit(writes)
    except (ConflictError, StoreFullError) as error:
        return type(error).__name__
    return "stored"


def put(record_id: str, text: str = "x", collection: str = "a") -> Put:
    return Put(Draft(collection, record_id, text))


def test_commits_that_queue_up_share_one_transaction(store: SqliteStore) -> None:
    held = Held(store)
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(outcome, store, [put(str(n))]) for n in range(8)]
        queued(store, 8)
        started = store._writer._db.total_changes()
        held.let_go()
        assert [one.result() for one in waiting] == ["stored"] * 8
    assert store._writer._db.total_changes() > started
    assert store._writer._crowd == 8


def test_refused_commits_do_not_harm_their_neighbours(store: SqliteStore) -> None:
    store.commit([put("taken", "first")])
    batches = [
        [put("1")],
        [put("taken", "other")],
        [put("2"), put("taken", "other")],
        [put("3"), put("4", collection="b")],
        [put("taken", "first")],
    ]
    held = Held(store)
    with ThreadPoolExecutor(5) as pool:
        waiting = [pool.submit(outcome, store, batch) for batch in batches]
        queued(store, 5)
        held.let_go()
        assert [one.result() for one in waiting] == ["stored", "ConflictError", "ConflictError", "stored", "stored"]
    assert {record.id for record in store.page("a").records} == {"taken", "1", "3"}
    assert store.verify().ok


def test_one_commit_too_big_for_the_disk_does_not_harm_its_neighbours(store: SqliteStore) -> None:
    store.commit([put("first")])
    db = store._writer._db
    db.pragma("max_page_count", int(db.pragma("page_count")) + 20)
    held = Held(store)
    with ThreadPoolExecutor(3) as pool:
        waiting = [
            pool.submit(outcome, store, [put("1")]),
            pool.submit(outcome, store, [put("big", "word " * 200_000)]),
            pool.submit(outcome, store, [put("2")]),
        ]
        queued(store, 3)
        held.let_go()
        assert [one.result() for one in waiting] == ["stored", "StoreFullError", "stored"]


def test_an_interrupt_of_the_leader_is_its_own_and_the_others_are_served(store: SqliteStore) -> None:
    held = Held(store)
    interrupted: list[BaseException] = []

    def interrupt(db: Database) -> None:
        raise KeyboardInterrupt

    def lead() -> None:
        try:
            store._writer.call(interrupt)
        except KeyboardInterrupt as error:
            interrupted.append(error)

    leader = threading.Thread(target=lead)
    leader.start()
    queued(store, 1)
    with ThreadPoolExecutor(3) as pool:
        waiting = [pool.submit(outcome, store, [put(str(n))]) for n in range(3)]
        queued(store, 4)
        held.let_go()
        assert [one.result() for one in waiting] == ["stored"] * 3
    leader.join()
    assert len(interrupted) == 1
    store.commit([put("after")])


def test_a_waiting_thread_that_gives_up_leaves_the_queue(store: SqliteStore) -> None:
    held = Held(store)
    writer = store._writer

    class Impatient:
        def acquire(self) -> bool:
            queued(store, 1)
            raise KeyboardInterrupt

    from libravdb_memory.store.sqlite.writer import Call, _Ticket

    ticket = _Ticket(Call(lambda db: None))
    with writer._guard:
        writer._queue.append(ticket)
    with pytest.raises(KeyboardInterrupt):
        writer._await(ticket, Impatient())  # type: ignore[arg-type]
    assert writer._queue == []
    held.let_go()
    store.commit([put("after")])
    assert store.get(Key("a", "after")) is not None


def test_work_after_close_is_refused_and_a_bug_in_work_reaches_its_caller(store: SqliteStore) -> None:
    def buggy(db: Database) -> None:
        db.execute("INSERT INTO meta VALUES ('half', 'done')")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store._writer.call(buggy)
    assert store._writer.call(lambda db: db.execute("SELECT count(*) FROM meta WHERE name = 'half'").get) == 0
    store.close()
    with pytest.raises(StoreClosedError):
        store.commit([put("late")])
