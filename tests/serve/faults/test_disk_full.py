"""A disk that fills up under a daemon: writers are told what to do, readers go on, and writers too once there is room.

The system itself refuses to let the files of the daemon grow: beyond a limit its writes fail, as on a full disk.
"""

from __future__ import annotations

import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.serve.process import Client, Daemon, Daemons

from libravdb_memory.serve.client import Client as KeepingClient

ADA = {"userId": "ada", "sessionId": "s1"}
FULL = -32011

pytestmark = pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of others cannot be set here")


@contextmanager
def full_disk(daemon: Daemon, room: int) -> Iterator[None]:
    """No file of the daemon grows beyond the largest by more than `room`."""
    largest = max(file.stat().st_size for file in daemon.home.rglob("*") if file.is_file())
    _, most = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (largest + room, most))
    try:
        yield
    finally:
        if daemon.process.poll() is None:
            resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (most, most))


def say(client: Client, number: int, session: str = "s1") -> Any:
    text = f"turn {number}: " + "the quay is long and the lamps are lit " * 100
    return client.ask("ingest_message", userId="ada", sessionId=session, id=f"t{number}", text=text)


def fill(client: Client, session: str, acknowledged: list[int]) -> dict[str, Any]:
    """Until the first refusal."""
    for number in range(len(acknowledged), 10_000):
        answer = say(client, number, session)
        if "error" in answer:
            error: dict[str, Any] = answer["error"]
            return error
        acknowledged.append(number)
    raise AssertionError("the disk was never full")


@pytest.mark.parametrize("room", [0, 300_000])
def test_a_full_disk_refuses_writers_with_advice_lets_readers_go_on_and_loses_nothing(
    daemons: Daemons, room: int
) -> None:
    daemon = daemons(STORE_WAL_MB="1")
    sessions: dict[str, list[int]] = {f"s{number}": [] for number in range(3)}
    refusals: dict[str, dict[str, Any]] = {}

    def talk(session: str) -> None:
        with daemon.client() as client:
            refusals[session] = fill(client, session, sessions[session])

    with daemon.client() as reader:
        for number in range(5):
            assert "result" in say(reader, number, "before")
        with full_disk(daemon, room):
            threads = [threading.Thread(target=talk, args=(session,)) for session in sessions]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(120)
            assert len(refusals) == len(sessions)
            for error in refusals.values():
                assert error["code"] == FULL and error["data"]["kind"] == "store_full", error
                assert "no space left" in error["message"] and "make room" in error["data"]["hint"]
            assert reader.call("health")["message"] == "ok"
            assert reader.call("memory_get", userId="ada", sessionId="before", id="t3")["turn"]["text"]
            assert reader.call("memory_search", userId="ada", query="where are the lamps?")["results"]
            assert reader.call("assemble_context", userId="ada", sessionId="before", prompt="the lamps?")["text"]
            assert reader.call("memory_history", userId="ada", sessionId="before")["turns"] == 5
            assert reader.call("status")["ok"] is True
            assert say(reader, 99)["error"]["code"] == FULL
        for session, acknowledged in sessions.items():
            assert "result" in say(reader, len(acknowledged), session)  # the refused one, under the same id
            acknowledged.append(len(acknowledged))
        assert "internal error" not in daemon.log
    assert daemon.stop() == 0, daemon.log
    with daemons().client() as client:
        for session, acknowledged in sessions.items():
            if acknowledged:
                found = client.call("memory_history", userId="ada", sessionId=session)
                assert [entry["id"] for entry in found["entries"]] == [f"t{number}" for number in acknowledged]
        assert client.call("verify")["ok"] is True


def test_a_daemon_killed_on_a_full_disk_has_everything_that_it_acknowledged(daemons: Daemons) -> None:
    daemon = daemons(STORE_WAL_MB="1")
    acknowledged: list[int] = []
    with daemon.client() as client, full_disk(daemon, 200_000):
        fill(client, "s1", acknowledged)
        daemon.process.kill()
        daemon.wait()
    assert acknowledged
    with daemons().client() as client:
        found = client.call("memory_history", **ADA)
        assert [entry["id"] for entry in found["entries"]] == [f"t{number}" for number in acknowledged]
        assert client.call("verify")["ok"] is True


def test_what_a_client_says_while_the_disk_of_its_daemon_is_full_is_kept_and_arrives_once(daemons: Daemons) -> None:
    daemon, said = daemons(), list[str]()
    with KeepingClient(home=daemons.home) as client, daemon.client() as other:

        def say_more() -> bool:
            said.append(f"turn {len(said)}: " + "the quay is long " * 100)
            return client.ingest(said[-1], user="ada", session="s1").delivered

        assert say_more()
        with full_disk(daemon, 0):
            while say_more():
                assert len(said) < 5000, "the disk was never full"
            for _ in range(5):  # some may find room that was left, but none overtakes what waits
                say_more()
        assert client.send_waiting().finished
        assert say_more()
        found = other.call("list_collection", collection="session_raw:s1")["results"]
        assert sorted(item["text"] for item in found) == sorted(said)
        newest = [entry["text"] for entry in other.call("memory_history", **ADA)["entries"]][-7:]
        assert newest == said[-7:]
