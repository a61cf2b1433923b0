"""Whom a request may address, byte by byte over a socket, with a real daemon: section 3.2 of RFC 9112."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.serve.process import Daemons, short_folder
from tests.serve.test_http import Web

from libravdb_memory.serve.http.addressed import named_host

KNOWN = ("127.0.0.1", "localhost", "memory.home.arpa")


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with short_folder() as folder:
        daemons = Daemons(folder / "home")
        try:
            yield Web(daemons(SERVE_HTTP="127.0.0.1:0", SERVE_HTTP_HOSTS="memory.home.arpa"))
        finally:
            daemons.end()


def status(web: Web, *hosts: str, target: str = "/health/live", version: str = "1.1", verb: str = "GET") -> int:
    lines = [f"{verb} {target} HTTP/{version}", *(f"Host: {host}" for host in hosts), "Connection: close", "", ""]
    answer = web.raw("\r\n".join(lines).encode())
    assert answer.startswith(b"HTTP/1.1 "), answer
    return int(answer.split()[1])


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize(
    "hosts",
    [
        *(("127.0.0.1", "evil.example"), ("evil.example", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("localhost", "")),
        ("localhost", "LOCALHOST", "127.0.0.1"),
    ],
)
def test_a_request_with_two_hosts_is_malformed_in_any_order_and_if_they_agree(
    web: Web, hosts: tuple[str, ...], version: str
) -> None:
    for target in ("/health/live", "/", "/api/me", "http://127.0.0.1/health/live", "http://evil.example/"):
        assert status(web, *hosts, target=target, version=version) == 400


@pytest.mark.parametrize("second", ["HOST: 127.0.0.1", "hOsT:evil.example", "x: y\r\nhost:\t127.0.0.1"])
def test_two_hosts_are_two_however_they_are_spelled(web: Web, second: str) -> None:
    head = f"GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\n{second}\r\nconnection: close\r\n\r\n"
    assert web.raw(head.encode()).startswith(b"HTTP/1.1 400")


def test_without_a_host_a_request_is_malformed_and_an_older_one_names_nobody(web: Web) -> None:
    assert status(web) == 400
    assert status(web, target="http://127.0.0.1/health/live") == 400
    assert status(web, version="1.0") == 421
    assert status(web, version="1.0", target="http://127.0.0.1/health/live") == 200
    assert status(web, "127.0.0.1", version="1.0") == 200


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "127.0.0.1:{port}",
            "127.0.0.1:1",
            "127.0.0.1:",
            "localhost",
            "LocalHost:{port}",
            "\tlocalhost ",
        ),
        *("[::1]", "[::1]:{port}", "[::FFFF:127.0.0.1]:{port}", "Memory.Home.ARPA", "memory.home.arpa:80"),
    ],
)
def test_a_host_that_is_known_is_served_with_any_port_and_in_any_case(web: Web, host: str) -> None:
    assert status(web, host.format(port=web.port)) == 200


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "evil.example:{port}",
            "localhost.",
            "127.0.0.1.",
            "memory.home.arpa.",
            "127.1",
            "2130706433",
        ),
        *("0x7f.0.0.1", "localhost.evil.example", "%6cocalhost", "localhost,evil.example", "evil_example"),
    ],
)
def test_a_host_that_is_well_formed_and_not_ours_is_misdirected(web: Web, host: str) -> None:
    assert status(web, host.format(port=web.port)) == 421


MALFORMED = (
    *("", " ", "\t", "user@127.0.0.1", "user:word@localhost", "@localhost", "127.0.0.1/", "127.0.0.1?a", "localhost#a"),
    *("127.0.0.1 evil.example", "127.0.0.1, evil.example", "127.0.0.1\r\n evil.example", "http://127.0.0.1", "::1"),
    *("[::1", "::1]", "[]", "[127.0.0.1]", "[localhost]", "[::1]x", "[::1%25lo]", "[::1%lo]", "[:::1]", ":80"),
    *("127.0.0.1:80:80", "127.0.0.1:+80", "127.0.0.1:-1", "127.0.0.1:http", "127.0.0.1:65536", "127.0.0.1:000080"),
    *("١٢٧.0.0.1", "127.0.0.1:٨", "local<host", "local\\host", 'local"host', "%6", "a" * 300),
)


@pytest.mark.parametrize("host", MALFORMED)
def test_a_host_that_could_be_nobody_s_is_malformed(web: Web, host: str) -> None:
    assert status(web, host) == 400


@pytest.mark.parametrize("own", ["127.0.0.1:{port}", "LOCALHOST", "[::1]:{port}", "memory.home.arpa"])
@pytest.mark.parametrize("host", ["127.0.0.1", "evil.example"])
def test_a_whole_uri_is_served_as_its_path_and_its_host_is_the_one_that_counts(web: Web, own: str, host: str) -> None:
    own = own.format(port=web.port)
    assert status(web, host, target=f"http://{own}/health/live") == 200
    assert status(web, host, target=f"HTTP://{own}/health%2Flive?a=b") == 200
    assert status(web, host, target=f"http://{own}") == 200
    assert status(web, host, target=f"http://{own}?a=b") == 200
    assert status(web, host, target=f"http://{own}/api/me") == 401
    assert status(web, host, target=f"http://{own}/no-such") == 404


def test_a_uri_of_another_host_is_misdirected_whatever_host_says(web: Web) -> None:
    for uri in ("http://evil.example", "http://evil.example/health/live", "http://127.0.0.1.evil.example/health/live"):
        for host in (*KNOWN, "evil.example"):
            assert status(web, host, target=uri) == 421
    for host in MALFORMED[:3]:
        assert status(web, host, target="http://127.0.0.1/health/live") == 400


def test_the_page_that_asks_is_measured_by_the_host_of_the_uri(web: Web) -> None:
    def asked(host: str, uri: str, origin: str) -> bytes:
        head = f"GET {uri}/health/live HTTP/1.1\r\nhost: {host}\r\norigin: {origin}\r\nconnection: close\r\n\r\n"
        return web.raw(head.encode())

    own = f"http://localhost:{web.port}"
    assert asked("127.0.0.1", own, own).startswith(b"HTTP/1.1 200")
    assert asked("127.0.0.1", own, "http://127.0.0.1").startswith(b"HTTP/1.1 403")
    assert asked("evil.example", own, "http://evil.example").startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize(
    "target",
    [
        *("*", "health/live", "evil.example:80", "127.0.0.1/health/live", "?a=b", "http:/health/live", "http:health"),
        *("http:///health/live", "http://user@127.0.0.1/", "http://127.0.0.1:x/", "http://[127.0.0.1]/"),
        *("https://127.0.0.1/health/live", "file:///etc/passwd", "ftp://127.0.0.1/", "http%3A//127.0.0.1/"),
    ],
)
def test_a_target_that_is_neither_a_path_nor_a_uri_of_http_is_malformed(web: Web, target: str) -> None:
    assert status(web, "127.0.0.1", target=target) == 400


def test_no_tunnel_is_made_and_all_of_the_server_can_be_asked_about(web: Web) -> None:
    assert status(web, "127.0.0.1", target="127.0.0.1:80", verb="CONNECT") == 400
    assert status(web, "127.0.0.1", target="*", verb="OPTIONS") == 404


def test_a_program_is_told_in_its_form_and_what_follows_is_not_answered(web: Web) -> None:
    bad = b"GET /api/me HTTP/1.1\r\nhost: a b\r\n\r\n"
    answer = web.raw(bad + b"GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
    assert answer.count(b"HTTP/1.1 ") == 1 and b"connection: close" in answer.lower()
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["data"]["kind"] == "invalid_request"


@given(st.text(max_size=30))
def test_no_text_makes_the_reading_of_a_host_fail(text: str) -> None:
    named = named_host(text)
    assert named is None or (named == named.lower() and not set(named) & set("[]/@?# \t\r\n"))
