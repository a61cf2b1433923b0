"""The first answer: the library's own, member by member, and given without it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from tests.mcp_server.connecting import environment, within

from libravdb_memory.mcp_server.handshake import WITH_HANDSHAKE, WITHOUT, opening
from libravdb_memory.mcp_server.server import make_server
from libravdb_memory.mcp_server.tools import Place
from libravdb_memory.mcp_server.wire import Wire

META = "io.modelcontextprotocol/"
CLIENT = {"name": "raw", "version": "0", "title": "Räw"}
ABLE = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}}}


def initialize(number: Any = 1, version: Any = "2025-06-18", client: Any = CLIENT, able: Any = ABLE) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": able, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


def discover(number: Any = 1, version: Any = WITHOUT, client: Any = CLIENT, able: Any = ABLE) -> dict[str, Any]:
    meta = {f"{META}protocolVersion": version, f"{META}clientInfo": client, f"{META}clientCapabilities": able}
    return {"jsonrpc": "2.0", "id": number, "method": "server/discover", "params": {"_meta": meta}}


class Nothing:
    async def ask(self, method: str, params: Any) -> Any:
        raise AssertionError("the first answer asks nobody")


def of_the_library(line: bytes) -> Any:
    """What the protocol's own server answers to one line."""

    async def talk() -> Any:
        server = make_server(Nothing(), lambda _: Place("ada", "mcp"))
        to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](4)
        outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](4)
        async with to_server, from_server:
            await to_server.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
                answer = await from_server.receive()
                tasks.cancel_scope.cancel()
        return json.loads(answer.message.model_dump_json(by_alias=True, exclude_unset=True))

    return within(talk())


REQUESTS = [
    *(initialize(version=version) for version in HANDSHAKE_PROTOCOL_VERSIONS),
    *(discover(version=version) for version in MODERN_PROTOCOL_VERSIONS),
    initialize("a-7"),
    discover(0),
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_the_first_answer_is_the_librarys_own(request_: dict[str, Any]) -> None:
    line = json.dumps(request_).encode() + b"\n"
    opened = opening(line)
    assert opened is not None and json.loads(opened.answer) == of_the_library(line)
    assert opened.answer.count(b"\n") == 1
    if opened.left is None:
        assert opened.settled is None and request_["method"] == "server/discover"
    else:
        assert opened.settled == request_["id"]
        assert of_the_library(opened.left) == json.loads(opened.answer)


def test_every_protocol_that_the_library_speaks_is_answered_at_once() -> None:
    assert WITH_HANDSHAKE == HANDSHAKE_PROTOCOL_VERSIONS and (WITHOUT,) == MODERN_PROTOCOL_VERSIONS


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {},
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {**initialize(), "jsonrpc": "1.0"},
        {**initialize(), "more": 1},
        *(initialize(number) for number in (None, True, 1.5, [], 2**60, "\ud800")),
        *(initialize(version=version) for version in ("1999-01-01", WITHOUT, None, 7, ["2025-06-18"], {})),
        *(initialize(client=client) for client in (None, [], {}, {"name": "a"}, {"name": 7, "version": ""})),
        *(initialize(able=able) for able in (None, [], 7, "roots")),
        *(discover(version=version) for version in ("2025-06-18", None, [])),
        *(discover(able=able) for able in (None, [])),
        {**discover(), "params": {"_meta": []}},
        {**initialize(), "params": None},
        initialize(client={"name": "x" * 70_000, "version": ""}),
    ],
)
def test_what_is_not_of_the_usual_form_is_left_to_the_library(told: Any) -> None:
    assert opening(json.dumps(told).encode() + b"\n") is None


@given(line=st.binary(max_size=200))
def test_any_bytes_are_left_to_the_library(line: bytes) -> None:
    assert opening(line) is None


def heard(said: bytes) -> tuple[list[str], bytes]:
    """What the library hears of it, and what the client is told meanwhile."""
    answers = io.BytesIO()
    wire = Wire(io.BytesIO(said), answers)
    lines = list(iter(wire.readline, ""))
    return lines, answers.getvalue()


def test_the_library_hears_every_line_once_and_in_order() -> None:
    rest = '{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"ä":1}\nhalf'
    first = json.dumps(initialize(7))
    lines, told = heard(f"{first}\n{rest}".encode())
    assert json.loads(told)["id"] == json.loads(lines[0])["id"] == 7
    assert lines[1:] == rest.splitlines(keepends=True)
    lines, told = heard(f"{json.dumps(discover(7))}\n{rest}".encode())
    assert json.loads(told)["id"] == 7 and lines == rest.splitlines(keepends=True)
    for said in ("", "\n", rest, "half"):
        assert heard(said.encode()) == (said.splitlines(keepends=True), b"")
    assert heard(b"\xff\xfe\n") == (["��\n"], b"")


def test_a_client_that_left_is_no_fault() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", 0) as gone:
        wire = Wire(io.BytesIO(json.dumps(initialize()).encode() + b"\n"), gone)
        assert wire.settled() == 1 and wire.readline() and wire.readline() == ""


HEAVY = ("mcp", "mcp_types", "pydantic", "asyncio", "anyio", "starlette", "uvicorn", "httpx2", "numpy", "onnxruntime",
         "tokenizers", "usearch", "apsw", "sqlite3")  # fmt: skip
OURS = (
    "store.protocol",
    "store.sqlite",
    "engines.onnx",
    "memory",
    "serve.client",
    "serve.methods",
    "mcp_server.tools",
    "mcp_server.server",
)
PROGRAM = f"""
import json, os, sys
from libravdb_memory.mcp_server import wire
def loading(self):
    self._hearing.join()
    heavy = {HEAVY!r} + tuple("libravdb_memory." + name for name in {OURS!r})
    print(json.dumps([name for name in heavy if name in sys.modules]), file=sys.stderr, flush=True)
    os._exit(0)
wire.Wire.give_way = loading
from libravdb_memory.cli import main
main(["mcp"])
"""


def test_nothing_heavy_is_loaded_before_the_first_answer(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(initialize()).encode() + b"\n",
        env=environment(tmp_path),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["result"]["protocolVersion"] == "2025-06-18"
    assert json.loads(done.stderr) == []
