"""The server over streamable HTTP: a real process, and requests that mean no good."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send
from tests.mcp_server.connecting import (
    Mode,
    complaint,
    daemon_ended,
    environment,
    http_server,
    over_http,
    owner_token,
    told,
    within,
)

from libravdb_memory.mcp_server.http import Guarded
from libravdb_memory.mcp_server.tools import Place
from libravdb_memory.serve.access import TOKENS_FILE, Tokens
from libravdb_memory.serve.http.guard import Guard

SEARCH = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "memory_search", "arguments": {"query": "vault code"}},
    }
)


@pytest.fixture
def address(home: Path) -> Iterator[str]:
    with daemon_ended(home), http_server(home, "--user", "ada") as served:
        assert served.startswith("http://127.0.0.1:")
        yield served


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_url_names_the_namespace_and_they_see_nothing_of_each_other(home: Path, address: str, mode: Mode) -> None:
    odd = f"{address}/{quote('Zoë/räum', safe='')}"

    async def talk() -> None:
        token = owner_token(home)
        async with over_http(address, token, mode) as ada, over_http(f"{address}/bob", token, mode) as bob:
            await told(ada, "memory_add", text="The vault code is 4711.")
            await told(bob, "memory_add", text="The vault is green.")
            found = await told(bob, "memory_search", query="vault code")
            assert [hit["text"] for hit in found["results"]] == ["The vault is green."]
        async with over_http(f"{address}/ada", token, mode) as ada, over_http(odd, token, mode) as zoe:
            assert len((await told(ada, "memory_search", query="vault code"))["results"]) == 1
            assert (await told(zoe, "memory_search", query="vault code"))["results"] == []

    within(talk())


@pytest.mark.slow
def test_a_request_is_refused_without_a_token_that_reaches_its_namespace(home: Path, address: str) -> None:
    owner = owner_token(home)
    bobs = Tokens(home / TOKENS_FILE).add("bob", frozenset({"bob"})).secret
    good = {"authorization": f"Bearer {owner}"}
    place = urlsplit(address)
    assert status(address, "/mcp", good) == 200
    assert status(address, "/mcp/bob", {"authorization": f"Bearer {bobs}"}) == 200
    assert status(address, "/mcp/ada", {"authorization": f"Bearer {bobs}"}) == 403
    assert status(address, "/mcp", {"authorization": f"Bearer {bobs}"}) == 403
    for bad in ({}, {"authorization": "Bearer nonsense-nonsense"}, {"authorization": f"Basic {owner}"}):
        assert status(address, "/mcp", bad) == 401
    assert status(address, "/mcp", {**good, "host": "evil.example"}) == 421
    assert status(address, "/mcp", {**good, "origin": "http://evil.example"}) == 403
    assert status(address, "/mcp", {**good, "origin": f"http://{place.netloc}"}) == 200
    assert status(address, "/mcp", {**good, "sec-fetch-site": "cross-site"}) == 403
    for path in (
        "/",
        "/mcp/",
        "/mcp/.",
        "/mcp/..",
        "/mcp/%2e%2e",
        "/mcp/../mcp",
        "/mcp/a/b",
        "/mcp/%20",
        "/mcp/%ff",
        "/mcpx",
        "/mcp/" + "x" * 600,
    ):
        assert status(address, path, good) == 404, path
    for path in ("/mcp?namespace=bob", "/mcp/bob?user=ada"):
        assert status(address, path, good) == 400, path
    for method in ("GET", "DELETE", "PUT", "OPTIONS"):
        assert status(address, "/mcp", good, method=method) == 405
        assert status(address, "/mcp", {}, method=method) == 401
    assert status(address, "/mcp", {**good, "content-type": "text/plain"}) == 400
    assert status(address, "/mcp", good, body="x" * (5 << 20)) == 413


@pytest.mark.slow
def test_nothing_but_loopback_is_listened_on(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "libravdb_memory", "mcp", "--http", "0.0.0.0:0"],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 2 and done.stdout == "" and "reached by others" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../ada", "ada/", "ada\0", "/ada", "%61da", "ADA", "ada\u202e", "bob/../ada"])
def test_a_name_that_looks_like_a_way_to_another_is_a_namespace_of_its_own(home: Path, name: str) -> None:
    async def talk(address: str) -> None:
        token = owner_token(home)
        async with over_http(address, token) as ada, over_http(f"{address}/{quote(name, safe='')}", token) as other:
            secret = await told(ada, "memory_add", text="The vault code is 4711.", session="s1")
            assert (await told(other, "memory_search", query="vault code"))["results"] == []
            assert "no record" in await complaint(other, "memory_get", id=secret["id"], session="s1")
            await complaint(other, "memory_forget", session="s1")
            assert len((await told(ada, "memory_search", query="vault code"))["results"]) == 1

    with http_server(home, "--user", "ada", "--embedded") as address:
        within(talk(address))


def status(address: str, path: str, headers: dict[str, str], body: str = SEARCH, method: str = "POST") -> int:
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    usual = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    try:
        connection.request(method, path, body, {**usual, **headers})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


# ── the guard alone ──────────────────────────────────────────────────────────────────────────────────────────────


async def place_behind(guarded: Guarded, seen: list[Place], headers: list[tuple[bytes, bytes]], path: bytes) -> int:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await guarded(
        {"type": "http", "method": "POST", "path": "/mcp", "raw_path": path, "headers": headers}, receive, send
    )
    return int(sent[0]["status"]) if sent else 0


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@given(name=NAMES)
def test_a_token_reaches_its_own_namespaces_whatever_the_url_says(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tokens = Tokens(tmp_path_factory.mktemp("home") / TOKENS_FILE)
    token = tokens.add("reader", frozenset({"bob"})).secret
    seen: list[Place] = []

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["libravdb.place"])

    guarded = Guarded(inner, Guard(frozenset(), tokens), Place("ada", "mcp"))
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode())]
    outcome = within(place_behind(guarded, seen, headers, b"/mcp/" + quote(name, safe="").encode()))
    if name.strip() == "bob":
        assert outcome == 0 and seen == [Place("bob", "mcp")]
    else:
        assert outcome in (403, 404) and not seen


@pytest.mark.parametrize(
    ("path", "outcome"),
    [
        (b"/mcp", 0),
        (b"/mcp/bob", 0),
        (b"/mcp?namespace=bob", 400),
        (b"/mcp/bob?", 0),
        (b"/mcp/", 404),
        (b"/mcp/.", 404),
        (b"/mcp/%2E%2e", 404),
        (b"/mcp/bob/", 404),
        (b"/mcp/bob/../ada", 404),
        (b"//mcp", 404),
    ],
)
def test_a_path_names_one_namespace_or_none(tmp_path: Path, path: bytes, outcome: int) -> None:
    tokens = Tokens(tmp_path / TOKENS_FILE)
    seen: list[Place] = []

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["libravdb.place"])

    guarded = Guarded(inner, Guard(frozenset(), tokens), Place("ada", "mcp"))
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {tokens.owner().secret}".encode())]
    assert within(place_behind(guarded, seen, headers, path)) == outcome
    assert [place.user for place in seen] == ([] if outcome else ["bob" if b"bob" in path else "ada"])


@pytest.mark.parametrize("name", [b"host", b"origin", b"authorization"])
def test_a_header_that_is_there_twice_is_refused(tmp_path: Path, name: bytes) -> None:
    tokens = Tokens(tmp_path / TOKENS_FILE)
    good = {b"host": b"localhost", b"origin": b"http://localhost"}
    good[b"authorization"] = f"Bearer {tokens.owner().secret}".encode()
    seen: list[Place] = []

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["libravdb.place"])

    guarded = Guarded(inner, Guard(frozenset(), tokens), Place("ada", "mcp"))
    assert within(place_behind(guarded, seen, list(good.items()), b"/mcp")) == 0 and len(seen) == 1
    twice = [*good.items(), (name, good[name])]
    assert within(place_behind(guarded, seen, twice, b"/mcp")) == 400 and len(seen) == 1
