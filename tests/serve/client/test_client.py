"""Both clients against real daemons, and against peers that hang, lie or hang up."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.serve.client.peer import Answer, healthy, peer
from tests.serve.process import Daemons, short_folder

from libravdb_memory.errors import ConfigError, InvalidInputError
from libravdb_memory.serve.access import TOKENS_FILE, Tokens
from libravdb_memory.serve.client import AsyncClient, Client, RefusedError, SpoolError, UnavailableError
from libravdb_memory.serve.client.core import SHORTEST_PAUSE_S
from libravdb_memory.serve.client.spool import REFUSED
from libravdb_memory.serve.failures import CONFLICT, NOT_FOUND, STOPPING
from libravdb_memory.serve.fields import InvalidParamsError
from libravdb_memory.serve.jsonrpc import encode_error, encode_result

HOST_MESSAGES = [{"role": "user", "content": "as the host has it"}]


class Blocking:
    """The asynchronous client, used as if it were the other one: both must pass the same tests."""

    def __init__(self, *args: Any, **named: Any) -> None:
        self._loop = asyncio.Runner()
        self._client = AsyncClient(*args, **named)

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        async def awaited(*args: Any, **named: Any) -> Any:
            return await getattr(self._client, verb)(*args, **named)

        return lambda *args, **named: self._loop.run(awaited(*args, **named))

    def __enter__(self) -> Blocking:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._client.close())
        self._loop.close()


Kind = Callable[..., Any]


@pytest.fixture(params=[Client, Blocking], ids=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param  # type: ignore[no-any-return]


def eventually(attempt: Callable[[], bool], within_s: float = 30) -> None:
    """A circuit that is open closes after a pause; how long is a matter of chance."""
    until = time.monotonic() + within_s
    while not attempt():
        assert time.monotonic() < until
        time.sleep(SHORTEST_PAUSE_S / 5)


def texts(client: Any, session: str, user: str = "ada") -> list[str]:
    return [entry["text"] for entry in client.history(user=user, session=session)["entries"]]


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


# ── a daemon that is well ────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_goes_through_every_verb(daemons: Daemons, kind: Kind) -> None:
    daemon = daemons()
    with kind(home=daemons.home) as client:
        assert client.bootstrap(user="ada", session="s1")["resumed"] is False
        stored = client.ingest("The key is in the vault.", user="ada", session="s1", id="t1", ts=5, speaker="Ada")
        assert stored.delivered and stored.id == "t1" and stored.result["turn"]["ts"] == 5
        assert client.ingest("It is red.", user="ada", session="s1").id
        turn = [{"role": "user", "content": "And now?"}, {"role": "assistant", "content": "Turn it."}]
        assert client.after_turn(turn, advancement_key="k1", user="ada", session="s1").result["stored"] == 2
        assert client.get("t1", user="ada", session="s1")["turn"]["speaker"] == "Ada"
        assert client.search("where is the key?", user="ada", session="s1", k=1)["results"]
        built = client.context("where is the key?", user="ada", session="s1", messages=HOST_MESSAGES)
        assert "vault" in built.text and built.messages == HOST_MESSAGES and not built.note
        assert client.why(built.receipt_id)["id"] == built.receipt_id
        assert client.replay(built.receipt_id)["identical"] is True
        assert client.why_not(built.receipt_id, "t1", session="s1")["recordId"] == "t1"
        assert texts(client, "s1") == ["The key is in the vault.", "It is red.", "And now?", "Turn it."]
        assert client.compact(user="ada", session="s1")["turns"] == 0
        assert client.rules_check({"rules.md": "You must lock the vault."})["nodes"]
        assert client.status()["turns"] == 4 and client.health()["pid"] == daemon.pid
        assert client.verify()["ok"] and client.backup("b.db")["ok"] and client.reindex()["ok"]
        assert "libravdb" in client.metrics()["text"]
        assert client.call("list_collection", {"collection": "session_raw:s1"})["results"]
        assert client.forget(id="t1", user="ada", session="s1")["ok"]
        with pytest.raises(RefusedError) as refused:
            client.get("t1", user="ada", session="s1")
        assert (refused.value.code, refused.value.kind) == (NOT_FOUND, "not_found")
        with pytest.raises(RefusedError):
            client.expand("summary:none", user="ada", session="s1")
        assert not client.send_waiting().delivered
    assert not (daemons.home / "spool").exists()


def test_nothing_is_connected_before_the_first_call(kind: Kind, tmp_path: Path) -> None:
    with peer(healthy) as made, kind(made.endpoint, home=tmp_path) as client:
        assert made.connections == 0
        client.health()
        client.health()
        assert made.connections == 1 and [request["method"] for request in made.requests] == ["health"] * 3


def test_over_tcp_a_client_of_the_same_home_begins_with_the_owner_s_token(daemons: Daemons, kind: Kind) -> None:
    daemon = daemons("--endpoint", "tcp:127.0.0.1:0")
    with kind(daemon.endpoint, home=daemons.home) as client:
        assert client.ingest("over tcp", user="ada", session="s1").delivered
    scoped = Tokens(daemons.home / TOKENS_FILE).add("bob", frozenset({"bob"}))
    with short_folder() as elsewhere, kind(daemon.endpoint, home=elsewhere, token=scoped.secret) as client:
        assert client.ingest("mine", user="bob", session="s1").delivered
        with pytest.raises(RefusedError, match="does not reach"):
            client.ingest("not mine", user="ada", session="s1")
        assert not (elsewhere / "spool").exists()
    with short_folder() as elsewhere, kind(daemon.endpoint, home=elsewhere, token="x" * 20) as client:
        with pytest.raises(UnavailableError, match="this token is not known"):
            client.status()
        assert not client.ingest("kept", user="bob", session="s1").delivered


def test_a_daemon_is_found_where_it_says_it_listens(daemons: Daemons, monkeypatch: pytest.MonkeyPatch) -> None:
    with short_folder() as elsewhere:
        daemon = daemons("--endpoint", f"unix:{elsewhere}/other.sock")
        with Client(home=daemons.home) as client:
            assert client.health()["pid"] == daemon.pid
        monkeypatch.setenv("LIBRAVDB_RPC_ENDPOINT", f"unix:{elsewhere}/none.sock")
        with Client(home=daemons.home) as client, pytest.raises(UnavailableError, match=r"none\.sock"):
            client.health()
        with Client(daemon.endpoint, home=daemons.home) as client:
            assert client.health()["pid"] == daemon.pid
        daemon.stop()


def test_a_name_that_is_no_endpoint_is_told_at_once_and_a_home_too_deep_for_a_socket_is_no_hindrance(
    kind: Kind, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="takes unix:/path or tcp:host:port"):
        kind("http://localhost", home=tmp_path)
    with kind(home=tmp_path / ("x" * 120)) as client:
        assert "at most 103 bytes" in client.ingest("kept", user="ada", session="s").note


def test_threads_share_a_client_and_each_gets_its_own_answers(daemons: Daemons) -> None:
    daemons()
    with Client(home=daemons.home) as client:
        failures: list[str] = []

        def talk(name: str) -> None:
            for index in range(20):
                said = client.ingest(f"{name}{index}", user="ada", session=name, id=f"{index}")
                found = client.get(f"{index}", user="ada", session=name)["turn"]["text"]
                if not said.delivered or found != f"{name}{index}":
                    failures.append(f"{name}{index}: {found}")

        threads = [threading.Thread(target=talk, args=(f"s{index}",)) for index in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert all(texts(client, f"s{index}") == [f"s{index}{n}" for n in range(20)] for index in range(8))


def test_messages_of_one_session_awaited_together_are_stored_in_their_order(daemons: Daemons) -> None:
    daemons()

    async def talk() -> list[str]:
        async with AsyncClient(home=daemons.home) as client:
            await asyncio.gather(*(client.ingest(f"{n}", user="ada", session="s") for n in range(60)))
            entries = (await client.history(user="ada", session="s"))["entries"]
            return [entry["text"] for entry in entries]

    assert asyncio.run(talk()) == [f"{n}" for n in range(60)]


def test_a_call_that_is_refused_for_good_is_raised_and_not_spooled(daemons: Daemons, kind: Kind) -> None:
    daemons()
    with kind(home=daemons.home) as client:
        client.ingest("one", user="ada", session="s", id="t")
        with pytest.raises(RefusedError) as refused:
            client.ingest("another", user="ada", session="s", id="t")
        assert refused.value.code == CONFLICT and not (daemons.home / "spool").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_a_connection_of_its_own_and_leaves_its_parent_s_alone(daemons: Daemons) -> None:
    daemons()
    with Client(home=daemons.home) as client:
        client.ingest("parent", user="ada", session="s")
        child = os.fork()
        if not child:
            stored = False
            try:
                stored = client.ingest("child", user="ada", session="s").delivered
                client.close()
            finally:
                os._exit(0 if stored else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        client.ingest("parent again", user="ada", session="s")
        assert texts(client, "s") == ["parent", "child", "parent again"]


# ── a daemon that is away, or ill ────────────────────────────────────────────────────────────────────────────────


def test_without_a_daemon_a_context_is_the_host_s_own_messages_and_what_is_said_waits(
    daemons: Daemons, kind: Kind
) -> None:
    with kind(home=daemons.home) as client:
        stored = client.ingest("said while it was away", user="ada", session="s", role="assistant")
        assert not stored.delivered and "no daemon answers at unix:" in stored.note
        built = client.context("what?", user="ada", session="s", messages=HOST_MESSAGES)
        assert built.messages is HOST_MESSAGES and built.text == "" and built.degraded == ("memory",)
        assert "not tried again for" in built.note
        with pytest.raises(UnavailableError):
            client.search("what?", user="ada")
        with pytest.raises(UnavailableError, match="nothing was erased"):
            client.forget(all=True, user="ada")
        turn = [{"role": "user", "content": "a turn"}]
        assert not client.after_turn(turn, advancement_key="k", user="ada", session="s").delivered
        daemons()
        eventually(lambda: client.send_waiting().finished)
        entries = client.history(user="ada", session="s")["entries"]
        assert [(entry["text"], entry["role"]) for entry in entries] == [
            ("said while it was away", "assistant"),
            ("a turn", "user"),
        ]
        assert entries[0]["id"] == stored.id and entries[0]["ts"] < entries[1]["ts"]


def test_what_waits_goes_before_what_is_said_next(daemons: Daemons, kind: Kind) -> None:
    with kind(home=daemons.home) as client:
        client.ingest("first", user="ada", session="s")
        daemons()
        eventually(lambda: client.ingest("then", user="ada", session="s", id="then").delivered)
        assert texts(client, "s") == ["first", "then"]


@contextmanager
def ill(answer: Answer, kind: Kind, home: Path) -> Iterator[Any]:
    with peer(answer) as made, kind(made.endpoint, home=home, timeout_s=0.5) as client:
        yield client


def answers(frame: bytes | None) -> Answer:
    return lambda request: healthy(request) or frame


ILLS: dict[str, Answer] = {
    "hangs": lambda _: b"",
    "hangs after health": healthy,
    "is not well": lambda request: encode_result(request["id"], {"ok": False, "message": "ill"}),
    "answers garbage": answers(b"\x00\xff garbage\n"),
    "answers something else": answers(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "hangs up": answers(None),
    "hangs up at once": lambda _: None,
    "stops in the middle of a frame": answers(b'{"jsonrpc":"2.0","id":2,"resu'),
    "answers another call": answers(encode_result(99, {"ok": True})),
    "stops": lambda request: healthy(request) or encode_error(request["id"], STOPPING, "the daemon is stopping"),
}


@pytest.mark.parametrize("illness", ILLS)
def test_whatever_ails_a_daemon_a_conversation_goes_on(illness: str, kind: Kind, tmp_path: Path) -> None:
    with ill(ILLS[illness], kind, tmp_path) as client:
        built = client.context("what?", user="ada", messages=HOST_MESSAGES)
        assert built.messages is HOST_MESSAGES and built.note
        began = time.monotonic()
        assert not client.ingest("kept", user="ada", session="s").delivered
        assert not client.ingest("kept too", user="ada", session="s").delivered
        assert time.monotonic() - began < 5
        assert client.desk.spool.pending() if kind is Client else True
    assert len(list((tmp_path / "spool").glob("*.spool"))) == 1


def test_a_daemon_that_hangs_is_waited_for_once_and_then_left_alone_for_a_while(kind: Kind, tmp_path: Path) -> None:
    with ill(healthy, kind, tmp_path) as client:
        client.context("what?", user="ada")
        began = time.monotonic()
        for _ in range(20):
            client.context("what?", user="ada")
        assert time.monotonic() - began < 0.5 + 2 * SHORTEST_PAUSE_S


def test_a_daemon_that_does_not_read_is_given_up_by_all_who_wait_to_send(tmp_path: Path) -> None:
    free = threading.Event()

    def stuck(request: Any) -> bytes:
        answer = healthy(request)
        if not answer:
            free.wait(30)
        return answer or b""

    with peer(stuck) as made, Client(made.endpoint, home=tmp_path, timeout_s=0.5) as client:
        client.health()
        found: list[Any] = []

        def say(session: str) -> None:
            found.append(client.ingest("x" * (4 << 20), user="ada", session=session))

        began = time.monotonic()
        threads = [threading.Thread(target=say, args=(f"s{index}",)) for index in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [stored.delivered for stored in found] == [False] * 6 and time.monotonic() - began < 10
        free.set()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are not told here")
def test_a_closed_client_has_let_go_of_its_socket_and_may_be_used_again(daemons: Daemons, kind: Kind) -> None:
    daemons()
    with kind(home=daemons.home) as client:
        client.health()
        before = open_files()
        client.close()
        assert open_files() == before - 1
        assert client.ingest("again", user="ada", session="s").delivered


def test_a_daemon_that_is_stopped_by_a_signal_delays_nothing_for_ever(daemons: Daemons, kind: Kind) -> None:
    daemon = daemons()
    with kind(home=daemons.home, timeout_s=1.0) as client:
        assert client.ingest("one", user="ada", session="s").delivered
        daemon.signal(signal.SIGSTOP)
        assert not client.ingest("two", user="ada", session="s").delivered  # and it lies in the daemon's socket
        assert not client.ingest("three", user="ada", session="s").delivered
        daemon.signal(signal.SIGCONT)
        eventually(lambda: client.send_waiting().finished)
        assert texts(client, "s") == ["one", "two", "three"]


def test_a_turn_whose_answer_was_lost_is_the_same_turn_when_it_is_delivered_again(daemons: Daemons, kind: Kind) -> None:
    """Stored with a time of the daemon's own, and delivered again with the time at which it was said."""
    with kind(home=daemons.home) as client:
        client.ingest("once", user="ada", session="s", id="t1")
        daemon = daemons()
        with daemon.client() as bare:
            bare.call("ingest_message", userId="ada", sessionId="s", id="t1", text="once", ts=12345)
        eventually(lambda: client.send_waiting().finished)
        assert texts(client, "s") == ["once"]
    assert not (daemons.home / "spool" / REFUSED).exists()


