"""What one client's unfinished frames, and its haste, cost the others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.serve.process import short_folder

from libravdb_memory.serve.access import SAME_USER, Access
from libravdb_memory.serve.connection import Connection, Shared
from libravdb_memory.serve.dispatch import Dispatcher
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.settings import ServeSettings
from libravdb_memory.serve.table import every_method

LONG = b'{"x":"' + b"x" * 900_000


class Peer:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def read(self) -> Any:
        """The next answer; None when the daemon has hung up."""
        line = await self._reader.readline()
        return json.loads(line) if line else None

    async def is_served(self) -> bool:
        await self.send(b'{"id":7,"method":"health"}\n')
        answer = await self.read()
        return answer is not None and answer["id"] == 7

    def close(self) -> None:
        self._writer.close()


class Listening:
    def __init__(self, shared: Shared, path: str) -> None:
        self.shared, self._path = shared, path
        self.peers: list[Peer] = []

    async def peer(self) -> Peer:
        self.peers.append(Peer(*await asyncio.open_unix_connection(self._path)))
        return self.peers[-1]

    async def holding(self, size: int) -> None:
        """Until so much has arrived."""
        while self.shared.held_bytes < size:  # noqa: ASYNC110 - the daemon tells nobody
            await asyncio.sleep(0)


@asynccontextmanager
async def listening(
    service: Service, stalled_s: float = 60.0, access: Access | None = SAME_USER, calls_per_s: int = 0
) -> AsyncIterator[Listening]:
    loop = asyncio.get_running_loop()
    dispatcher = Dispatcher(service, loop, workers=1)
    settings = ServeSettings(max_frame_mb=1, max_calls_per_s=calls_per_s)
    shared = Shared(service, every_method(), settings, dispatcher, access, None, stalled_s=stalled_s)
    with short_folder() as folder:
        server = await loop.create_unix_server(lambda: Connection(shared), str(folder / "s"))
        here = Listening(shared, str(folder / "s"))
        try:
            yield here
        finally:
            for peer in here.peers:
                peer.close()
            server.close()
            if shared.connections:
                await shared.all_gone.wait()
            dispatcher.stop()


def test_a_long_frame_that_does_not_go_on_is_told_so_and_hung_up_on(service: Service) -> None:
    async def scene() -> None:
        async with listening(service, stalled_s=0.05) as here:
            peer = await here.peer()
            await peer.send(LONG)
            assert (await peer.read())["error"]["message"] == "the rest of a frame did not come"
            assert await peer.read() is None
            assert here.shared.held_bytes == 0

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_a_short_frame_may_stay_unfinished(service: Service) -> None:
    async def scene() -> None:
        async with listening(service, stalled_s=0.01) as here:
            slow, stuck = await here.peer(), await here.peer()
            await slow.send(b'{"id":1,"method":')
            await here.holding(10)
            await stuck.send(LONG)
            assert (await stuck.read())["error"] and await stuck.read() is None  # the time is over
            await slow.send(b'"health"}\n')
            assert (await slow.read())["id"] == 1

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_where_all_take_too_much_the_oldest_of_the_long_frames_goes(service: Service) -> None:
    async def scene() -> None:
        async with listening(service) as here:
            short = await here.peer()
            await short.send(b" ")
            await here.holding(1)
            long = [await here.peer() for _ in range(19)]
            for count, peer in enumerate(long[:18], 1):
                await peer.send(LONG)
                await here.holding(1 + count * len(LONG))
            await long[18].send(LONG)
            assert (await long[0].read())["error"]["message"] == "too much is being sent at once"
            assert await long[0].read() is None
            for peer in (short, *long[1:]):
                await peer.send(b"\n")
                assert await peer.is_served() if peer is short else (await peer.read())["error"]["code"] == -32700
            assert here.shared.held_bytes == 0

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_who_is_hung_up_on_still_gets_the_answers_to_earlier_calls(service: Service) -> None:
    async def scene() -> None:
        async with listening(service, stalled_s=0.05) as here:
            peer = await here.peer()
            params = {"userId": "ada", "sessionId": "s", "text": "kept"}
            await peer.send(json.dumps({"id": 1, "method": "ingest_message", "params": params}).encode() + b"\n" + LONG)
            answers = [await peer.read(), await peer.read(), await peer.read()]
            assert sorted(str(answer and answer["id"]) for answer in answers) == ["1", "None", "None"]
            assert answers[2] is None

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_nothing_long_is_held_for_a_client_that_has_not_said_who_it_is(service: Service) -> None:
    async def scene() -> None:
        async with listening(service, access=None) as here:
            peer = await here.peer()
            await peer.send(LONG)
            assert (await peer.read())["error"]["message"] == "invalid request: a frame may have at most 16384 bytes"
            assert here.shared.held_bytes == 0

    asyncio.run(asyncio.wait_for(scene(), 60))


def test_a_client_that_calls_too_fast_waits_is_refused_nothing_and_delays_nobody(service: Service) -> None:
    async def main() -> None:
        async with listening(service, calls_per_s=200) as here:
            hasty, calm = await here.peer(), await here.peer()
            began = asyncio.get_running_loop().time()
            await hasty.send(b"".join(b'{"id":%d,"method":"health"}\n' % number for number in range(300)))
            assert await calm.is_served()
            served_s = asyncio.get_running_loop().time() - began
            answers = [await hasty.read() for _ in range(300)]
            took_s = asyncio.get_running_loop().time() - began
        assert [answer["id"] for answer in answers] == list(range(300))
        assert all(answer["result"] for answer in answers)
        assert took_s >= 0.45 > served_s

    asyncio.run(main())


def test_the_bytes_of_a_long_frame_count_too_even_before_it_ends(service: Service) -> None:
    async def main() -> None:
        async with listening(service, calls_per_s=400) as here:
            peer = await here.peer()
            began = asyncio.get_running_loop().time()
            await peer.send(LONG + b'"}\n')
            assert (await peer.read())["error"]
            assert asyncio.get_running_loop().time() - began >= 0.4

    asyncio.run(main())
