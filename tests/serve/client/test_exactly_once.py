"""Kill the daemon, kill the client, again and again: every turn arrives once, in the order of its session."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.serve.process import Daemon, Daemons

from libravdb_memory import Memory
from libravdb_memory.config import load_config
from libravdb_memory.namespaces import history_of
from libravdb_memory.serve.client import Client
from libravdb_memory.store.paging import every
from libravdb_memory.store.protocol import Equals

TALKER = Path(__file__).with_name("talker.py")


@contextmanager
def talker(home: Path, way: str, begin: dict[str, int], total: int) -> Iterator[subprocess.Popen[bytes]]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LIBRAVDB_")}
    with subprocess.Popen(
        [sys.executable, str(TALKER), str(home), way, str(total)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(begin).encode())
            process.stdin.close()
            yield process
        finally:
            process.kill()


class Story:
    """A host that talks while its daemon and itself are killed now and then."""

    def __init__(self, daemons: Daemons, way: str, sessions: int, total: int, seed: int) -> None:
        self._daemons, self._way, self._total = daemons, way, total
        self._chance = random.Random(seed)
        self.next = {f"s{index}": 0 for index in range(sessions)}
        self._daemon: Daemon | None = None
        self.deaths = {"daemon": 0, "client": 0}

    @property
    def finished(self) -> bool:
        return all(number == self._total for number in self.next.values())

    def go_on(self, often: int) -> None:
        """One client's life: until it has said everything, or is killed."""
        until_client, until_daemon = self._after(3 * often), self._after(often)
        with talker(self._daemons.home, self._way, self.next, self._total) as process:
            assert process.stdout is not None
            for line in process.stdout:
                session, number = line.decode().split()
                assert int(number) == self.next[session]
                self.next[session] += 1
                until_client, until_daemon = until_client - 1, until_daemon - 1
                if not until_daemon:
                    self._daemon_changes()
                    until_daemon = self._after(often)
                if not until_client:
                    process.send_signal(signal.SIGKILL)
                    self.deaths["client"] += 1
            assert process.wait() in (0, -signal.SIGKILL)

    def end(self) -> None:
        """A last client delivers what waits."""
        if self._daemon is None:
            self._daemon_changes()
        until = time.monotonic() + 300
        with Client(home=self._daemons.home) as client:
            while not client.send_waiting().finished:
                assert time.monotonic() < until
                time.sleep(0.1)
            assert client.desk.spool.set_aside_count() <= self.deaths["client"]  # lines that a killed one left torn
        assert self._daemon is not None
        self._daemon.stop()

    def _after(self, often: int) -> int:
        return self._chance.randint(max(1, often // 4), often)

    def _daemon_changes(self) -> None:
        if self._daemon is None:
            self._daemon = self._daemons()
            return
        self._daemon.signal(signal.SIGKILL)
        self._daemon.wait()
        self._daemon = None
        self.deaths["daemon"] += 1


def stored(home: Path, session: str) -> list[str]:
    config = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    with Memory.open(config=config) as memory:
        return [record.text for record in every(memory.store, history_of("ada"), Equals("group", session))]


def check(daemons: Daemons, way: str, sessions: int, total: int, often: int, seed: int) -> Story:
    story = Story(daemons, way, sessions, total, seed)
    while not story.finished:
        story.go_on(often)
    story.end()
    for session in story.next:
        assert stored(daemons.home, session) == [f"{number}" for number in range(total)]
    assert not list((daemons.home / "spool").glob("*.spool"))
    assert min(story.deaths.values()) > 0
    return story


@pytest.mark.slow
@pytest.mark.parametrize("way", ["sync", "async"])
def test_every_turn_arrives_once_and_in_order_though_daemon_and_client_are_killed(daemons: Daemons, way: str) -> None:
    check(daemons, way, sessions=4, total=100, often=80, seed=7)


@pytest.mark.slow
def test_two_processes_of_one_home_deliver_what_both_have_said_once_and_in_order(daemons: Daemons) -> None:
    """Both talk without a daemon, and go on while it starts, is killed, and starts again."""
    total = 60
    with (
        talker(daemons.home, "sync", {"a": 0, "b": 0}, total) as first,
        talker(daemons.home, "async", {"c": 0, "d": 0}, total) as second,
    ):
        assert first.stdout is not None and second.stdout is not None
        assert first.stdout.readline() == b"a 0\n" and second.stdout.readline()
        daemon = daemons()
        first.stdout.readline()
        daemon.signal(signal.SIGKILL)
        daemon.wait()
        daemon = daemons()
        first.stdout.read()
        second.stdout.read()
        assert first.wait() == second.wait() == 0
    with Client(home=daemons.home) as client:
        assert client.send_waiting().finished and client.desk.spool.set_aside_count() == 0
    assert daemon.stop() == 0
    for session in "abcd":
        assert stored(daemons.home, session) == [f"{number}" for number in range(total)]


@pytest.mark.long
@pytest.mark.parametrize("way", ["sync", "async"])
def test_ten_thousand_turns_arrive_once_and_in_order_though_daemon_and_client_are_killed(
    daemons: Daemons, way: str
) -> None:
    check(daemons, way, sessions=10, total=1000, often=700, seed=11)
