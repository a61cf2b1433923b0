"""What one client of the HTTP server may cost, without a daemon."""

from __future__ import annotations

import asyncio
import select
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from libravdb_memory.serve.http.server import Bounds, HttpServer

WHOLE = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
ASK_LARGE = b"GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
LARGE = 16 << 20


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    body = "x" * LARGE if scope["path"] == "/large" else "served"
    await PlainTextResponse(body)(scope, receive, send)


@asynccontextmanager
async def serving(bounds: Bounds) -> AsyncIterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = HttpServer(app, listener, bounds)
        server.start()
        try:
            yield listener.getsockname()[1]
        finally:
            await server.stop()


async def answered(port: int, head: bytes) -> bytes:
    """All that is answered until the server hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head)
    try:
        return await asyncio.wait_for(reader.read(), 60)
    except ConnectionError:
        return b""
    finally:
        writer.close()


def test_a_request_that_does_not_arrive_whole_in_its_time_ends_its_connection() -> None:
    async def main() -> None:
        async with serving(Bounds(request_s=0.5)) as port:
            parts = [
                b"",
                b"GET / HTTP/1.1\r\nhost: x\r\n",
                b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhalf",
            ]
            assert await asyncio.gather(*(answered(port, part) for part in parts)) == [b"", b"", b""]
            answer = await answered(port, WHOLE)  # and then it sends no second one
            assert answer.endswith(b"served") and answer.count(b"HTTP/1.1 200") == 1

    asyncio.run(main())


def test_bytes_that_trickle_in_do_not_begin_the_time_again() -> None:
    async def main() -> None:
        clock = asyncio.get_running_loop().time
        async with serving(Bounds(request_s=0.5)) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            began = clock()
            while not reader.at_eof():
                assert clock() - began < 30
                writer.write(b"G")
                try:
                    await asyncio.wait_for(reader.read(1), 0.05)
                except TimeoutError:
                    continue
                except ConnectionError:
                    break
            writer.close()

    asyncio.run(main())


def test_a_client_too_many_is_sent_away_and_the_others_are_served() -> None:
    async def main() -> None:
        async with serving(Bounds(clients=2)) as port:
            several = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            for reader, writer in several:
                writer.write(WHOLE)
                assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            assert await answered(port, WHOLE) == b""
            for _, writer in several:
                writer.close()

    asyncio.run(main())


def test_a_client_that_does_not_read_its_answer_is_cut_off_and_one_that_does_gets_it_whole() -> None:
    def is_cut_off(deaf: socket.socket) -> bool:
        """Writing on a connection that the other side has reset fails, sooner or later."""
        pause = threading.Event()
        for _ in range(400):
            try:
                deaf.sendall(b"x")
            except ConnectionError:
                return True
            pause.wait(0.05)
        return False

    async def main() -> None:
        async with serving(Bounds(write_s=0.3)) as port:
            with socket.create_connection(("127.0.0.1", port), timeout=60) as deaf:
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                deaf.sendall(ASK_LARGE)
                assert await asyncio.to_thread(is_cut_off, deaf)
            assert len(await answered(port, ASK_LARGE)) > LARGE

    asyncio.run(main())


def test_of_an_answer_that_was_cut_off_nothing_waits_in_the_kernel_to_be_read() -> None:
    """Else the client would never hear of it, and what it did not read would wait for it for minutes."""

    def hears_of_it(deaf: socket.socket) -> bool:
        watched = select.poll()
        watched.register(deaf, 0)  # errors and hanging up are always told
        return bool(watched.poll(20_000))

    async def main() -> None:
        async with serving(Bounds(write_s=0.3)) as port:
            with socket.create_connection(("127.0.0.1", port), timeout=60) as deaf:
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                deaf.sendall(ASK_LARGE)
                assert await asyncio.to_thread(hears_of_it, deaf)

    asyncio.run(main())
