"""A memory provider for Hermes Agent.

    python -m libravdb_memory.integrations.hermes        # puts the plugin into $HERMES_HOME/plugins/libravdb
    hermes config set memory.provider libravdb

Laws: a conversation never waits for memory longer than a recall may take, and goes on without it. What was said is
stored once its turn is over, or waits on disk. Only the conversation itself is stored: not what subagents, timers and
clean-ups say. Recall is framed as untrusted.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from libravdb_memory.config import load_config
from libravdb_memory.errors import LibraVDBError
from libravdb_memory.identity import Json
from libravdb_memory.mcp_server.framing import CONTEXT_NOTICE
from libravdb_memory.mcp_server.schemas import arguments, as_json, input_schema
from libravdb_memory.mcp_server.tools import READING, TOOLS, Place, Said
from libravdb_memory.serve.client import Client
from libravdb_memory.serve.lifetime import start

NAME = "libravdb"
BUDGET = 2_000
RECALL_S = 8.0
NOTES = "hermes-memory"
"""The session that holds what Hermes writes into its own memory files."""
_OFFERED = ("memory_search", "memory_get", "memory_add")
_PREFIX = "libravdb_"
_PLUGIN = '''"""LibraVDB Memory as the memory provider of Hermes: a MemoryProvider, made by the installed package."""

from libravdb_memory.integrations.hermes import register

__all__ = ["register"]
'''
_MANIFEST = 'name: libravdb\nversion: 0.1.0\ndescription: "Local-first memory: exact, crash-safe, explained."\n'


@dataclass(frozen=True, slots=True)
class _Blocking:
    """The daemon's methods for tools that await them."""

    client: Client

    async def ask(self, method: str, params: Mapping[str, Json]) -> dict[str, Any]:
        return self.client.call(method, params)


class Provider:
    """Every method of the host's interface that is of use here; `register` makes it one of the host's own kind."""

    name = NAME

    def __init__(self) -> None:
        self._client: Client | None = None
        self._user = ""
        self._session = ""
        self._stores = True

    def is_available(self) -> bool:
        return True

    def initialize(self, session_id: str, **told: Any) -> None:
        config = load_config()
        person = str(told.get("user_id") or "").strip()
        self._user = f"{told.get('platform') or 'hermes'}:{person}" if person else config.mcp.user
        self._session = session_id
        self._stores = told.get("agent_context", "primary") == "primary"
        self._client = Client(home=config.home, timeout_s=RECALL_S)
        with suppress(LibraVDBError, OSError):  # without one, what is said waits on disk
            start(config.home)

    def system_prompt_block(self) -> str:
        names = ", ".join(_PREFIX + name for name in _OFFERED)
        return f"Long-term memory is kept by LibraVDB on this machine ({names}). {CONTEXT_NOTICE}"

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        if self._client is None or not query.strip():
            return ""
        where = (session_id or self._session) + READING  # the host has the conversation itself
        return self._client.context(query, user=self._user, session=where, budget=BUDGET).text

    def queue_prefetch(self, query: str, *, session_id: str = "") -> None:
        """Recall is quick enough to wait for the question."""

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        refused: LibraVDBError | None = None
        for role, text in (("user", user_content), ("assistant", assistant_content)):
            try:
                self._store(text, role, session_id or self._session)
            except LibraVDBError as error:  # what one side said is kept without the other's too
                refused = error
        if refused is not None:
            raise refused

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return [
            {"name": _PREFIX + tool.name, "description": tool.description, "parameters": input_schema(tool.params)}
            for tool in TOOLS
            if tool.name in _OFFERED
        ]

    def handle_tool_call(self, tool_name: str, args: Mapping[str, Any], **_: Any) -> str:
        tool = next((tool for tool in TOOLS if _PREFIX + tool.name == tool_name and tool.name in _OFFERED), None)
        if tool is None or self._client is None:
            return json.dumps({"error": f"there is no tool {tool_name}"})
        try:
            given = arguments(tool.params, args)
            said = _driven(tool.run(_Blocking(self._client), Place(self._user, NOTES), given))
        except LibraVDBError as error:
            return json.dumps({"error": error.message})
        return json.dumps(as_json(said.value), ensure_ascii=False)

    def on_session_switch(self, new_session_id: str, **_: Any) -> None:
        self._session = new_session_id

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: Mapping[str, Any] | None = None
    ) -> None:
        if action in ("add", "replace"):
            self._store(content, "user", NOTES)

    def backup_paths(self) -> list[str]:
        return [str(load_config().home)]

    def shutdown(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _store(self, text: object, role: str, session: str) -> None:
        """Whatever a host hands over that is no text was said by nobody."""
        if self._client is not None and self._stores and isinstance(text, str) and text.strip():
            self._client.ingest(text, role=role, user=self._user, session=session)


def _driven(work: Coroutine[Any, Any, Said]) -> Said:
    """Nothing in it waits for an event loop, and the host may have one of its own in this thread."""
    try:
        work.send(None)
    except StopIteration as end:
        said: Said = end.value
        return said
    work.close()
    raise RuntimeError("a tool waited for what blocks here")


def register(context: Any) -> None:
    """Called by the host when it loads the plugin."""
    base: Any = import_module("agent.memory_provider").MemoryProvider
    context.register_memory_provider(type("LibraVDBProvider", (Provider, base), {})())


def install(hermes_home: Path) -> Path:
    """Write the plugin's two files; the rest is in this package."""
    folder = hermes_home / "plugins" / NAME
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(_PLUGIN)
    (folder / "plugin.yaml").write_text(_MANIFEST)
    return folder


if __name__ == "__main__":
    sys.stdout.write(f"{install(Path(os.environ.get('HERMES_HOME') or Path.home() / '.hermes'))}\n")
