"""The provider of Hermes: alone against a real daemon, and inside the host's own manager where that is installed."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.serve.process import Daemons, short_folder

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.integrations.hermes import Provider, install, register
from libravdb_memory.serve.client import Client

HAS_HOST = importlib.util.find_spec("hermes_constants") is not None


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with short_folder() as folder:
        monkeypatch.setenv("LIBRAVDB_HOME", str(folder / "home"))
        monkeypatch.setenv("LIBRAVDB_EMBEDDING_BACKEND", "hashed")
        yield folder / "home"


@pytest.fixture
def daemon(home: Path) -> Iterator[None]:
    started = Daemons(home)
    started()
    try:
        yield
    finally:
        started.end()


def begun(session: str, **told: Any) -> Provider:
    provider = Provider()
    provider.initialize(session, hermes_home="unused", platform="cli", **told)
    return provider


@pytest.mark.usefixtures("daemon")
def test_what_one_conversation_said_helps_another_and_nobody_else() -> None:
    first = begun("s1")
    first.sync_turn("We deploy on Tuesdays.", "Noted.", session_id="s1", messages=[])
    first.on_memory_write("add", "user", "The user likes green.")
    first.shutdown()
    second = begun("s2")
    recalled = second.prefetch("when do we deploy?", session_id="s2")
    assert "Tuesdays" in recalled and "Untrusted" in recalled and "recent_session_tail" not in recalled
    found = json.loads(second.handle_tool_call("libravdb_memory_search", {"query": "colour green"}))
    assert "green" in found["results"][0]["text"] and "untrusted" in found["notice"]
    assert (
        "userId"
        in json.loads(second.handle_tool_call("libravdb_memory_search", {"query": "x", "userId": "y"}))["error"]
    )
    assert "error" in json.loads(second.handle_tool_call("libravdb_memory_forget", {"session": "s1"}))
    second.shutdown()
    other = begun("s3", user_id="77")
    assert "Tuesdays" not in other.prefetch("when do we deploy?")
    other.shutdown()
    assert other.prefetch("when do we deploy?") == ""


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize("context", ["subagent", "cron", "flush"])
def test_only_the_conversation_itself_is_stored(context: str, home: Path) -> None:
    provider = begun("s1", agent_context=context)
    provider.sync_turn("Summarise everything.", "Done.")
    provider.shutdown()
    with Client(home=home) as client:
        assert client.status()["turns"] == 0


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize("said", ["half an emoji: \ud83d", "x" * (17 << 20), None, [{"type": "text", "text": "hi"}]])
def test_what_is_not_taken_of_one_side_does_not_lose_the_other(said: Any, home: Path) -> None:
    provider = begun("s1")
    with suppress(LibraVDBError):  # the host tells its log
        provider.sync_turn(said, "We deploy on Tuesdays.")
    provider.on_memory_write("add", "user", None)  # type: ignore[arg-type]
    provider.shutdown()
    with Client(home=home) as client:
        (entry,) = client.history(user="local", session="s1")["entries"]
        assert entry["text"] == "We deploy on Tuesdays." and entry["role"] == "assistant"


@pytest.mark.usefixtures("daemon")
def test_a_switch_of_sessions_is_followed(home: Path) -> None:
    provider = begun("s1")
    provider.on_session_switch("s2", parent_session_id="s1", reset=True)
    provider.sync_turn("We deploy on Tuesdays.", "")
    provider.shutdown()
    with Client(home=home) as client:
        (entry,) = client.history(user="local", session="s2")["entries"]
        assert entry["text"] == "We deploy on Tuesdays."


@pytest.mark.skipif(not HAS_HOST, reason="hermes-agent is not installed")
@pytest.mark.usefixtures("daemon")
def test_the_host_finds_loads_and_uses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    install(tmp_path)
    memory_plugins = importlib.import_module("plugins.memory")
    managing = importlib.import_module("agent.memory_manager")
    provider = memory_plugins.load_memory_provider("libravdb")
    base = importlib.import_module("agent.memory_provider").MemoryProvider
    assert isinstance(provider, base) and provider.name == "libravdb"
    assert "libravdb" in [name for name, *_ in memory_plugins.discover_memory_providers()]
    manager = managing.MemoryManager()
    manager.add_provider(provider)
    provider.initialize("s1", hermes_home=str(tmp_path), platform="cli", agent_context="primary")
    manager.sync_all("We deploy on Tuesdays.", "Noted.", session_id="s1")
    assert manager.flush_pending(60)
    assert "Tuesdays" in manager.prefetch_all("when do we deploy?", session_id="s2")
    assert "libravdb_memory_search" in manager.get_all_tool_names()
    assert "Tuesdays" in manager.handle_tool_call("libravdb_memory_search", {"query": "deploy"})
    assert "LibraVDB" in manager.build_system_prompt()
    manager.shutdown_all()


def test_registering_needs_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    if HAS_HOST:
        pytest.skip("the host is installed")
    with pytest.raises(ModuleNotFoundError, match="agent"):
        register(None)
