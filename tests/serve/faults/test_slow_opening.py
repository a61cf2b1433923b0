"""A store that takes long to open: the daemon is there at once, and whatever needs the store waits for it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from tests.serve.process import Daemons

from libravdb_memory.errors import StoreClosedError, StoreReadOnlyError
from libravdb_memory.serve.opening import Opening
from libravdb_memory.serve.running import running
from libravdb_memory.serve.service import Opened

ADA = {"userId": "ada", "sessionId": "s1"}
TURN = {**ADA, "id": "t1", "text": "said while it opened"}


@contextmanager
def held_open(home: Path) -> Iterator[apsw.Connection]:
    """The data file is locked, so that whoever opens it waits; a daemon does so for some seconds."""
    holder = apsw.Connection(str(home / "data.libravdb"))
    try:
        holder.pragma("locking_mode", "EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        yield holder
    finally:
        holder.close()


def make_store(daemons: Daemons) -> None:
    daemon = daemons()
    with daemon.client() as client:
        client.call("ingest_message", **ADA, id="t0", text="said before")
    assert daemon.stop() == 0


def test_health_is_answered_while_the_store_opens_and_other_calls_wait_in_order(daemons: Daemons) -> None:
    make_store(daemons)
    with held_open(daemons.home) as holder:
        daemon = daemons()
        with daemon.client() as client, daemon.client() as other:
            assert client.call("health")["message"] == "starting"
            found = running(daemons.home)
            assert found is not None and found.pid == daemon.pid
            stored = client.send("ingest_message", **TURN)
            read = client.send("bootstrap_session", **ADA)
            other.send("memory_get", **ADA, id="t0")
            began = time.monotonic()
            assert client.call("health")["message"] == "starting"
            assert time.monotonic() - began < 1
            holder.close()
            assert client.read()["id"] == stored
            answer = client.read()
            assert answer["id"] == read and answer["result"]["resumed"] is True
            assert other.read()["result"]["turn"]["text"] == "said before"
            assert client.call("health")["message"] == "ok"
            assert [entry["id"] for entry in client.call("memory_history", **ADA)["entries"]] == ["t0", "t1"]
    assert daemon.stop() == 0


def test_a_daemon_told_to_stop_while_its_store_opens_refuses_what_waits_and_ends(daemons: Daemons) -> None:
    make_store(daemons)
    with held_open(daemons.home):
        daemon = daemons()
        with daemon.client() as client:
            waiting = client.send("ingest_message", **TURN)
            assert client.call("health")["message"] == "starting"
            daemon.signal(signal.SIGTERM)
            answer = client.read()
            assert answer["id"] == waiting and answer["error"]["code"] == -32031
            assert client.read() is None
            assert daemon.wait() == 0, daemon.log
    with daemons().client() as client:
        assert [entry["id"] for entry in client.call("memory_history", **ADA)["entries"]] == ["t0"]


def test_a_store_that_does_not_open_at_all_is_told_to_who_waits_and_ends_the_daemon(daemons: Daemons) -> None:
    make_store(daemons)
    with held_open(daemons.home):
        daemon = daemons()
        with daemon.client() as client:
            waiting = client.send("memory_get", **ADA, id="t0")
            answer = client.read()  # when the patience of SQLite is over
            assert answer["id"] == waiting and answer["error"]["code"] == -32010, answer
        assert daemon.wait() not in (0, 1), daemon.log
        assert "data.libravdb" in daemon.log
    assert running(daemons.home) is None
    with daemons().client() as client:
        assert client.call("memory_get", **ADA, id="t0")["turn"]["text"] == "said before"


def test_a_failure_is_raised_at_once_where_it_comes_at_once_and_later_to_all_who_ask(tmp_path: Path) -> None:
    asked = threading.Event()

    def fails() -> Opened:
        asked.wait(60)
        raise StoreReadOnlyError(tmp_path)

    def owned() -> bool:
        asked.set()
        return False

    opening = Opening(fails, tmp_path)
    told: list[str] = []
    with pytest.raises(StoreReadOnlyError):
        opening.start(0, owned)
    with pytest.raises(StoreReadOnlyError):
        opening.opened()
    opening.then(lambda: told.append("late"))
    assert told == ["late"] and opening.outcome() is None and not opening.is_ready


def test_who_waits_for_an_opening_that_is_given_up_is_told_that_the_daemon_ends(tmp_path: Path) -> None:
    opening = Opening(lambda: pytest.fail("never begun"), tmp_path)
    opening.give_up()
    with pytest.raises(StoreClosedError):
        opening.opened()