def test_what_is_refused_or_damaged_is_set_aside_and_keeps_nothing_waiting(daemons: Daemons, kind: Kind) -> None:
    with kind(home=daemons.home) as client:
        for text, name in (("a", "t1"), ("another text", "t1"), ("b", "t2"), ("c", "t3")):
            client.ingest(text, user="ada", session="s", id=name)
        (segment,) = (daemons.home / "spool").glob("*.spool")
        lines = segment.read_bytes().splitlines(keepends=True)
        lines[2] = lines[2].replace(b'"text":"b"', b'"text":"B"')
        segment.write_bytes(b"".join(lines) + b"torn")
        daemons()
        found: list[Any] = []
        eventually(lambda: bool(found.append(client.send_waiting()) or found[-1].finished))
        assert (found[-1].delivered, len(found[-1].refused), found[-1].damaged) == (2, 1, 2)
        assert "exists with other content" in str(found[-1].refused[0].error)
        assert texts(client, "s") == ["a", "c"]
        assert client.ingest("d", user="ada", session="s").result is not None
    assert b"another text" in (daemons.home / "spool" / REFUSED).read_bytes()


def test_a_message_that_is_refused_when_it_is_delivered_at_once_after_others_is_told(
    daemons: Daemons, kind: Kind
) -> None:
    with kind(home=daemons.home) as client:
        client.ingest("one", user="ada", session="s", id="t1")
        daemons()

        def refused() -> bool:
            try:
                return bool(client.ingest("two", user="ada", session="s", id="t1").delivered)
            except RefusedError as error:
                return error.code == CONFLICT

        eventually(refused)
        assert texts(client, "s") == ["one"]


