"""The calls of a host of the reference, from its first start to its last flush, with a restart in between.

Once without sockets, once against a real daemon: as bytes on its socket, over TCP too, and with a kill as the restart.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias

import pytest
from tests.serve.process import Daemons
from tests.serve.reference.conftest import TABLE, Call
from tests.serve.reference.host import Host

from libravdb_memory import Memory
from libravdb_memory.config import Config
from libravdb_memory.serve.access import SAME_USER
from libravdb_memory.serve.calls import Answer, read_call, run
from libravdb_memory.serve.jsonrpc import Request, encode_request, read_frame
from libravdb_memory.serve.service import Service

RULES = "- Never push to main.\n\n> Prefer small commits.\n\nThe office has a red door.\n"
Daemon: TypeAlias = Callable[[], AbstractContextManager[Call]]
DIARY = [{"text": "Ada dreams of a red bicycle.", "score": 0.9, "recallCount": 3, "uniqueQueries": 2, "line": 4}]


@contextmanager
def daemon(config: Config) -> Generator[Call]:
    """Requests as bytes in, answers as bytes out, over the store of that configuration."""
    numbers = iter(range(1, 100_000))
    with Memory.open(config=config) as memory:
        service = Service.of(memory, config, lambda: 1_800_000_000_000)

        def call(method: str, **params: Any) -> Any:
            number = next(numbers)
            request = read_frame(encode_request(number, method, params))
            assert isinstance(request, Request)
            made = read_call(TABLE, request, SAME_USER)
            answer = json.loads((made if isinstance(made, Answer) else run(service, made)).line)
            assert answer["id"] == number
            assert "error" not in answer, answer
            return answer["result"]

        yield call
        assert memory.verify().ok


@contextmanager
def daemon_process(daemons: Daemons, *arguments: str, **variables: str) -> Generator[Call]:
    """The same, through a real one; the first to end is killed, those after it are told to."""
    is_first = not daemons.started
    process = daemons(*arguments, **variables, COMPACTION_TRIGGER_TOKENS="0")
    with process.client() as client:
        yield client.call
        assert client.call("verify")["ok"] is True
    process.signal(signal.SIGKILL if is_first else signal.SIGTERM)
    assert process.wait() == (-signal.SIGKILL if is_first else 0)


def told(session: str) -> list[tuple[str, str]]:
    """A conversation that is worth compacting, with something to remember in it."""
    said = [("system", f"You help in the session {session}."), ("user", f"My bicycle in {session} is red, from Lyon.")]
    for number in range(40):
        said.append(("user", f"Step {number} of {session}: please read file {number} and check its header and length."))
        said.append(
            ("assistant", f"File {number} of {session} was read, its header and its {number * 11} rows are fine.")
        )
    return said


def test_a_host_of_the_reference_works_unchanged(hashed: Config) -> None:
    converse(lambda: daemon(hashed))


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_a_host_of_the_reference_works_unchanged_over_a_real_socket(daemons: Daemons, transport: str) -> None:
    """It knows no tokens."""
    over_tcp = transport == "tcp"
    arguments = ("--endpoint", "tcp:127.0.0.1:0") if over_tcp else ()
    variables = {"SERVE_TCP_TOKEN": "false"} if over_tcp else {}
    converse(lambda: daemon_process(daemons, *arguments, **variables))


def converse(daemon: Daemon) -> None:
    with daemon() as call:
        call("ingest_markdown_document", sourceDoc="AGENTS.md", text=RULES, coreDoc=True, tokenizerId="t")
        one, two = Host(call, "ada", "s1"), Host(call, "ada", "s2")
        rules = one.bootstrap()
        assert [len(rules[name]) for name in rules] == [1, 1, 1]
        for left, right in zip(told("s1"), told("s2"), strict=True):  # two sessions at once, with the same turn ids
            one.after_turn(left)
            two.after_turn(right)
        assert "red, from Lyon" in one.assemble("what colour is the bicycle in s1?")[0]["text"]
        before = views(call)
        assert len(before["session:s1"]) == len(before["session:s2"]) == len(told("s1"))
        assert len(before["turns:ada"]) == len(before["user:ada"]) == 2 * 41

    with daemon() as call:  # a restart: the host delivers its last turns again
        one, two = Host(call, "ada", "s1"), Host(call, "ada", "s2")
        assert one.bootstrap() == rules
        assert views(call) == before
        for host, session in ((one, "s1"), (two, "s2")):
            for message in told(session):
                host.after_turn(message)
        assert views(call) == before

        done = one.compact()
        assert done["didCompact"]
        after = views(call)
        assert after["session_raw:s1"] == before["session_raw:s1"]
        assert after["session:s2"] == before["session:s2"]
        assert len(after["session:s1"]) == len(before["session:s1"]) - done["turnsRemoved"] + done["clustersFormed"]
        covered = [name for name in after["session:s1"] if name.startswith("summary:")]
        below = {
            item["id"]: item["text"]
            for name in covered
            for item in call("expand_summary", sessionId="s1", summaryId=name)["results"]
        }
        active = {name: text for name, text in after["session:s1"].items() if name not in covered}
        assert below | active == before["session_raw:s1"]

        for path, snippet, score in one.search_bridge("the bicycle from Lyon"):
            assert one.read_file(path) == snippet
            assert -1.0 <= score <= 1.0
        assert one.assemble("is the bicycle red?")
        assert all(item["metadata"]["access_count"] >= 0 for item in one.shown)
        assert any(
            item["metadata"]["access_count"] > 0 for item in call("list_collection", collection="user:ada")["results"]
        )

        one.end("session_end")
        two.end("before_reset")
        commands(call)


def commands(call: Call) -> None:
    """What its command line asks for: status, journal, dreams, export, flush."""
    status = call("status")
    assert status["ok"] is True
    assert (status["turnCount"], status["lifecycleHintCount"]) >= (82, 2)
    assert status["memoryCount"] == 82
    assert status["gatingThreshold"] == 0.35
    assert status["abstractiveReady"] is False
    assert isinstance(status["embeddingProfile"], str)
    (hint,) = call("list_lifecycle_journal", sessionId="s2", limit=5)["results"]
    assert hint["metadata"]["hook"] == "before_reset"
    assert call("promote_dream_entries", userId="ada", sourceDoc="DREAMS.md", entries=DIARY) == {
        "promoted": 1,
        "rejected": 0,
    }
    records = call("export_memory", userId="ada")["records"]
    assert {found["collection"] for found in records} == {"user:ada"}
    assert len(records) == 82
    assert call("flush_namespace", userId="ada") == {"ok": True}
    assert all(not found for found in views(call).values())
    assert call("status")["memoryCount"] == 0


def views(call: Call) -> dict[str, dict[str, str]]:
    names = [f"{kind}:{session}" for kind in ("session", "session_raw", "session_summary") for session in ("s1", "s2")]
    names += ["turns:ada", "user:ada", "elevated:user:ada", "dream:ada"]
    return {
        name: {item["id"]: item["text"] for item in call("list_collection", collection=name)["results"]}
        for name in names
    }
