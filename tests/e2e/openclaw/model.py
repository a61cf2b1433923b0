"""A language model that costs nothing: an OpenAI-compatible endpoint on loopback that remembers every request.

It answers with the same sentence, unless told which tool to call next.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "Understood."


@dataclass(frozen=True)
class ToolCall:
    name: str
    arguments: dict[str, Any]


class Model:
    """`requests` are the bodies of all calls, in order."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.next_calls: deque[ToolCall] = deque()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def answer(self, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        with self._lock:
            self.requests.append(body)
            after_a_tool = _roles_after_the_assistant(body) >= {"tool"}
            call = self.next_calls.popleft() if self.next_calls and body.get("tools") and not after_a_tool else None
        if call is None:
            return {"role": "assistant", "content": ANSWER}, "stop"
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        asked = {"index": 0, "id": f"call_{time.time_ns()}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [asked]}, "tool_calls"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _roles_after_the_assistant(body: dict[str, Any]) -> set[str]:
    roles = [str(message["role"]) for message in body.get("messages", [])]
    return set(roles[len(roles) - roles[::-1].index("assistant") :] if "assistant" in roles else roles)


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._json({"object": "list", "data": [{"id": "mock-model", "object": "model"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            message, reason = model.answer(body)
            size = len(json.dumps(body.get("messages", []))) // 4
            usage = {"prompt_tokens": size, "completion_tokens": 5, "total_tokens": size + 5}
            told = {"id": f"mock-{time.time_ns()}", "created": int(time.time()), "model": "mock-model"}
            if not body.get("stream"):
                choice = {"index": 0, "message": message, "finish_reason": reason}
                self._json({**told, "object": "chat.completion", "choices": [choice], "usage": usage})
                return
            told["object"] = "chat.completion.chunk"
            first = {**told, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
            last = {**told, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
            self._stream([first, last, {**told, "choices": [], "usage": usage}])

        def _json(self, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, pieces: list[dict[str, Any]]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for piece in pieces:
                self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True

    return Handler
