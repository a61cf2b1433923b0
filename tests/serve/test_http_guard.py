"""Who may ask over HTTP, without sockets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.serve.access import Access, AccessDeniedError, Tokens
from libravdb_memory.serve.http.guard import Guard

GUARD = Guard(frozenset({"memory.home.arpa"}), Tokens(Path("/nowhere/tokens.json")))
HERE = "127.0.0.1:9464"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", HERE, "localhost:1", "LOCALHOST", "[::1]:9464", "192.168.1.7:80", "memory.home.arpa:9464"],
)
def test_an_address_localhost_and_the_names_of_the_settings_are_known(host: str) -> None:
    assert GUARD.refusal({"host": host}) is None


@pytest.mark.parametrize(
    "host",
    [
        *("", " ", "evil.example", "evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example", "127.1:x"),
        *("localhost@evil.example", "[::1", "::1]", "localhost:99999999", "localhost:9464:1", "127.0.0.1/", "[evil]"),
        *("0x7f.1", "2130706433", "memory.home.arpa.", "localhost, evil.example", "localhost\tx", "١٢٧.0.0.1"),
    ],
)
def test_any_other_name_is_refused_so_that_no_page_can_borrow_one(host: str) -> None:
    refusal = GUARD.refusal({"host": host})
    assert refusal is not None and refusal.status == 421


@pytest.mark.parametrize(
    "headers",
    [
        *({"origin": origin} for origin in ("null", "", "http://evil.example", "http://127.0.0.1:1", "file://")),
        {"origin": f"https://{HERE}"},
        {"origin": f"http://{HERE}.evil.example"},
        {"origin": "http://localhost:9464"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": ""},
        {"sec-fetch-site": "cross-site", "origin": f"http://{HERE}"},
    ],
)
def test_what_a_browser_asks_for_another_page_is_refused(headers: dict[str, str]) -> None:
    refusal = GUARD.refusal({"host": HERE, **headers})
    assert refusal is not None and refusal.status == 403


@pytest.mark.parametrize("site", [{}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}])
def test_our_own_page_and_programs_may_ask(site: dict[str, str]) -> None:
    assert GUARD.refusal({"host": HERE, **site}) is None
    assert GUARD.refusal({"host": HERE, "origin": f"http://{HERE}", **site}) is None


@given(st.text(max_size=40))
def test_no_text_of_a_header_makes_the_guard_fail_or_opens_it(text: str) -> None:
    assert GUARD.refusal({"host": HERE, "origin": text}) is not None or text == f"http://{HERE}"
    GUARD.refusal({"host": text})
    with pytest.raises(AccessDeniedError):
        GUARD.access({"authorization": text})


def test_a_token_of_the_file_is_let_in_and_nothing_like_it(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    full, limited = tokens.owner(), tokens.add("reader", frozenset({"ada"}))
    guard = Guard(frozenset(), tokens)
    assert guard.access({"authorization": f"Bearer {full.secret}"}).is_full
    assert guard.access({"authorization": f"bearer  {limited.secret} "}).namespaces == {"ada"}
    for header in (
        full.secret,
        f"Basic {full.secret}",
        f"Bearer {full.secret}x",
        f"Bearer {full.secret[:-1]}",
        "Bearer ",
    ):
        with pytest.raises(AccessDeniedError):
            guard.access({"authorization": header})
    tokens.remove("reader")
    with pytest.raises(AccessDeniedError):
        guard.access({"authorization": f"Bearer {limited.secret}"})


def test_a_page_is_known_by_its_cookie_while_it_is_signed_in_and_a_token_goes_first(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    guard = Guard(frozenset(), tokens, cookie="libravdb_1")
    value = guard.sign_ins.redeem(guard.sign_ins.make_token())
    page = {"cookie": f"a=b; libravdb_1={value}"}
    caller = guard.caller(page)
    assert caller.by_cookie and caller.access.is_full and not caller.access.is_owner
    limited = tokens.add("reader", frozenset({"ada"})).secret
    both = guard.caller({**page, "authorization": f"Bearer {limited}"})
    assert not both.by_cookie and both.access.namespaces == {"ada"}
    for bad in ({}, {"cookie": f"libravdb_2={value}"}, {"cookie": "libravdb_1=x"}, {"cookie": "libravdb_1="}):
        with pytest.raises(AccessDeniedError):
            guard.caller(bad)
    with pytest.raises(AccessDeniedError):
        guard.caller({**page, "authorization": "Bearer wrong"})
    guard.sign_ins.sign_out(value or "")
    with pytest.raises(AccessDeniedError):
        guard.caller(page)


def test_a_page_that_was_given_a_token_reaches_as_far_as_that_does_now_and_is_never_the_owner(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    full, limited = tokens.owner(), tokens.add("reader", frozenset({"ada"}))
    guard = Guard(frozenset(), tokens)
    assert guard.sign_in("wrong-wrong-wrong-wrong") is None
    pages = {name: guard.sign_in(token.secret) for name, token in (("full", full), ("limited", limited))}

    def access(name: str) -> Access:
        caller = guard.caller({"cookie": f"libravdb={pages[name]}"})
        assert caller.by_cookie
        return caller.access

    assert access("full").is_full and not access("full").is_owner
    assert access("limited") == Access("reader", frozenset({"ada"}))
    tokens.add("reader", frozenset({"ada", "bob"}))  # the same name with another secret is another token
    with pytest.raises(AccessDeniedError):
        access("limited")
    assert access("full").is_full
    tokens.remove("owner")
    with pytest.raises(AccessDeniedError):
        access("full")
