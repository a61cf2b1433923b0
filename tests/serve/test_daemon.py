"""A real daemon on a real socket: how it starts, answers, keeps order, and ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.serve.process import Client, Daemon, Daemons, short_folder

from libravdb_memory import Memory, load_config
from libravdb_memory.errors import NotFoundError

ADA = {"userId": "ada", "sessionId": "s1"}


@contextmanager
def endpoint_that_never_answers() -> Iterator[str]:
    """A model behind it loads for ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def never_ready(address: str) -> dict[str, str]:
    return {
        "EMBEDDING_BACKEND": "openai-compatible",
        "EMBEDDING_BASE_URL": address,
        "EMBEDDING_MODEL": "slow",
        "EMBEDDING_DIMENSIONS": "8",
        "EMBEDDING_TIMEOUT_S": "600",
    }


# ── starting ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_endpoint_is_the_first_and_only_line_and_the_socket_is_its_owner_s_alone(daemons: Daemons) -> None:
    daemon = daemons()
    path = daemons.home / "run" / "libravdb.sock"
    assert daemon.endpoint == f"unix:{path}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with daemon.client() as client:
        assert client.call("health")["ok"] is True
    assert daemon.stop() == 0
    assert daemon.process.stdout is not None and daemon.process.stdout.read() == b""
    assert not path.exists() and not (path.parent / "libravdbd.pid").exists()
    assert all(json.loads(line)["level"] == "info" for line in daemon.log.splitlines())


def test_health_is_answered_within_a_second_and_turns_are_stored_while_a_model_loads(daemons: Daemons) -> None:
    with endpoint_that_never_answers() as address:
        daemon = daemons(**never_ready(address), SERVE_DRAIN_S="0")
        with daemon.client() as client:
            waiting = [client.send("memory_search", userId="ada", query="anything?") for _ in range(8)]
            began = time.monotonic()
            client.send("health")
            assert client.read()["result"]["ok"] is True and time.monotonic() - began < 1
            stored = client.send("ingest_message", **ADA, text="not delayed")
            answer = client.read()
            assert answer["id"] == stored and answer["id"] not in waiting and answer["result"]["ok"] is True
            assert client.call("status")["modelReady"] is False
            assert client.call("memory_history", **ADA)["turns"] == 1
        daemon.signal(signal.SIGKILL)
        daemon.wait()


def test_a_second_daemon_on_the_same_data_is_refused_with_the_pid_of_the_first(daemons: Daemons) -> None:
    first = daemons()
    with short_folder() as elsewhere:
        second = daemons.attempt("--endpoint", f"unix:{elsewhere}/other.sock")
        assert second.wait() == 5 and not second.endpoint
        assert f"process {first.pid}" in second.log
        assert not list(elsewhere.iterdir())
    with first.client() as client:
        assert client.call("health")["pid"] == first.pid


def test_a_second_daemon_at_the_same_endpoint_is_refused_and_the_first_goes_on(daemons: Daemons) -> None:
    first = daemons()
    with short_folder() as elsewhere:
        second = daemons.attempt("--endpoint", first.endpoint, home=elsewhere)
        assert second.wait() != 0 and f"process {first.pid}" in second.log
    with first.client() as client:
        assert client.call("health")["pid"] == first.pid


def test_a_killed_daemon_leaves_a_socket_that_the_next_one_replaces(daemons: Daemons) -> None:
    first = daemons()
    with first.client() as client:
        client.call("ingest_message", **ADA, id="t1", text="kept")
        first.signal(signal.SIGKILL)
        first.wait()
        assert client.read() is None
    assert (daemons.home / "run" / "libravdb.sock").is_socket()
    second = daemons()
    with second.client() as client:
        assert client.call("memory_get", **ADA, id="t1")["turn"]["text"] == "kept"


def test_a_socket_on_which_something_else_answers_is_left_alone(daemons: Daemons) -> None:
    path = daemons.home / "run" / "libravdb.sock"
    path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(path))
        other.listen()
        daemon = daemons.attempt()
        assert daemon.wait() != 0 and "something answers there" in daemon.log
        assert path.is_socket()


def test_a_file_where_the_socket_should_be_is_left_alone(daemons: Daemons) -> None:
    path = daemons.home / "run" / "libravdb.sock"
    path.parent.mkdir(parents=True)
    path.write_text("notes")
    daemon = daemons.attempt()
    assert daemon.wait() != 0 and "no socket" in daemon.log
    assert path.read_text() == "notes"


