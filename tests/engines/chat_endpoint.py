"""A chat endpoint on loopback that answers as it is told to, above all badly."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), asked))
        self.server.arrived.set()
        answers = self.server.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def reply(self, status: int, body: bytes, message: str | None = None, **headers: str) -> None:
        self.send_response(status, message)
        for name, value in ({"Content_Type": "application/json"} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def wait_until_the_client_is_gone(self) -> None:
        while self.connection.recv(1):
            pass
        self.server.client_gone.set()

    def log_message(self, *_: Any) -> None:
        pass


class Endpoint(ThreadingHTTPServer):
    daemon_threads = False  # closing the server waits for its threads

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = [says("nothing new")]
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.arrived = threading.Event()
        self.client_gone = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/"

    def handle_error(self, *_: Any) -> None:
        """Cut connections are part of the tests."""


def raw(body: bytes, **headers: str) -> Answer:
    return lambda handler: handler.reply(200, body, **headers)


def value(answer: object) -> Answer:
    return raw(json.dumps(answer).encode())


def says(content: object, ending: str = "stop", usage: object = None, **more: object) -> Answer:
    message = {"role": "assistant", "content": content} | more
    return value({"choices": [{"index": 0, "message": message, "finish_reason": ending}], "usage": usage})


def status(code: int, body: bytes = b"sorry", message: str | None = None, **headers: str) -> Answer:
    return lambda handler: handler.reply(code, body, message, **headers)


def hang(handler: Handler) -> None:
    handler.wait_until_the_client_is_gone()


def hang_in_the_headers(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-")
    handler.wait_until_the_client_is_gone()


def hang_in_the_body(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wait_until_the_client_is_gone()


def cut(handler: Handler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def cut_in_the_body(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    cut(handler)


def cut_in_a_chunk(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100\r\n" + b'{"choices": [')
    cut(handler)


def endless(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" " * 65536)
    except OSError:
        handler.server.client_gone.set()


@contextmanager
def serving() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
