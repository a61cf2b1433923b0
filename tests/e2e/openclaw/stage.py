"""Everything that talks in these scenarios: a host, a model, a daemon, and the wire between plugin and daemon."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.openclaw.host import ROOT, Host, Program
from tests.e2e.openclaw.model import Model
from tests.e2e.openclaw.wire import Wire

ID = "libravdb-memory"
_AROUND = re.compile(r"\A\[[^\]\n]{8,40}\] |\n\nRuntime: agent=.*\Z", re.S)
_OF_THE_HOST = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
RULE = "Always answer in metric units."
LONGEST_S = 90


def check(holds: object, what: str) -> None:
    if not holds:
        raise AssertionError(what)


class Stage:
    def __init__(self, program: Program) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="lvdb-"))
        self.home = self.folder / "clawdb"
        self.model = Model()
        self.host = Host(program, self.folder / "host", self.model.url)
        (self.host.workspace / "AGENTS.md").write_text(f"# Rules\n\n- {RULE}\n")
        self._daemon: subprocess.Popen[bytes] | None = None
        self.start_daemon()
        self.wire = Wire(self.folder / "wire.sock", self.home / "run" / "libravdb.sock")

    # ── the daemon ───────────────────────────────────────────────────────────────────────────────────────────────────

    def start_daemon(self) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LIBRAVDB_")}
        environment = {
            **kept,
            "LIBRAVDB_HOME": str(self.home),
            "LIBRAVDB_SOURCES_ROOT_PATHS": str(self.host.workspace),
        }
        with (self.folder / "daemon.log").open("ab") as log:
            self._daemon = subprocess.Popen(
                [sys.executable, "-m", "libravdb_memory", "serve"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self._daemon.stdout is not None and self._daemon.stdout.readline().startswith(b"unix:")

    def kill_daemon(self) -> None:
        assert self._daemon is not None and self._daemon.stdout is not None
        self._daemon.send_signal(signal.SIGKILL)
        self._daemon.wait()
        self._daemon.stdout.close()
        self._daemon = None

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The daemon itself, past the plugin."""
        answer = self._answer(method, params)
        assert "result" in answer, answer
        return dict(answer["result"])

    def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
            connected.settimeout(60)
            connected.connect(str(self.home / "run" / "libravdb.sock"))
            connected.sendall(json.dumps({"id": 1, "method": method, "params": params}).encode() + b"\n")
            with connected.makefile("rb") as answers:
                return dict(json.loads(answers.readline()))

    # ── the host ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def install_plugin(self) -> None:
        """As the guide says, and the few lines of configuration that these scenarios need."""
        unknown = () if self.host.program.commits_turns else ("--accept-capabilities",)
        told = [word for word in command_of_the_guide("openclaw plugins install") if word not in unknown]
        self.host.command(*map(_substituted, told))
        config = self.host.config
        entries = config["plugins"].setdefault("entries", {})
        settings = {"endpoint": f"unix:{self.folder / 'wire.sock'}", "home": str(self.home), "timeoutMs": 3000}
        entries[ID] = {**entries.get(ID, {}), "enabled": True, "config": settings}
        entries["memory-core"] = {"enabled": False}
        config["plugins"]["allow"] = [ID]
        self.host.configure(config)

    def say(self, session: str, text: str) -> dict[str, Any]:
        """One turn; returns the first request that the model received for it."""
        before = len(self.model.requests)
        reply = self.host.say(session, text)
        assert reply.strip(), "an empty reply"
        assert len(self.model.requests) > before, f"the model was not asked: {reply}"
        return self.model.requests[before]

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Look again and again; `what` is what was not to be seen in time."""
        ends = time.monotonic() + LONGEST_S
        while not holds():
            check(time.monotonic() < ends, what)
            time.sleep(0.1)  # between two looks

    def calls(self, method: str, since: int = 0) -> list[dict[str, Any]]:
        """What the plugin asked the daemon for."""
        return [call["params"] for call in self.wire.calls[since:] if call["method"] == method]

    def hooks(self) -> list[str]:
        """What the daemon's journal has of the host's sessions."""
        return [item["metadata"]["hook"] for item in self.ask("list_lifecycle_journal", limit=1000)["results"]]

    def texts(self, session_id: str) -> list[str]:
        """All that a session of memory holds; nothing where there is none."""
        told = self._answer("memory_history", {"agentId": "main", "sessionId": session_id})
        entries = told["result"]["entries"] if "result" in told else []
        assert entries or told["error"]["data"]["kind"] == "not_found", told
        return [text for entry in entries for text in _texts(self, entry)]

    def session_id(self) -> str:
        """The host's id of the conversation that was assembled last."""
        return str(self.calls("assemble_context")[-1]["sessionId"])

    def close(self) -> None:
        self.host.stop()
        if self._daemon is not None:
            self.kill_daemon()
        self.wire.close()
        self.model.close()


def _texts(stage: Stage, entry: dict[str, Any]) -> list[str]:
    if entry["kind"] == "turn":
        return [entry["text"]]
    below = stage.ask("memory_expand", agentId="main", id=entry["id"], limit=1000)
    return [item["text"] for item in below["items"]]


def command_of_the_guide(begins: str) -> list[str]:
    """The arguments of one of the commands that take a user from nothing to a remembered fact."""
    lines = (ROOT / "docs" / "guide" / "openclaw.md").read_text().splitlines()
    found = next(line for line in lines if line.startswith(begins))
    return shlex.split(found, comments=True)[1:]


def _substituted(word: str) -> str:
    """As a shell does with the command that says where the plugin lies."""
    inner = re.fullmatch(r"\$\(libravdb (.+)\)", word)
    if inner is None:
        return word
    command = [sys.executable, "-m", "libravdb_memory", *inner[1].split()]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


# ── looking at a request ─────────────────────────────────────────────────────────────────────────────────────────────


def system_of(request: dict[str, Any]) -> str:
    return "\n".join(_text(message) for message in request["messages"] if message["role"] in ("system", "developer"))


def said_in(request: dict[str, Any]) -> list[str]:
    """What was said, without what the host puts around it in a prompt: the hour before, a line on itself behind."""
    texts = [_text(message) for message in request["messages"] if message["role"] not in ("system", "developer")]
    return [_AROUND.sub("", text) for text in texts if not text.startswith(_OF_THE_HOST)]


def result_in(request: dict[str, Any]) -> str:
    """The newest result of a tool."""
    return [_text(message) for message in request["messages"] if message["role"] == "tool"][-1]


def frame(request: dict[str, Any], name: str) -> str:
    """What stands in one of memory's frames, empty if the frame is not there."""
    _, _, after = system_of(request).partition(f"<{name}")
    return after.partition(f"</{name}>")[0]


def tokens_of(request: dict[str, Any]) -> int:
    """As providers count, roughly: four characters each, tools included."""
    texts = [_text(message) for message in request["messages"]]
    return (sum(map(len, texts)) + len(json.dumps(request.get("tools") or []))) // 4


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts) + json.dumps(message.get("tool_calls") or "")