def test_a_path_too_long_for_a_socket_is_told(daemons: Daemons) -> None:
    daemon = daemons.attempt("--endpoint", f"unix:/tmp/{'x' * 120}/a.sock")
    assert daemon.wait() == 2 and "at most 103 bytes" in daemon.log


# ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_pipelined_calls_are_all_answered_and_independent_ones_may_overtake(daemons: Daemons) -> None:
    with endpoint_that_never_answers() as address:
        daemon = daemons(**never_ready(address), SERVE_DRAIN_S="0")
        with daemon.client() as client:
            waits = client.send("memory_search", userId="ada", query="?")
            sent = {client.send("ingest_message", **ADA, text=f"turn {number}") for number in range(100)}
            answered = {client.read()["id"] for _ in range(100)}
        assert answered == sent and waits not in answered
        daemon.signal(signal.SIGKILL)
        daemon.wait()


def test_what_is_sent_to_a_session_is_stored_in_the_order_in_which_it_was_sent(daemons: Daemons) -> None:
    daemon = daemons()
    with daemon.client() as client:
        for number in range(300):
            client.send("ingest_message", userId="ada", sessionId=f"s{number % 3}", text=f"turn {number}")
        answers = [client.read() for _ in range(300)]
        assert all("result" in answer for answer in answers)
        for session in range(3):
            found = client.call("memory_history", userId="ada", sessionId=f"s{session}")
            assert [entry["text"] for entry in found["entries"]] == [f"turn {n}" for n in range(session, 300, 3)]


def test_a_bad_frame_is_answered_and_the_connection_lives_on(daemons: Daemons) -> None:
    daemon = daemons(SERVE_MAX_FRAME_MB="1")
    with daemon.client() as client:
        for bad, code in [(b"nonsense\n", -32700), (b"[]\n", -32600), (b"\xff\n", -32700), (b'{"id":5}\n', -32600)]:
            client.raw(bad)
            assert client.read()["error"]["code"] == code
        client.raw(b"\n  \n\r\n")
        client.raw(b"x" * (3 << 20) + b"\n")
        assert "at most 1048576 bytes" in client.read()["error"]["message"]
        assert client.ask("no_such")["error"]["message"] == "unknown method: no_such"
        assert client.ask("ingest_message")["error"]["message"] == "text is required"
        client.raw(b'{"method":"ingest_message","params":{"userId":"ada","sessionId":"s1","text":"unasked"}}\n')
        assert client.call("health")["ok"] is True
        assert client.call("flush") == {"ok": True}


def test_a_client_that_has_said_all_still_gets_its_answers(daemons: Daemons) -> None:
    with daemons().client() as client:
        for number in range(20):
            client.send("ingest_message", **ADA, text=f"turn {number}")
        client.socket.shutdown(socket.SHUT_WR)
        assert sorted(client.read()["id"] for _ in range(20)) == list(range(1, 21))
        assert client.read() is None


def test_more_calls_than_may_be_in_flight_are_all_answered_in_time(daemons: Daemons) -> None:
    daemon = daemons(SERVE_MAX_IN_FLIGHT="2", SERVE_WORKERS="1")
    with daemon.client() as client:
        client.raw(b"".join(b'{"id":%d,"method":"status"}\n' % number for number in range(200)))
        client.raw(b"".join(b'{"id":%d,"method":"health"}\n' % number for number in range(200, 1000)))
        assert {client.read()["id"] for _ in range(1000)} == set(range(1000))


def test_a_frame_that_arrives_byte_by_byte_is_one_frame_and_keeps_nobody_waiting(daemons: Daemons) -> None:
    daemon = daemons()
    with daemon.client() as slow, daemon.client() as other:
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        for byte in b'{"id":9,"method":"health"}\n':
            slow.raw(bytes([byte]))
            assert other.call("health")["ok"] is True
        assert slow.read()["id"] == 9


def test_a_client_that_does_not_read_is_cut_off_and_others_do_not_notice(daemons: Daemons) -> None:
    daemon = daemons(SERVE_WRITE_TIMEOUT_S="1")
    with daemon.client() as silent, daemon.client() as other:
        other.call("ingest_message", **ADA, id="big", text="x" * 1_000_000)
        before = daemon.resident_bytes()
        with suppress(ConnectionError):  # it may be cut off while it still asks
            for _ in range(400):  # 400 MB of answers that nobody reads
                silent.send("memory_get", **ADA, id="big")
        deadline = time.monotonic() + 60
        while "libravdb_connections_cut_off_total 1" not in other.call("metrics")["text"]:
            assert time.monotonic() < deadline
            assert daemon.resident_bytes() - before < 300 << 20
        assert other.call("health")["ok"] is True
        with pytest.raises((ConnectionError, AssertionError)):
            while True:
                assert silent.read() is not None


