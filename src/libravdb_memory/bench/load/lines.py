"""Bare connections to a daemon: bytes and JSON, nothing that would be measured along with it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from typing import Any, cast

from libravdb_memory.bench.load.subject import Subject
from libravdb_memory.serve.client.finding import find_token
from libravdb_memory.serve.endpoint import UnixEndpoint
from libravdb_memory.serve.jsonrpc import encode_request

_LONGEST = 64 << 20
_PIECE = 1 << 20


class Line:
    """A connection that waits for each answer."""

    def __init__(self, subject: Subject) -> None:
        endpoint = subject.endpoint
        if isinstance(endpoint, UnixEndpoint):
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.connect(os.fspath(endpoint.path))
        else:
            self._socket = socket.create_connection((endpoint.host, endpoint.port))
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if (token := find_token(endpoint, subject.home)) is not None:
            self.ask("authenticate", token=token)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._socket.sendall(encode_request(1, method, params))
        held = self._socket.recv(_PIECE)
        while not held.endswith(b"\n"):
            held += self._socket.recv(_PIECE)
        return cast("dict[str, Any]", json.loads(held))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a call that must succeed."""
        answer = self.ask(method, **params)
        if "result" not in answer:
            raise ConnectionError(f"{method}: {answer.get('error')}")
        return cast("dict[str, Any]", answer["result"])

    def close(self) -> None:
        self._socket.close()


class AsyncLine:
    """The same for one of many: calls are sent one after the other, and answers belong to them by their ids."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._last = 0

    @classmethod
    async def open(cls, subject: Subject) -> AsyncLine:
        endpoint = subject.endpoint
        if isinstance(endpoint, UnixEndpoint):
            opened = await asyncio.open_unix_connection(endpoint.path, limit=_LONGEST)
        else:
            opened = await asyncio.open_connection(endpoint.host, endpoint.port, limit=_LONGEST)
        line = cls(*opened)
        if (token := find_token(endpoint, subject.home)) is not None:
            await line.ask("authenticate", {"token": token})
        return line

    async def ask(self, method: str, params: dict[str, Any]) -> bytes:
        """The bytes of the answer: reading them is not the daemon's work."""
        self.send(method, params)
        return await self.answer()

    def send(self, method: str, params: dict[str, Any]) -> None:
        self._last += 1
        self._writer.write(encode_request(self._last, method, params))

    async def answer(self) -> bytes:
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the daemon hung up")
        return line

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()
