"""The server in a process of its own, as clients start it, and the protocol's own client at its other end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from libravdb_memory.serve.access import TOKENS_FILE, Tokens
from libravdb_memory.serve.lifetime import stop

T = TypeVar("T")
Mode = Literal["legacy", "auto"]
START_S = 90


def within(work: Awaitable[T]) -> T:
    """Run to the end, or fail: nothing here may hang."""

    async def bounded() -> T:
        return await asyncio.wait_for(work, START_S)

    return asyncio.run(bounded())


def environment(home: Path, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LIBRAVDB_")}
    ours = {f"LIBRAVDB_{name}": value for name, value in variables.items()}
    return {**kept, "LIBRAVDB_HOME": str(home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed", **ours}


@asynccontextmanager
async def over_stdio(home: Path, *arguments: str, mode: Mode = "auto", **variables: str) -> AsyncGenerator[Client]:
    params = StdioServerParameters(
        command=sys.executable,
        args=["-m", "libravdb_memory", "mcp", *arguments],
        env=environment(home, **variables),
    )
    with Path(os.devnull).open("w") as nowhere:  # noqa: ASYNC230 - it blocks nobody
        async with Client(stdio_client(params, errlog=nowhere), mode=mode) as client:
            yield client


@asynccontextmanager
async def over_http(address: str, token: str, mode: Mode = "auto") -> AsyncGenerator[Client]:
    async with (
        create_mcp_http_client(headers={"authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


@contextmanager
def http_server(home: Path, *arguments: str, **variables: str) -> Iterator[str]:
    """Its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "libravdb_memory", "mcp", "--http", "127.0.0.1:0", *arguments],
        env=environment(home, **variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().decode().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            assert process.wait(30) == 0
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()


@contextmanager
def daemon_ended(home: Path) -> Iterator[None]:
    """Whatever daemon was started meanwhile ends with this."""
    try:
        yield
    finally:
        stop(home, 60)


def owner_token(home: Path) -> str:
    return Tokens(home / TOKENS_FILE).owner().secret


async def told(client: Client, tool: str, **arguments: Any) -> Mapping[str, Any]:
    """The structured answer of a tool that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    structured: Mapping[str, Any] = result.structured_content
    return structured


async def complaint(client: Client, tool: str, **arguments: Any) -> str:
    """The words of a tool that must fail."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error and result.structured_content is None
    return text_of(result)


def text_of(result: Any) -> str:
    (content,) = result.content
    text: str = content.text
    return text


Talk = Callable[[Client], Awaitable[None]]