def test_connections_over_the_limit_are_told_and_those_within_go_on(daemons: Daemons) -> None:
    daemon = daemons(SERVE_MAX_CONNECTIONS="2")
    with daemon.client() as first, daemon.client() as second:
        assert first.call("health")["ok"] and second.call("health")["ok"]
        with daemon.client() as third:
            assert third.read()["error"]["code"] == -32030 and third.read() is None
        assert first.call("health")["ok"]
    deadline = time.monotonic() + 60
    while not is_served(daemon):  # the daemon may not have seen yet that the others left
        assert time.monotonic() < deadline


def is_served(daemon: Daemon) -> bool:
    with daemon.client() as client:
        try:
            return bool(client.ask("health")["result"]["ok"])
        except (AssertionError, ConnectionError):
            return False


def test_unfinished_frames_of_many_clients_together_are_bounded(daemons: Daemons) -> None:
    daemon = daemons(SERVE_MAX_FRAME_MB="1")
    clients = [daemon.client() for _ in range(24)]
    try:
        with daemon.client() as other:
            before = daemon.resident_bytes()
            for client in clients:
                with suppress(ConnectionError):
                    client.raw(b"x" * 1_000_000)
                assert other.call("health")["ok"] is True
            assert daemon.resident_bytes() - before < 60 << 20
        assert clients[0].read()["error"]["message"] == "too much is being sent at once"
        assert clients[0].read() is None
        clients[-1].raw(b'\n{"id":1,"method":"health"}\n')
        assert [clients[-1].read()["id"] for _ in range(2)] == [None, 1]
    finally:
        for client in clients:
            client.close()


def test_those_who_leave_long_frames_unfinished_lock_nobody_out(daemons: Daemons) -> None:
    daemon = daemons(SERVE_MAX_FRAME_MB="1")
    stuck = [daemon.client() for _ in range(17)]
    try:
        for client in stuck:
            client.raw(b'{"x":"' + b"x" * 980_000)
        with daemon.client() as other:
            assert other.call("ingest_message", **ADA, text="y " * 300_000)["ok"] is True
            assert other.call("health")["ok"] is True
    finally:
        for client in stuck:
            client.close()


