"""tokens: made, listed, taken back, and minded by a running daemon."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.serve.process import Daemons, short_folder

Run: TypeAlias = Callable[..., Any]


@pytest.fixture
def home(tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LIBRAVDB_HOME", str(tmp_path / "lv"))
    return tmp_path / "lv"


def test_a_token_is_shown_once_and_kept_for_its_owner(cli: Run, home: Path) -> None:
    made = cli("tokens", "add", "reader", "-n", "ada", "--namespace", "session-key:k")
    secret = made.out.strip()
    assert made.code == 0 and len(secret) >= 32 and secret not in made.err
    file = home / "tokens.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and json.loads(file.read_text())["reader"]["token"] == secret
    listed = cli("tokens", "list")
    assert listed.out == "reader  ada, session-key:k\n" and secret not in listed.out + listed.err
    told = json.loads(cli("tokens", "list", "--json").out)
    assert told == {"tokens": [{"name": "reader", "namespaces": ["ada", "session-key:k"]}]}


def test_a_name_is_not_taken_twice_unless_asked(cli: Run, home: Path) -> None:
    first = cli("tokens", "add", "reader", "-n", "ada").out
    refused = cli("tokens", "add", "reader", "-n", "bob")
    assert refused.code == 2 and "--replace" in refused.err and refused.out == ""
    second = json.loads(cli("tokens", "add", "reader", "-n", "bob", "--replace", "--json").out)
    assert second["token"] != first.strip() and second["namespaces"] == ["bob"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["x"],
        ["x", "-n", "ada", "--full"],
        ["x", "-n", "*"],
        ["x", "-n", " "],
        [" ", "--full"],
        ["owner", "-n", "ada"],
    ],
)
def test_what_a_token_reaches_must_be_clear(cli: Run, home: Path, arguments: list[str]) -> None:
    assert cli("tokens", "add", *arguments).code == 2
    assert not (home / "tokens.json").exists()


def test_a_token_is_taken_back(cli: Run, home: Path) -> None:
    cli("tokens", "add", "boss", "--full")
    assert "everything" in cli("tokens", "list").out
    assert json.loads(cli("tokens", "remove", "boss", "--json").out) == {"removed": "boss"}
    assert cli("tokens", "remove", "boss").code == 3
    assert "no tokens" in cli("tokens", "list").err


def test_a_file_of_tokens_that_others_may_read_is_refused(cli: Run, home: Path) -> None:
    cli("tokens", "add", "boss", "--full")
    (home / "tokens.json").chmod(0o644)
    assert cli("tokens", "list").code == 2


def test_a_running_daemon_minds_a_change_at_once(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as folder:
        daemons = Daemons(folder / "home")
        try:
            daemon = daemons("--endpoint", "tcp:127.0.0.1:0")
            monkeypatch.setenv("LIBRAVDB_HOME", str(daemons.home))
            secret = cli("tokens", "add", "reader", "-n", "ada").out.strip()
            with daemon.client() as client:
                assert client.call("authenticate", token=secret)["namespaces"] == ["ada"]
                assert client.ask("library", call="Keeping.status")["error"]["code"] == -32005
            cli("tokens", "remove", "reader")
            with daemon.client() as client:
                assert "error" in client.ask("authenticate", token=secret)
        finally:
            daemons.end()
