"""The server as a client starts it: a real process, a real daemon behind it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.mcp_server.connecting import (
    START_S,
    Mode,
    complaint,
    daemon_ended,
    environment,
    over_stdio,
    told,
    within,
)

from libravdb_memory import Memory
from libravdb_memory.config import load_config
from libravdb_memory.serve.client import Client as DaemonClient
from libravdb_memory.serve.running import running

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_daemon_is_started_on_demand_and_outlives_its_client(home: Path, mode: Mode) -> None:
    async def talk() -> None:
        async with over_stdio(home, "--user", "ada", mode=mode) as client:
            await told(client, "memory_add", text="We deploy on Tuesdays.")
        async with over_stdio(home, mode=mode, MCP_USER="ada") as client:
            (hit,) = (await told(client, "memory_search", query="when do we deploy?"))["results"]
            assert hit["text"] == "We deploy on Tuesdays."

    with daemon_ended(home):
        within(talk())
        found = running(home)
        assert found is not None
        with DaemonClient(found.endpoint, home=home) as daemon:
            assert len(daemon.search("deploy", user="ada")["results"]) == 1


def test_clients_of_two_namespaces_share_a_daemon_and_nothing_else(home: Path) -> None:
    async def talk() -> None:
        async with over_stdio(home, "--user", "ada") as ada, over_stdio(home, "--namespace", "bob") as bob:
            await told(ada, "memory_add", text="The vault code is 4711.")
            await told(bob, "memory_add", text="The vault is green.")
            found = await told(bob, "memory_search", query="vault code")
            assert [hit["text"] for hit in found["results"]] == ["The vault is green."]

    with daemon_ended(home):
        within(talk())


def test_a_daemon_that_was_killed_is_started_again_by_the_next_call(home: Path) -> None:
    async def talk() -> None:
        async with over_stdio(home) as client:
            await told(client, "memory_add", text="We deploy on Tuesdays.")
            first = running(home)
            assert first is not None
            os.kill(first.pid, signal.SIGKILL)
            (hit,) = (await told(client, "memory_search", query="when do we deploy?"))["results"]
            assert hit["text"] == "We deploy on Tuesdays."
            second = running(home)
            assert second is not None and second.pid != first.pid

    with daemon_ended(home):
        within(talk())


def test_calls_at_once_that_are_cancelled_or_lose_the_daemon_mix_nothing_up(home: Path) -> None:
    """Two clients; a third of the calls are given up, and the daemon is killed under the next ones."""

    async def one(client: Any, text: str) -> None:
        added = await told(client, "memory_add", text=text)
        assert (await told(client, "memory_get", id=added["id"]))["turn"]["text"] == text

    async def texts(client: Any) -> list[str]:
        listed = await told(client, "memory_history", limit=50)
        assert not listed["older"]
        return [entry["text"] for entry in listed["entries"]]

    async def talk() -> None:
        async with over_stdio(home, "--user", "ada") as ada, over_stdio(home, "--user", "bob") as bob:
            both = {"ada": ada, "bob": bob}
            for name, client in both.items():
                await one(client, f"{name} is here")
            works = [
                asyncio.create_task(one(client, f"{name} says {n}")) for n in range(12) for name, client in both.items()
            ]
            await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
            for work in works[::3]:
                work.cancel()
            outcomes = await asyncio.gather(*works, return_exceptions=True)
            assert not [each for each in outcomes if isinstance(each, Exception)]
            first = running(home)
            assert first is not None
            works = [
                asyncio.create_task(one(client, f"{name} adds {n}")) for n in range(8) for name, client in both.items()
            ]
            await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
            os.kill(first.pid, signal.SIGKILL)
            await asyncio.gather(*works)
            for name, client in both.items():
                held = await texts(client)
                assert len(held) == len(set(held)) and all(text.startswith(name) for text in held)
                assert set(held) >= {f"{name} adds {n}" for n in range(8)} | {f"{name} is here"}

    with daemon_ended(home):
        within(talk())


def test_what_waited_on_disk_is_there_for_the_first_question(home: Path) -> None:
    with DaemonClient(home=home) as away:
        assert not away.ingest("We deploy on Tuesdays.", user="ada", session="s1").delivered

    async def talk() -> None:
        async with over_stdio(home, "--user", "ada") as client:
            (hit,) = (await told(client, "memory_search", query="when do we deploy?"))["results"]
            assert hit["session"] == "s1"

    with daemon_ended(home):
        within(talk())


def test_without_a_daemon_the_store_is_opened_here(tmp_path: Path) -> None:
    """The path of a socket in this home is too long, so that no daemon can listen."""
    home = tmp_path / ("long" * 30)

    async def talk() -> None:
        async with over_stdio(home, "--user", "ada") as client:
            await told(client, "memory_add", text="We deploy on Tuesdays.")

    within(talk())
    assert running(home) is None
    config = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    with Memory.open(config=config) as memory:
        assert memory.search("deploy", user="ada")


def test_a_store_that_another_owns_is_told_and_tried_again(home: Path) -> None:
    config = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})

    async def talk() -> None:
        memory = Memory.open(config=config)
        async with over_stdio(home, "--embedded") as client:
            try:
                assert str(os.getpid()) in await complaint(client, "memory_search", query="x")
            finally:
                memory.close()
            await told(client, "memory_search", query="x")

    within(talk())


class Raw:
    """The server behind bare pipes."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "libravdb_memory", "mcp", *arguments],
            env=environment(home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._patience = threading.Timer(START_S, self.process.kill)
        self._patience.start()

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self, number: int) -> Any:
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            told = json.loads(line)
            if told.get("id") == number:
                return told
        raise AssertionError("the server has ended")

    def lines(self, count: int) -> list[Any]:
        assert self.process.stdout is not None
        return [json.loads(self.process.stdout.readline()) for _ in range(count)]

    def end(self) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait()
        self._patience.cancel()
        assert self.process.stdout.read() == b""
        self.process.stdout.close()
        return code


INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "0"},
        },
    }
).encode()


def test_the_handshake_waits_neither_for_a_store_nor_for_a_daemon(home: Path) -> None:
    """What is owned elsewhere can be opened by nobody; the handshake and the list of tools come all the same."""
    config = load_config(environ={"LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    with Memory.open(config=config):
        raw = Raw(home)
        raw.send(INITIALIZE)
        told = raw.answer(1)["result"]
        assert told["serverInfo"]["name"] == "libravdb-memory" and told["protocolVersion"] == "2025-06-18"
        assert "untrusted" in told["instructions"]
        raw.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        raw.send(b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}')
        assert len(raw.answer(2)["result"]["tools"]) == 6
        assert raw.end() == 0


PING = b'{"jsonrpc":"2.0","id":2,"method":"ping"}'


def test_every_request_is_answered_once(home: Path) -> None:
    """Also the first, which is answered before the library hears it."""
    raw = Raw(home, "--embedded")
    for line in (INITIALIZE, b'{"jsonrpc":"2.0","method":"notifications/initialized"}', PING):
        raw.send(line)
    assert [told["id"] for told in raw.lines(2)] == [1, 2]
    assert raw.end() == 0


@pytest.mark.parametrize(
    "params",
    [
        b'{"name":"memory_add","arguments":{"text":"half an emoji: \\ud83d"}}',
        b'{"name":"memory_add","arguments":' + b"[" * 400 + b"]" * 400 + b"}",
        b"7",
    ],
)
def test_a_request_that_cannot_be_read_is_answered_all_the_same(home: Path, params: bytes) -> None:
    """Who asked would wait for ever otherwise; some programs send half of a character where they cut a text."""
    raw = Raw(home, "--embedded")
    raw.send(INITIALIZE)
    raw.answer(1)
    raw.send(b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":%s}' % params)
    told = raw.answer(3)["error"]
    assert told["code"] == -32700 and "cannot be read" in told["message"]
    raw.send(PING)
    assert raw.answer(2)["result"] == {}
    assert raw.end() == 0


def test_lines_that_are_no_messages_end_nothing(home: Path) -> None:
    raw = Raw(home, "--embedded")
    for line in (b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"jsonrpc":"2.0","id":7}', b'{"id":{}}', b"[" * 5_000):
        raw.send(line)
    raw.send(INITIALIZE)
    assert "result" in raw.answer(1)
    for number, params in enumerate((b"null", b'{"name":7}', b'{"name":"memory_add","arguments":[]}'), start=2):
        raw.send(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}' % (number, params))
        assert "error" in raw.answer(number)
    raw.send(b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"memory_add","arguments":{"text":"a"}}}')
    assert raw.answer(9)["result"]["isError"] is False
    assert raw.end() == 0
