"""Many at once: one owner however many ask, and a close that no commit slips through."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from turns_on_disk import COLLECTIONS, assert_holds, batch, commit_all

from libravdb_memory.errors import LibraVDBError, StoreClosedError, StoreLockedError
from libravdb_memory.store.protocol import TextQuery
from libravdb_memory.store.sqlite.store import SqliteStore

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

# Children wait for one pipe to close, open the store at that instant, and say how it went. The winner dies without
# closing, so that its pid is still written in the lock file when the next ones race.
RACERS = """
import json, os, sys
from pathlib import Path
from libravdb_memory.errors import StoreLockedError
from libravdb_memory.store.sqlite.store import SqliteStore

def race(path, runners):
    start, shoot = os.pipe()
    finish, wave = os.pipe()
    answers, answer = os.pipe()
    for _ in range(runners):
        if os.fork() == 0:
            os.close(shoot), os.close(wave)
            os.read(start, 1)
            try:
                store = SqliteStore.open(path)
                said = {"pid": os.getpid(), "won": True}
            except StoreLockedError as error:
                said = {"pid": os.getpid(), "won": False, "owner": error.pid}
            except BaseException as error:
                said = {"pid": os.getpid(), "won": False, "error": repr(error)}
            os.write(answer, json.dumps(said).encode() + b"\\n")
            os.read(finish, 1)
            os._exit(0)
    os.close(shoot), os.close(start), os.close(answer)
    heard = b""
    while heard.count(b"\\n") < runners:
        heard += os.read(answers, 65536)
    os.close(wave), os.close(finish), os.close(answers)
    for _ in range(runners):
        os.wait()
    return [json.loads(line) for line in heard.splitlines()]

folder = Path(sys.argv[1])
rounds = [race(folder / f"store-{number // 4}.libravdb", 4) for number in range(16)]
print(json.dumps(rounds))
"""


@posix
def test_of_processes_that_open_at_once_one_wins_and_the_others_know_it(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", RACERS, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for answers in json.loads(done.stdout):
        winners = [answer["pid"] for answer in answers if answer["won"]]
        assert len(winners) == 1, answers
        assert [answer.get("owner") for answer in answers if not answer["won"]] == winners * 3, answers


def test_opening_while_another_closes_is_refused_or_works(tmp_path: Path) -> None:
    path = tmp_path / "store.libravdb"
    kept: list[int] = []

    def come_and_go(first: int) -> None:
        for number in range(first, first + 40):
            try:
                with SqliteStore.open(path) as store:
                    store.commit(batch(number))
                    kept.append(number)
            except StoreLockedError:
                continue

    in_threads(*(partial(come_and_go, first) for first in (0, 100, 200)))
    assert kept
    with SqliteStore.open(path) as store:
        assert_holds(store, kept)


OWNER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from turns_on_disk import commit_all
from libravdb_memory.store.sqlite.store import SqliteStore
store = SqliteStore.open(Path(sys.argv[1]))
commit_all(store, range(10))
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_store_is_free_as_soon_as_its_owner_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "store.libravdb"
    command = [sys.executable, "-c", OWNER, str(path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "ready\n"
        with pytest.raises(StoreLockedError) as refusal:
            SqliteStore.open(path)
        assert refusal.value.pid == owner.pid
        owner.kill()
        owner.wait()
        with SqliteStore.open(path) as store:
            assert_holds(store, range(10))


class Busy:
    """Everything a store can be asked for, over and over, until it says that it is closed."""

    def __init__(self, path: Path, moment: int) -> None:
        self.store = SqliteStore.open(path)
        self.kept: list[int] = []
        self._space = self.store.add_space("space", "space", 8)
        self._target = path.with_name("backup.libravdb")
        self._moment = moment
        self._enough = threading.Event()

    def write(self, first: int) -> None:
        for number in range(first, first + 100_000):
            self.store.commit(batch(number))
            self.kept.append(number)
            if len(self.kept) >= self._moment:
                self._enough.set()

    def read(self) -> None:
        while True:
            self.store.search_text(COLLECTIONS[0], TextQuery((("lantern",),)), 3)
            self.store.page(COLLECTIONS[1])
            self.store.search_vectors(COLLECTIONS[0], np.ones(8, np.float32), 3)

    def embed(self) -> None:
        while True:
            refs = [item.ref for item in self.store.unembedded(self._space, 10)]
            self.store.put_vectors(self._space, refs, np.ones((len(refs), 8), np.float32))

    def keep(self) -> None:
        while True:
            self.store.backup(self._target)
            self.store.verify()

    def close(self) -> None:
        self._enough.wait(60)
        self.store.close()


@pytest.mark.parametrize("moment", [1, 10, 40])
def test_closing_amid_commits_keeps_exactly_what_was_acknowledged(tmp_path: Path, moment: int) -> None:
    busy = Busy(tmp_path / "store.libravdb", moment)
    writers = [partial(busy.write, first) for first in (0, 100_000, 200_000)]
    errors = in_threads(*writers, busy.read, busy.embed, busy.keep, busy.close)
    assert all(isinstance(error, StoreClosedError) for error in errors), errors
    assert len(errors) == 6
    with SqliteStore.open(tmp_path / "store.libravdb") as store:
        assert_holds(store, busy.kept)


def in_threads(*jobs: Callable[[], object]) -> list[BaseException]:
    """Run them all; answers what they raised of ours (anything else fails the test)."""
    errors: list[BaseException] = []

    def guarded(job: Callable[[], object]) -> None:
        try:
            job()
        except LibraVDBError as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    return errors


# A writer waits for its turn in the main thread when Ctrl-C comes. The leader is held up until then.
INTERRUPTED = """
import os, signal, sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from turns_on_disk import assert_holds, batch
from libravdb_memory.store.protocol import Key
from libravdb_memory.store.sqlite.store import SqliteStore

store = SqliteStore.open(Path(sys.argv[1]))
leading, go_on = threading.Event(), threading.Event()

def lead():
    store._writer.call(lambda db: (leading.set(), go_on.wait()))

def interrupt():
    while not store._writer._queue:
        pass
    os.kill(os.getpid(), signal.SIGINT)
    late.start()
    go_on.set()

late = threading.Thread(target=lambda: store.commit(batch(2)))
leader, watcher = threading.Thread(target=lead), threading.Thread(target=interrupt)
leader.start()
leading.wait()
watcher.start()
try:
    store.commit(batch(1))
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
for thread in (leader, watcher, late):
    thread.join()
store.close()
with SqliteStore.open(Path(sys.argv[1])) as store:
    assert_holds(store, [2] if store.get(Key("notes", "1.0", "g")) is None else [1, 2])
"""


@posix
def test_a_writer_interrupted_while_it_waits_holds_nobody_up(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "store.libravdb"), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "interrupted\n"


def test_a_batch_made_twice_is_the_same(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "store.libravdb") as store:
        commit_all(store, range(3))
        commit_all(store, range(3))
        assert_holds(store, range(3))
