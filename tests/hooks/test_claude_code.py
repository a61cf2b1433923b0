"""The hooks of Claude Code, called as it calls them: a process, JSON on stdin, a transcript on disk."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mcp_server.connecting import environment
from tests.serve.process import Daemons, short_folder

from libravdb_memory.config import load_config
from libravdb_memory.hooks import transcript
from libravdb_memory.hooks.claude_code import quietly, read_event, stop
from libravdb_memory.serve.client import Client

SESSION = "71a69714-8a80-4439-adcf-6b6d7aae8a91"


@pytest.fixture
def home() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder / "home"


@pytest.fixture
def daemons(home: Path) -> Iterator[Daemons]:
    started = Daemons(home)
    try:
        yield started
    finally:
        started.end()


def line(kind: str, uuid: str, content: Any, at: str = "2026-11-16T09:24:04.144Z", **more: Any) -> str:
    """As the host writes it, with the fields that are of no use here."""
    told = {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": uuid,
        "timestamp": at,
        "userType": "external",
        "cwd": "/project",
        "sessionId": SESSION,
        "version": "2.1.197",
        **more,
    }
    return json.dumps(told) + "\n"


ATTACHMENT = {"type": "hook_additional_context", "content": ["remembered"], "hookEvent": "UserPromptSubmit"}
TRANSCRIPT = "".join(
    [
        json.dumps({"type": "queue-operation", "operation": "enqueue", "content": "We deploy on Tuesdays."}) + "\n",
        line("user", "u1", "We deploy on Tuesdays."),
        json.dumps({"type": "attachment", "attachment": ATTACHMENT, "uuid": "x1"}) + "\n",
        line("assistant", "a1", [{"type": "thinking", "thinking": "hm"}]),
        line("assistant", "a2", [{"type": "text", "text": "Noted."}, {"type": "tool_use", "id": "t", "input": {}}]),
        line("user", "u2", [{"type": "tool_result", "tool_use_id": "t", "content": "secret output"}]),
        line("user", "u3", "a subagent's task", isSidechain=True),
        line("user", "u4", "Caveat: the host put this in", isMeta=True),
        line("user", "u5", "<command-name>/clear</command-name>"),
        line("assistant", "a3", [{"type": "text", "text": "Done."}], "2026-11-16T09:25:00.000Z"),
    ]
)


def event(path: Path, name: str = "Stop", **more: Any) -> str:
    told = {
        "session_id": SESSION,
        "transcript_path": str(path),
        "cwd": "/project",
        "permission_mode": "default",
        "hook_event_name": name,
        **more,
    }
    return json.dumps(told)


def hook(home: Path, *arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "libravdb_memory", "hook", *arguments],
        input=said,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_what_was_said_is_read_off_a_transcript_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(TRANSCRIPT + '{"type":"user","half')
    said, end = transcript.read(path)
    assert [(each.id, each.role, each.text) for each in said] == [
        ("u1", "user", "We deploy on Tuesdays."),
        ("a2", "assistant", "Noted."),
        ("a3", "assistant", "Done."),
    ]
    assert said[0].ts == 1_794_821_044_144 and said[-1].end == end == len(TRANSCRIPT)
    assert transcript.read(path, said[0].end)[0] == said[1:]
    assert transcript.read(path, 10**9)[0] == said


@given(raw=st.binary(max_size=300), begin=st.integers(-5, 400))
def test_any_bytes_are_a_transcript(raw: bytes, begin: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "t.jsonl"
    path.write_bytes(raw)
    assert transcript.read(path, begin)[1] <= len(raw)


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=9), lambda x: st.lists(x, max_size=3))


@given(
    entry=st.fixed_dictionaries(
        {"type": st.sampled_from(["user", "assistant", 7])},
        optional={
            "uuid": JSON,
            "timestamp": JSON,
            "isMeta": JSON,
            "message": JSON | st.fixed_dictionaries({"content": JSON | st.lists(st.dictionaries(st.text(), JSON))}),
        },
    )
)
def test_any_line_is_taken_or_passed_over(entry: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "t.jsonl"
    path.write_text(json.dumps(entry) + "\n")
    said, end = transcript.read(path)
    assert end == path.stat().st_size and all(each.text.strip() and isinstance(each.id, str) for each in said)


QUICKLY = """
import sys
from libravdb_memory.cli import main
main(sys.argv[1:])
heavy = {"libravdb_memory.serve.client", "libravdb_memory.store.protocol", "numpy", "mcp"}
sys.exit(",".join(heavy & set(sys.modules)))
"""


def test_a_hook_loads_little_where_there_is_little_to_do(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(line("user", "u4", "Caveat: the host put this in", isMeta=True))
    for name in ("stop", "user-prompt-submit"):
        done = subprocess.run(
            [sys.executable, "-c", QUICKLY, "hook", name],
            input=event(path, prompt="hello"),
            env=environment(home),
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert done.stderr.strip() in ("", "libravdb: no daemon runs; 'libravdb daemon start' begins one")
    (place,) = (home / "hooks").iterdir()
    assert int(place.read_text()) == path.stat().st_size


@pytest.mark.slow
def test_a_conversation_is_remembered_once_and_helps_the_next(home: Path, daemons: Daemons, tmp_path: Path) -> None:
    daemons()
    path = tmp_path / "t.jsonl"
    path.write_text(TRANSCRIPT)
    for _ in range(2):
        done = hook(home, "stop", "--user", "ada", said=event(path, stop_hook_active=False))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for place in (home / "hooks").iterdir():
        place.unlink()  # what is handed over again is stored once
    path.write_text(TRANSCRIPT + line("user", "u9", "And the port is 4711."))
    assert hook(home, "stop", "--user", "ada", said=event(path)).stderr == ""
    with Client(home=home) as client:
        held = client.history(user="ada", session=SESSION)
        assert [entry["id"] for entry in held["entries"]] == ["u1", "a2", "a3", "u9"]
        assert held["entries"][0]["ts"] == 1_794_821_044_144
    asked = event(tmp_path / "none.jsonl", "UserPromptSubmit", prompt="when do we deploy?", session_id="another")
    done = hook(home, "user-prompt-submit", "--user", "ada", said=asked)
    told = json.loads(done.stdout)["hookSpecificOutput"]
    assert done.returncode == 0 and told["hookEventName"] == "UserPromptSubmit"
    assert "Tuesdays" in told["additionalContext"] and "Untrusted" in told["additionalContext"]
    assert len(told["additionalContext"]) < 10_000
    again = event(path, "UserPromptSubmit", prompt="when do we deploy?")
    shown = hook(home, "user-prompt-submit", "--user", "ada", said=again).stdout
    assert "We deploy on Tuesdays." not in shown  # the model sees it anyway
    assert "Tuesdays" not in hook(home, "user-prompt-submit", "--user", "bob", said=asked).stdout


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [True, False])
def test_a_message_that_is_not_taken_holds_up_no_other(
    home: Path, daemons: Daemons, tmp_path: Path, is_there: bool
) -> None:
    if is_there:
        daemons()
    path = tmp_path / "t.jsonl"
    path.write_text(
        line("user", "u1", "We deploy on Tuesdays.")
        + line("user", "u2", "half an emoji: \ud83d")
        + line("assistant", "a1", [{"type": "text", "text": "y" * (17 << 20)}])
        + line("user", "u3", "And the port is 4711.")
    )
    done = hook(home, "stop", "--user", "ada", said=event(path))
    assert done.returncode == 0 and "refused" in done.stderr and len(done.stderr) < 300
    assert hook(home, "stop", "--user", "ada", said=event(path)).stderr == ""
    if not is_there:
        daemons()
    with Client(home=home) as client:
        assert client.send_waiting().finished
        assert [entry["id"] for entry in client.history(user="ada", session=SESSION)["entries"]] == ["u1", "u3"]


@pytest.mark.slow
def test_without_a_daemon_nothing_is_lost_and_nothing_fails(home: Path, daemons: Daemons, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(TRANSCRIPT)
    done = hook(home, "user-prompt-submit", said=event(path, "UserPromptSubmit", prompt="hello"))
    assert (done.returncode, done.stdout) == (0, "") and "no daemon runs" in done.stderr
    done = hook(home, "stop", said=event(path))
    assert (done.returncode, done.stdout) == (0, "") and "3 wait on disk" in done.stderr
    assert hook(home, "stop", said=event(path)).stderr == ""
    daemons()
    with Client(home=home) as client:
        assert client.send_waiting().finished
        assert [entry["id"] for entry in client.history(user="local", session=SESSION)["entries"]] == ["u1", "a2", "a3"]


@pytest.mark.slow
def test_a_session_begins_with_a_daemon_and_without_a_word_to_the_model(home: Path) -> None:
    from libravdb_memory.serve.lifetime import stop as stop_daemon

    try:
        done = hook(home, "session-start", said="")
        assert (done.returncode, done.stdout) == (0, "") and "a daemon was started" in done.stderr
    finally:
        assert stop_daemon(home, 60) is not None


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"session_id": 7}',
        '{"session_id": " "}',
        '{"session_id":"s","transcript_path":"a\\u0000b"}',
    ],
)
def test_whatever_the_host_says_a_hook_ends_well(said: str, home: Path) -> None:
    config = load_config(environ={"LIBRAVDB_HOME": str(home)})
    outcome = quietly(lambda: stop(config, read_event(said)))
    assert outcome.out == "" and outcome.remark


@pytest.mark.slow
def test_a_broken_configuration_is_a_remark(home: Path, tmp_path: Path) -> None:
    home.mkdir(parents=True)
    (home / "config.toml").write_text("nonsense = 1\n")
    for name in ("user-prompt-submit", "stop", "session-start"):
        done = hook(home, name, said=event(tmp_path / "t.jsonl", prompt="hello"))
        assert (done.returncode, done.stdout) == (0, "") and "nonsense" in done.stderr
