"""A daemon that is killed and started again while many use it: nothing said is lost, and everybody finds back."""

from __future__ import annotations

import random
import signal
import threading
import time
from pathlib import Path

import pytest
from tests.serve.process import Daemons

from libravdb_memory.serve.client import Client
from libravdb_memory.serve.client.core import RefusedError, UnavailableError


class Talker(threading.Thread):
    """Says numbered things in a session of its own until it is told to end, through a client that keeps what waits."""

    def __init__(self, home: Path, session: str, enough: threading.Event) -> None:
        super().__init__(name=session)
        self._home, self._enough = home, enough
        self.said = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with Client(home=self._home) as client:
                while not self._enough.is_set():
                    client.ingest(f"{self.said}", user="ada", session=self.name, id=f"t{self.said}")
                    self.said += 1
                    self._enough.wait(0.002)  # at the pace of a quick host: the store must stay small enough to verify
        except BaseException as error:  # told by the test
            self.failure = error


class Asker(threading.Thread):
    """Searches and assembles; while nobody answers it does without. `answers` counts what it was answered."""

    def __init__(self, home: Path, enough: threading.Event) -> None:
        super().__init__(name="asker")
        self._home, self._enough = home, enough
        self.answers = 0
        self.missed = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with Client(home=self._home) as client:
                while not self._enough.is_set():
                    self._ask(client)
        except BaseException as error:  # told by the test
            self.failure = error

    def _ask(self, client: Client) -> None:
        built = client.context("what was said?", user="ada", session="s0", messages=[{"role": "user", "content": "?"}])
        assert built.messages == [{"role": "user", "content": "?"}]
        try:
            client.search("what was said?", user="ada")
            self.answers += 1
        except (UnavailableError, RefusedError):
            self.missed += 1
            self._enough.wait(0.01)


def wait_for_more(threads: list[Talker], asker: Asker, patience_s: float = 60) -> None:
    """Until everybody has got on, the one that asks included."""
    before = [talker.said for talker in threads]
    answered = asker.answers
    deadline = time.monotonic() + patience_s
    while asker.answers <= answered + 2 or any(
        talker.said < said + 10 for talker, said in zip(threads, before, strict=True)
    ):
        assert time.monotonic() < deadline, (asker.answers, [talker.said for talker in threads])
        assert not any(each.failure for each in (*threads, asker)), [each.failure for each in (*threads, asker)]
        time.sleep(0.01)


@pytest.mark.parametrize("kills", [2, pytest.param(25, marks=pytest.mark.long)])
def test_nothing_said_is_lost_when_the_daemon_is_killed_under_load_and_everybody_finds_back(
    daemons: Daemons, kills: int
) -> None:
    chance, enough = random.Random(kills), threading.Event()
    daemon = daemons()
    talkers = [Talker(daemons.home, f"s{number}", enough) for number in range(3)]
    asker = Asker(daemons.home, enough)
    try:
        for thread in (*talkers, asker):
            thread.start()
        for _ in range(kills):
            wait_for_more(talkers, asker)
            time.sleep(chance.random() / 5)  # at any moment
            daemon.signal(signal.SIGKILL)
            daemon.wait()
            daemon = daemons()
        wait_for_more(talkers, asker)
    finally:
        enough.set()
        for thread in (*talkers, asker):
            thread.join(60)
    assert not any(each.failure for each in (*talkers, asker))
    with Client(home=daemons.home) as client:
        assert client.send_waiting().finished
    with daemon.client(timeout_s=600) as client:
        for talker in talkers:
            found = client.call("list_collection", collection=f"session_raw:{talker.name}")["results"]
            assert {item["text"] for item in found} == {f"{number}" for number in range(talker.said)}
            history = client.call("memory_history", userId="ada", sessionId=talker.name)["entries"]
            shown = [int(entry["text"]) for entry in history if entry.get("role") == "user"]
            assert shown == sorted(shown) and shown[-1] == talker.said - 1
        assert client.call("verify")["ok"] is True
    assert daemon.stop() == 0
