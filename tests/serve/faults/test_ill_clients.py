"""Clients that behave badly, all at once, while somebody else works: that one does not notice."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from tests.serve.faults import latency
from tests.serve.process import Client, Daemon, Daemons

SPARE_FILES = 300


def as_many_as_allowed(wanted: int) -> int:
    """Connections that this process and the daemon may have, the limit raised as far as it goes."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = wanted if most == resource.RLIM_INFINITY else min(wanted, most - SPARE_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (room + SPARE_FILES, most))
    return room


@contextmanager
def dribbling(daemon: Daemon, pause_s: float) -> Iterator[list[int]]:
    """A client that sends one byte, pauses, sends the next; the list has the ids that it was answered."""
    ended, answered = threading.Event(), list[int]()

    def dribble() -> None:
        with daemon.client() as client:
            while not ended.is_set():
                for byte in b'{"id":7,"method":"health"}\n':
                    client.raw(bytes([byte]))
                    if ended.wait(pause_s):
                        return
                answered.append(client.read()["id"])

    thread = threading.Thread(target=dribble)
    thread.start()
    try:
        yield answered
    finally:
        ended.set()
        thread.join()


@contextmanager
def not_reading(daemon: Daemon) -> Iterator[Client]:
    """A client that has asked for many megabytes and reads none of them."""
    with daemon.client() as client:
        client.call("ingest_message", userId="mute", sessionId="s", id="big", text="x" * 500_000)
        client.socket.settimeout(1)
        with suppress(OSError):  # nothing of it is read any more once enough waits
            for _ in range(200):
                client.send("memory_get", userId="mute", sessionId="s", id="big")
        yield client


@pytest.mark.parametrize(
    ("idle", "byte_s"), [(1500, 0.01), pytest.param(10_000, 1.0, marks=pytest.mark.long)], ids=["quick", "long"]
)
def test_one_who_works_does_not_notice_idle_mute_and_dribbling_clients(
    daemons: Daemons, idle: int, byte_s: float
) -> None:
    daemon, count = daemons(SERVE_WRITE_TIMEOUT_S="600"), as_many_as_allowed(idle)
    with daemon.client() as worker, ExitStack() as others:
        latency.of_calls(worker, "warm up", 20)
        before = latency.of_calls(worker, "before")
        for _ in range(count):
            others.enter_context(daemon.client())
        answered = others.enter_context(dribbling(daemon, byte_s))
        others.enter_context(not_reading(daemon))
        half = others.enter_context(daemon.client())
        half.raw(b'{"id":1,"method":"ingest_message","params":{"text":"never fini')
        small = daemon.resident_bytes()
        after = latency.of_calls(worker, "after")
        latency.assert_not_slowed(before, after)
        deadline = time.monotonic() + 60
        while not answered:  # slow, but served
            assert time.monotonic() < deadline
            worker.call("health")
        assert daemon.resident_bytes() - small < 100 << 20
        assert f"libravdb_connections_open {count + 4}" in worker.call("metrics")["text"]
    with daemon.client() as client:
        assert client.call("verify")["ok"] is True
    assert daemon.stop() == 0


def test_a_mute_client_holds_up_its_own_answers_and_no_others_of_the_same_session(daemons: Daemons) -> None:
    """Calls of a session are worked on in order; that somebody does not read an answer must not hold up the line."""
    daemon = daemons(SERVE_WRITE_TIMEOUT_S="600")
    with not_reading(daemon), daemon.client() as other:
        began = time.monotonic()
        for number in range(20):
            assert other.call("ingest_message", userId="mute", sessionId="s", id=f"t{number}", text="heard")["ok"]
        assert time.monotonic() - began < 10
