"""Who claims to be the daemon of a home, and who is shown its token."""

from __future__ import annotations

import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from libravdb_memory.errors import ConfigError
from libravdb_memory.serve.access import TOKENS_FILE, Tokens
from libravdb_memory.serve.client.finding import find_token
from libravdb_memory.serve.endpoint import TcpEndpoint
from libravdb_memory.serve.running import announced, ask, claims, noted, running


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def leave_a_note(home: Path, port: int) -> None:
    """As a daemon leaves it that was killed."""
    with announced(home, f"tcp:127.0.0.1:{port}"):
        note = home / "run" / "libravdbd.pid"
        kept = note.read_bytes()
    note.write_bytes(kept)


def test_a_living_daemon_claims_its_port_and_no_other(tmp_path: Path, port: int) -> None:
    with announced(tmp_path / "home", f"tcp:127.0.0.1:{port}"):
        assert claims(tmp_path / "home", port) and not claims(tmp_path / "home", port + 1)
    assert not claims(tmp_path / "home", port) and noted(tmp_path / "home") is None


def test_who_has_the_port_of_a_dead_daemon_is_not_shown_the_token(tmp_path: Path) -> None:
    home = tmp_path / "home"
    Tokens(home / TOKENS_FILE).owner()
    with socket.create_server(("127.0.0.1", 0)) as thief:
        port = int(thief.getsockname()[1])
        leave_a_note(home, port)
        heard: list[bytes] = []

        def listen() -> None:
            thief.settimeout(1.0)
            try:
                connection, _ = thief.accept()
                with connection:
                    connection.settimeout(1.0)
                    heard.append(connection.recv(4096))
            except TimeoutError:
                return

        thread = threading.Thread(target=listen)
        thread.start()
        assert running(home) is None
        assert find_token(TcpEndpoint("127.0.0.1", port), home) is None
        thread.join()
        assert heard == []


def test_a_token_that_was_given_goes_wherever_it_is_asked_for(tmp_path: Path, port: int) -> None:
    assert find_token(TcpEndpoint("127.0.0.1", port), tmp_path, "given") == "given"


def test_a_living_daemon_gets_the_token_of_its_home(tmp_path: Path, port: int) -> None:
    home = tmp_path / "home"
    secret = Tokens(home / TOKENS_FILE).owner().secret
    with announced(home, f"tcp:127.0.0.1:{port}"):
        assert find_token(TcpEndpoint("127.0.0.1", port), home) == secret


def test_a_second_daemon_of_a_home_leaves_the_note_of_the_first(tmp_path: Path) -> None:
    with announced(tmp_path, "tcp:127.0.0.1:1"):
        with announced(tmp_path, "tcp:127.0.0.1:2"):
            found = noted(tmp_path)
            assert found is not None and found.endpoint == "tcp:127.0.0.1:1"
        assert claims(tmp_path, 1)


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_whatever_is_made_is_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    with announced(home, "tcp:127.0.0.1:1"):
        made = [tmp_path / "new", home, home / "run", home / "run" / "libravdbd.pid"]
        assert all(stat.S_IMODE(each.stat().st_mode) & 0o077 == 0 for each in made)


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_tokens_that_others_may_read_are_told_not_taken_for_no_daemon(tmp_path: Path, port: int) -> None:
    Tokens(tmp_path / TOKENS_FILE).owner()
    (tmp_path / TOKENS_FILE).chmod(0o644)
    with announced(tmp_path, f"tcp:127.0.0.1:{port}"), pytest.raises(ConfigError):
        ask(tmp_path, f"tcp:127.0.0.1:{port}", "health")
