"""Run Claude Code itself with our hooks, a model that is none on loopback, and a temporary home.

python tools/claude_code_check.py PATH/TO/node_modules

Shows on the requests that the model receives: what was told in one session is recalled in the next, framed as
untrusted; and on the store: each message is there once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from libravdb_memory.serve.client import Client
from libravdb_memory.serve.lifetime import stop

_PATIENCE_S = 180
_ANSWER = "Understood."


class Model(BaseHTTPRequestHandler):
    """Says one sentence to everything, and keeps what it was asked."""

    asked: list[str] = []  # noqa: RUF012 - one model for all requests

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
            self._tell("application/json", b'{"input_tokens": 1}')
            return
        self.asked.append(body)
        self._tell("text/event-stream", _stream(json.loads(body).get("model", "")))

    def do_GET(self) -> None:
        self._tell("application/json", b"{}")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def _tell(self, kind: str, answer: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def _stream(model: str) -> bytes:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": _ANSWER}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def main() -> int:
    found = sorted(Path(sys.argv[1]).absolute().glob("@anthropic-ai/claude-code-*/claude"))
    if not found:
        sys.exit(f"no Claude Code for this machine is below {sys.argv[1]}; was it installed with its optional parts?")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="lv") as folder:
        home = Path(folder) / "home"
        try:
            _converse(found[0], Path(folder), home, server.server_address[1])
        finally:
            stop(home, 60)
            server.shutdown()
    return 0


def _converse(program: Path, folder: Path, home: Path, port: int) -> None:
    settings, environment = folder / "settings.json", _environment(folder, home, port)
    settings.write_text(json.dumps({"hooks": _hooks()}))

    def say(prompt: str) -> str:
        Model.asked.clear()
        done = subprocess.run(
            [str(program), "-p", prompt, "--settings", str(settings)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        if done.returncode or _ANSWER not in done.stdout:
            sys.exit(f"Claude Code failed: {done.stdout}{done.stderr}")
        return next(body for body in Model.asked if prompt in body)

    first = say("For the record: we deploy on Tuesdays, from the green machine.")
    second = say("On which day do we deploy?")
    assert "green machine" not in first.replace("from the green machine.", "", 1)
    assert "green machine" in second and "Untrusted history" in second, second
    with Client(home=home) as client:
        hits = client.search("green machine", user="local", k=50)["results"]
        assert sum("green machine" in hit["text"] for hit in hits) == 1
        assert client.status()["turns"] == 4
    print("two sessions of Claude Code: told in the first, recalled in the second, framed, each message stored once")


def _hooks() -> dict[str, Any]:
    ours = f"{sys.executable} -m libravdb_memory hook"
    names = {"SessionStart": "session-start", "UserPromptSubmit": "user-prompt-submit", "Stop": "stop"}
    return {event: [{"hooks": [{"type": "command", "command": f"{ours} {name}"}]}] for event, name in names.items()}


def _environment(folder: Path, home: Path, port: int) -> Mapping[str, str]:
    """Nothing of the person who runs this: neither settings nor keys."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LIBRAVDB_HOME": str(home),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


if __name__ == "__main__":
    sys.exit(main())