@pytest.mark.parametrize("count", [2000, pytest.param(10_000, marks=pytest.mark.long)])
def test_idle_connections_cost_little_and_the_daemon_goes_on(daemons: Daemons, count: int) -> None:
    with_room_for(count)
    daemon = daemons()
    with daemon.client() as client:
        client.call("ingest_message", **ADA, text="hello")
        before = daemon.resident_bytes()
        idle = [daemon.client() for _ in range(count)]
        try:
            assert [idle[at].call("health")["ok"] for at in range(0, count, 100)] == [True] * (count // 100)
            assert (daemon.resident_bytes() - before) / count < 16_384
            began = time.monotonic()
            assert client.call("memory_history", **ADA)["turns"] == 1
            assert time.monotonic() - began < 5
        finally:
            for each in idle:
                each.close()
    assert daemon.stop() == 0


def with_room_for(files: int) -> None:
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < files + 300:
        pytest.skip(f"the system gives {most} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (files + 300, most))


# ── ending ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Talker(threading.Thread):
    """Stores turns until it is hung up on, and remembers which were acknowledged."""

    def __init__(self, endpoint: str, name: str) -> None:
        super().__init__(name=name)
        self._client = Client(endpoint)
        self.acknowledged: list[str] = []
        self.enough = threading.Event()
        self.odd: list[Any] = []

    def run(self) -> None:
        number = 0
        try:
            while True:
                for _ in range(8):
                    number += 1
                    self._client.send("ingest_message", userId="ada", sessionId=self.name, id=f"t{number}", text="word")
                for _ in range(8):
                    answer = self._client.read()
                    if answer is None:
                        return
                    self._remember(answer)
        except OSError:
            return
        finally:
            self._client.close()

    def _remember(self, answer: Any) -> None:
        if "result" in answer:
            self.acknowledged.append(answer["result"]["id"])
        elif answer["error"]["code"] != -32031:
            self.odd.append(answer)
        if len(self.acknowledged) >= 100:
            self.enough.set()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_acknowledged_is_lost_when_the_daemon_ends_under_load(daemons: Daemons, end: signal.Signals) -> None:
    daemon = daemons()
    talkers = [Talker(daemon.endpoint, f"s{number}") for number in range(6)]
    for talker in talkers:
        talker.start()
    assert all(talker.enough.wait(60) for talker in talkers)
    daemon.signal(end)
    code = daemon.wait()
    for talker in talkers:
        talker.join(60)
    assert code == (-9 if end == signal.SIGKILL else 0), daemon.log
    assert not any(talker.odd for talker in talkers)
    config = load_config(environ={"LIBRAVDB_HOME": str(daemons.home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    with Memory.open(config=config) as memory:
        for talker in talkers:
            for turn_id in talker.acknowledged:
                assert memory.get(turn_id, user="ada", session=talker.name).text == "word"
        assert memory.verify().ok


def test_a_daemon_told_to_stop_answers_what_it_has_begun(daemons: Daemons) -> None:
    daemon = daemons()
    with daemon.client() as client:
        for number in range(50):
            client.send("ingest_message", **ADA, id=f"t{number}", text="x" * 1000)
        first = client.read()
        daemon.signal(signal.SIGTERM)
        answers = [first]
        while (answer := client.read()) is not None:
            answers.append(answer)
    assert daemon.wait() == 0
    config = load_config(environ={"LIBRAVDB_HOME": str(daemons.home), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"})
    with Memory.open(config=config) as memory:
        for answer in answers:
            name = f"t{answer['id'] - 1}"
            if "result" in answer:
                assert memory.get(name, user="ada", session="s1")
            else:
                assert answer["error"]["code"] == -32031
                with pytest.raises(NotFoundError):
                    memory.get(name, user="ada", session="s1")


def test_a_model_that_never_answers_does_not_hold_up_the_end(daemons: Daemons) -> None:
    with endpoint_that_never_answers() as address:
        daemon = daemons(**never_ready(address), SERVE_DRAIN_S="0")
        with daemon.client() as client:
            client.send("memory_search", userId="ada", query="?")
            stored = client.send("ingest_message", **ADA, id="t1", text="kept")
            assert client.read()["id"] == stored
            began = time.monotonic()
            assert daemon.stop() == 0
            assert time.monotonic() - began < 30
        with daemons(**never_ready(address)).client() as client:
            assert client.call("memory_get", **ADA, id="t1")["turn"]["text"] == "kept"


def test_idle_clients_do_not_hold_up_the_end(daemons: Daemons) -> None:
    daemon = daemons()
    with daemon.client() as client:
        client.call("health")
        client.raw(b'{"id":1,"meth')
        began = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - began < 5
        assert client.read() is None


# ── sources ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_rules_in_a_watched_folder_are_in_the_prompts_and_follow_their_file(daemons: Daemons, tmp_path: Path) -> None:
    rules = tmp_path / "notes" / "AGENTS.md"
    rules.parent.mkdir()
    rules.write_text("- Answer in metric units.\n")
    daemon = daemons(SOURCES_ROOT_PATHS=str(rules.parent))
    with daemon.client() as client:
        await_rule(client, "Answer in metric units.")
        rules.write_text("- Answer in furlongs.\n")
        await_rule(client, "Answer in furlongs.")
        (source,) = client.call("status")["sources"]
        assert source["documents"] == 1 and source["failure"] is None
    assert daemon.stop() == 0
    with daemons().client() as client:  # no longer a source
        assert "furlongs" not in client.call("assemble_context", **ADA, prompt="how far?")["text"]


def await_rule(client: Client, rule: str) -> None:
    deadline = time.monotonic() + 60
    while rule not in client.call("assemble_context", **ADA, prompt="how far?")["text"]:
        assert time.monotonic() < deadline


# ── who may connect ──────────────────────────────────────────────────────────────────────────────────────────────


def test_tcp_is_on_loopback_and_begins_with_a_token(daemons: Daemons) -> None:
    daemon = daemons("--endpoint", "tcp:127.0.0.1:0")
    assert daemon.endpoint.startswith("tcp:127.0.0.1:") and not daemon.endpoint.endswith(":0")
    file = daemons.home / "tokens.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    token = json.loads(file.read_text())["owner"]["token"]
    with daemon.client() as client:
        assert client.ask("health")["error"]["code"] == -32005
        assert client.ask("authenticate", token=token[:-1])["error"]["code"] == -32005
        assert client.ask("status")["error"]["code"] == -32005
        assert client.call("authenticate", token=token) == {"ok": True, "name": "owner", "namespaces": None}
        assert client.call("status")["turns"] == 0
    with daemon.client() as client:
        assert client.ask("status")["error"]["code"] == -32005


def test_before_it_says_who_it_is_a_client_gets_no_long_frame_read(daemons: Daemons) -> None:
    daemon = daemons("--endpoint", "tcp:127.0.0.1:0")
    token = json.loads((daemons.home / "tokens.json").read_text())["owner"]["token"]
    with daemon.client() as client:
        client.raw(b'{"id":1,"method":"health","params":{"a":"' + b"x" * 20_000 + b'"}}\n')
        assert client.read()["error"]["message"] == "invalid request: a frame may have at most 16384 bytes"
        first = client.send("authenticate", token=token)
        second = client.send("ingest_message", **ADA, text="y " * 20_000)  # in the same breath
        assert [client.read()["id"] for _ in range(2)] == [first, second]
        assert client.call("status")["turns"] == 1


def test_a_scoped_token_narrows_a_connection_to_its_namespaces(daemons: Daemons) -> None:
    from libravdb_memory.serve.access import Tokens

    secret = Tokens(daemons.home / "tokens.json").add("reader", frozenset({"ada"})).secret
    with daemons().client() as client:
        client.call("ingest_message", userId="bob", sessionId="s", text="of bob")
        assert client.call("authenticate", token=secret)["namespaces"] == ["ada"]
        assert client.call("ingest_message", **ADA, text="of ada")["ok"]
        assert client.ask("memory_history", userId="bob", sessionId="s")["error"]["code"] == -32005
        assert client.ask("status")["error"]["code"] == -32005


@pytest.mark.parametrize("at_once", [True, False])
def test_a_line_that_a_web_page_makes_a_browser_send_is_not_a_call(daemons: Daemons, at_once: bool) -> None:
    daemon = daemons("--endpoint", "tcp:127.0.0.1:0", SERVE_TCP_TOKEN="false")
    with daemon.client() as client:
        client.call("ingest_message", **ADA, id="t1", text="precious")
    body = json.dumps({"id": 1, "method": "memory_forget", "params": {**ADA, "id": "t1"}}).encode() + b"\n"
    request = [b"POST / HTTP/1.1\r\n", b"Host: 127.0.0.1\r\nContent-Type: text/plain\r\n\r\n", body]
    with daemon.client() as browser, suppress(ConnectionError):
        for piece in [b"".join(request)] if at_once else request:
            browser.raw(piece)
        assert browser.read()["error"]["code"] == -32700
        assert browser.read() is None
    with daemon.client() as client:
        assert client.call("memory_get", **ADA, id="t1")["turn"]["text"] == "precious"


@pytest.mark.parametrize(
    "variables",
    [{}, {"SERVE_ALLOW_REMOTE": "true", "SERVE_TCP_TOKEN": "false"}],
    ids=["unasked", "without tokens"],
)
def test_listening_to_other_machines_must_be_asked_for_and_needs_tokens(
    daemons: Daemons, variables: dict[str, str]
) -> None:
    daemon = daemons.attempt("--endpoint", "tcp:0.0.0.0:0", **variables)
    assert daemon.wait() == 2 and "can be reached by others" in daemon.log


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become another user")
def test_a_process_of_another_user_is_hung_up_on_even_where_the_permissions_let_it_in(daemons: Daemons) -> None:
    daemon = daemons()
    path = Path(daemon.endpoint.removeprefix("unix:"))
    for folder in (path.parent, path.parent.parent, path.parent.parent.parent):
        folder.chmod(0o755)
    path.chmod(0o666)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setuid(65534)
            with Client(daemon.endpoint) as client:
                client.raw(b'{"id":1,"method":"health"}\n')
                os.write(writing, b"nothing" if client.read() is None else b"answered")
        except ConnectionError:
            os.write(writing, b"nothing")
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as told:
        assert told.read() == b"nothing"
    with daemon.client() as client:
        assert client.call("health")["ok"] is True


def test_patterns_that_take_long_to_make_are_not_made_before_it_listens() -> None:
    slow = ("compact.standing", "compact.every_answer", "ingest.secrets.forms", "gate.patterns", "compacting")
    heavy = {f"libravdb_memory.{name}" for name in slow} | {"numpy", "onnxruntime", "tokenizers"}
    program = (
        f"import sys, libravdb_memory.serve.daemon as d; d.every_method(); print(sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