def test_a_spool_that_cannot_be_used_keeps_no_context_from_being_made(daemons: Daemons, kind: Kind) -> None:
    daemons()
    (daemons.home / "spool").write_text("notes")
    with kind(home=daemons.home) as client:
        built = client.context("what?", user="ada", session="s", messages=HOST_MESSAGES)
        assert built.receipt_id and "cannot be used" in built.note
        with pytest.raises(SpoolError, match="cannot be used"):
            client.ingest("one", user="ada", session="s")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"text": " "}, InvalidParamsError),
        ({"text": 7}, InvalidParamsError),
        ({"text": float("nan")}, InvalidInputError),
    ],
)
def test_what_no_daemon_would_take_is_told_at_once_also_without_one(
    wrong: Any, error: type[Exception], kind: Kind, tmp_path: Path
) -> None:
    with kind(home=tmp_path) as client, pytest.raises(error):
        client.ingest(**wrong, user="ada", session="s")
    assert not (tmp_path / "spool").exists()


def test_a_cancelled_call_leaves_no_lock_behind(daemons: Daemons) -> None:
    async def talk() -> list[str]:
        async with AsyncClient(home=daemons.home) as client:
            await client.ingest("one", user="ada", session="s")
            daemons()
            for pause_s in (0, 0.001, 0.005, 0.02, 0.1, 0.5, 1):
                call = asyncio.ensure_future(client.ingest(f"{pause_s}", user="ada", session="s"))
                await asyncio.sleep(pause_s)
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)
            while not (await client.send_waiting()).finished:  # noqa: ASYNC110 - a pause of the circuit
                await asyncio.sleep(0.1)
            entries = (await client.history(user="ada", session="s"))["entries"]
            return [entry["text"] for entry in entries]

    found = asyncio.run(asyncio.wait_for(talk(), 60))
    assert found[0] == "one" and len(set(found)) == len(found)
