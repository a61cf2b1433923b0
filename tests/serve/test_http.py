"""A real daemon that serves HTTP: what it tells, whom it refuses, and what ill clients cost."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.serve import prometheus_text
from tests.serve.process import Daemon, Daemons

from libravdb_memory.serve.access import Tokens
from libravdb_memory.serve.exposition import CONTENT_TYPE
from libravdb_memory.serve.metrics import COUNTERS

ADA = {"userId": "ada", "sessionId": "s1"}


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str


class Web:
    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        with daemon.client() as client:
            self.url = client.call("status")["http"]
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)", self.url)
        assert match is not None, self.url
        self.port = int(match[1])
        self.tokens = Tokens(daemon.home / "tokens.json")
        self.owner = self.tokens.owner().secret

    def get(self, path: str, *, token: str | None = None, method: str = "GET", **headers: str) -> Response:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        try:
            connection.request(method, path, headers=sent)
            response = connection.getresponse()
            told = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, told, response.read().decode())
        finally:
            connection.close()

    def socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def raw(self, data: bytes) -> bytes:
        """All that is answered until the daemon hangs up."""
        with self.socket() as connected:
            connected.sendall(data)
            return everything(connected)

    def figures(self) -> dict[str, prometheus_text.Read]:
        response = self.get("/metrics", token=self.owner)
        assert response.status == 200, response
        return prometheus_text.read(response.body)


def everything(connected: socket.socket) -> bytes:
    pieces: list[bytes] = []
    with suppress(ConnectionError):
        while piece := connected.recv(1 << 16):
            pieces.append(piece)
    return b"".join(pieces)


@pytest.fixture
def web(daemons: Daemons) -> Iterator[Web]:
    yield Web(daemons(SERVE_HTTP="127.0.0.1:0"))


# ── what it tells ────────────────────────────────────────────────────────────────────────────────────────────────


def test_metrics_are_what_a_strict_reader_of_prometheus_takes_and_agree_with_the_method(web: Web) -> None:
    with web.daemon.client() as client:
        for number in range(5):
            client.call("ingest_message", **ADA, text=f"turn {number}")
        client.ask("memory_get", **ADA, id="nope")
        client.ask("no_such_method")
        client.raw(b"nonsense\n")
        client.read()
        client.call("flush")
        response = web.get("/metrics", token=web.owner)
        by_method = prometheus_text.read(client.call("metrics")["text"])
    assert response.headers["content-type"] == CONTENT_TYPE
    figures = prometheus_text.read(response.body)
    assert figures.keys() == by_method.keys()
    assert figures["libravdb_call_seconds"].value("_count", method="ingest_message") == 5
    assert figures["libravdb_call_failures_total"].value(method="memory_get") == 1
    assert figures["libravdb_failures_total"].value(kind="not_found") == 1
    assert figures["libravdb_failures_total"].value(kind="internal") == 0
    assert figures["libravdb_bad_frames_total"].value() == 1
    assert figures["libravdb_calls_refused_total"].value() == 1
    assert figures["libravdb_store_turns"].value() == 5
    assert figures["libravdb_store_namespaces"].value() == 1
    assert figures["libravdb_store_bytes"].value() > 4096
    for name in ("calls", "tokens_read", "tokens_written"):
        counter = figures[f"libravdb_compaction_model_{name}_total"]
        assert (counter.kind, counter.value()) == ("counter", 0), "told from the start"
    assert figures["libravdb_connections_open"].value() == 1
    assert {f"libravdb_{name}_total" for name in COUNTERS} <= figures.keys()
    assert {key[1][0][1] for key in figures["libravdb_queue_length"].samples} == {"write", "read", "think", "slow"}
    assert figures["libravdb_calls_under_way"].value() == 1  # this one
    assert figures["process_start_time_seconds"].value() <= time.time()
    assert figures["libravdb_ready"].value() == 1


def test_health_needs_no_token_and_tells_nothing_but_that_it_answers(web: Web) -> None:
    response = web.get("/health")
    assert response.status == 200 and json.loads(response.body) == {"ok": True, "message": "ok"}
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    assert "server" not in response.headers


def test_what_is_not_there_or_not_a_get_is_refused(web: Web) -> None:
    assert web.get("/nope", token=web.owner).status == 404
    assert web.get("/../tokens.json", token=web.owner).status == 404
    assert web.get("/metrics", token=web.owner, method="POST").status == 405
    head = web.get("/metrics", token=web.owner, method="HEAD")
    assert head.status == 200 and head.body == ""


def test_several_requests_go_over_one_connection(web: Web) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=60)
    try:
        for _ in range(3):
            connection.request("GET", "/health")
            assert connection.getresponse().read()
        pipelined = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"
        last = b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        assert web.raw(pipelined * 4 + last).count(b"HTTP/1.1 200") == 5
    finally:
        connection.close()


# ── whom it refuses ──────────────────────────────────────────────────────────────────────────────────────────────


def test_metrics_need_a_token_that_reaches_the_whole_store(web: Web) -> None:
    limited = web.tokens.add("reader", frozenset({"ada"})).secret
    for token, status in [(None, 401), ("wrong" * 8, 401), (limited, 403), (web.owner, 200)]:
        response = web.get("/metrics", token=token)
        assert response.status == status
        assert (status == 200) == ("libravdb_" in response.body)
        assert (status == 401) == (response.headers.get("www-authenticate") == "Bearer")
    web.tokens.add("owner")
    assert web.get("/metrics", token=web.owner).status == 401, "a token that was taken back is gone at once"
    (web.daemon.home / "tokens.json").chmod(0o644)
    response = web.get("/metrics", token=web.owner)
    assert response.status == 500 and str(web.daemon.home) not in response.body


def test_a_borrowed_name_and_the_requests_of_other_pages_are_refused_everywhere(web: Web) -> None:
    for path in ("/health", "/metrics", "/no-such"):
        assert web.get(path, token=web.owner, host="evil.example").status == 421
        assert web.get(path, token=web.owner, origin="http://evil.example").status == 403
        assert web.get(path, token=web.owner, origin="null").status == 403
        assert web.get(path, token=web.owner, sec_fetch_site="cross-site").status == 403
        refused = web.get(path, token=web.owner, host="evil.example", method="OPTIONS")
        assert refused.status == 421 and "access-control-allow-origin" not in refused.headers
    assert web.get("/metrics", token=web.owner, origin=web.url).status == 200
    assert web.figures()["libravdb_http_refused_total"].value() == 15


def test_names_of_the_settings_are_known(daemons: Daemons) -> None:
    web = Web(daemons(SERVE_HTTP="127.0.0.1:0", SERVE_HTTP_HOSTS="Memory.home.arpa, other.example"))
    assert web.get("/health", host=f"memory.home.arpa:{web.port}").status == 200
    assert web.get("/health", host="third.example").status == 421


MALFORMED = {
    "two hosts": b"GET /health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n",
    "no host": b"GET /health HTTP/1.1\r\n\r\n",
    "no request": b"\x00\xff\xfe\r\n\r\n",
    "a call of the other protocol": b'{"id":1,"method":"health"}\n\r\n\r\n',
    "a space before the colon": b"GET /health HTTP/1.1\r\nhost : localhost\r\n\r\n",
    "two lengths": b"GET /health HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    "a length that is none": b"POST /health HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n",
    "a big header": b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * (1 << 20) + b"\r\n\r\n",
    "many headers": b"GET /health HTTP/1.1\r\nhost: localhost\r\n" + b"x: y\r\n" * 100_000 + b"\r\n",
    "a long path": b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "two tokens": b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nauthorization: a\r\nauthorization: b\r\n\r\n",
}


def test_a_malformed_request_is_refused_and_the_next_client_is_served(web: Web) -> None:
    for name, head in MALFORMED.items():
        with web.socket() as connected:
            with suppress(OSError):  # it may hang up while a megabyte is still being sent
                connected.sendall(head)
                connected.shutdown(socket.SHUT_WR)
            answer = everything(connected)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400"), (name, answer[:200])
        assert web.get("/health").status == 200
    assert all(json.loads(line)["level"] == "info" for line in web.daemon.log.splitlines()), web.daemon.log


def test_no_other_protocol_is_switched_to(web: Web) -> None:
    head = b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n"
    assert b" 101 " not in web.raw(head)
    assert web.get("/health").status == 200


# ── what ill clients cost ────────────────────────────────────────────────────────────────────────────────────────


def test_clients_that_send_nothing_or_a_little_at_a_time_keep_nobody_waiting(web: Web) -> None:
    with ExitStack() as open_sockets:
        silent = [open_sockets.enter_context(web.socket()) for _ in range(50)]
        for number, client in enumerate(silent):
            client.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\nx-slow: "[: number + 1])
        assert web.get("/health").status == 200
        with web.daemon.client() as client:
            assert client.call("health")["ok"] is True
        for client in silent[:5]:
            client.sendall(b"y")
        assert web.get("/metrics", token=web.owner).status == 200


def test_more_clients_than_there_may_be_are_sent_away_and_the_daemon_serves_on(web: Web) -> None:
    with ExitStack() as open_sockets:
        several = [open_sockets.enter_context(web.socket()) for _ in range(300)]
        gone = sum(everything(client) == b"" for client in several[260:])
        assert gone == 40
        with web.daemon.client() as client:
            assert client.call("health")["ok"] is True
    deadline = time.monotonic() + 60
    while not served(web):
        assert time.monotonic() < deadline


def served(web: Web) -> bool:
    with suppress(OSError, http.client.HTTPException):
        return web.get("/health").status == 200
    return False


def test_a_client_that_never_reads_costs_a_bounded_buffer_and_is_cut_off(daemons: Daemons) -> None:
    web = Web(daemons(SERVE_HTTP="127.0.0.1:0", SERVE_WRITE_TIMEOUT_S="1"))
    before = web.daemon.resident_bytes()
    head = f"GET /metrics HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {web.owner}\r\n\r\n".encode()
    with web.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.settimeout(60)
        with pytest.raises(ConnectionError):
            while True:
                deaf.sendall(head * 100)
                assert web.daemon.resident_bytes() - before < 100 << 20
    assert web.get("/health").status == 200


def test_a_daemon_with_open_web_clients_stops_in_good_time(web: Web) -> None:
    with web.socket() as idle, web.socket() as begun:
        begun.sendall(b"GET /hea")
        assert web.get("/health").status == 200
        began = time.monotonic()
        assert web.daemon.stop() == 0
        assert time.monotonic() - began < 15
        assert everything(idle) == b"" and everything(begun) == b""


# ── when it is not there ─────────────────────────────────────────────────────────────────────────────────────────


def test_without_the_setting_there_is_no_http_and_nothing_of_it_is_imported(daemons: Daemons) -> None:
    daemon = daemons()
    with daemon.client() as client:
        assert client.call("status")["http"] is None
    assert not (daemon.home / "tokens.json").exists()
    heavy = "{'starlette', 'uvicorn', 'h11', 'anyio', 'opentelemetry'} & set(sys.modules)"
    program = f"import sys, libravdb_memory.serve.daemon; print(sorted({heavy}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("0.0.0.0:0", "serve.allow_remote"),
        ("127.0.0.1", "host:port"),
        ("127.0.0.1:http", "host:port"),
        ("127.0.0.1:99999", "host:port"),
    ],
)
def test_an_address_for_others_must_be_allowed_and_a_bad_one_is_told(
    daemons: Daemons, address: str, reason: str
) -> None:
    daemon = daemons.attempt(SERVE_HTTP=address)
    assert daemon.wait() == 2 and reason in daemon.log and "serve.http" in daemon.log


def test_a_port_that_is_taken_is_told_at_the_start(daemons: Daemons) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        daemon = daemons.attempt(SERVE_HTTP=f"127.0.0.1:{taken.getsockname()[1]}")
        assert daemon.wait() != 0 and "cannot be bound" in daemon.log


def test_the_owner_s_token_is_there_for_the_scraper_to_read(web: Web) -> None:
    file: Path = web.daemon.home / "tokens.json"
    assert json.loads(file.read_text())["owner"]["token"] == web.owner
    assert file.stat().st_mode & 0o077 == 0
