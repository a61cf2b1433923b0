"""One JSON request over HTTP, with a deadline, bounded size and patience.

Laws:

1. A call ends: every wait and the reading of the answer are limited, attempts are counted, pauses are capped.
2. Only what may pass by itself is tried again: 429, 5xx, a refused or cut connection. Not a timeout, whose waiting
   would multiply, and not a redirect, which could carry the key to another host.
3. The key is sent and never shown: no message holds it, even when the server echoes it.
4. Nor does a message, or what it was raised from, hold anything else that was sent; see refusals.py.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from libravdb_memory.engines.refusals import Sent, words_of

_TRANSIENT = frozenset({429, 500, 502, 503, 504})
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_CHUNK = 1 << 16


class RequestFailed(Exception):
    """`status` is the server's, when it answered; `pause_s` is what it asked for, when it did."""

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        transient: bool = False,
        timed_out: bool = False,
        pause_s: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.transient = transient
        self.timed_out = timed_out
        self.pause_s = pause_s


def _ignored(_: socket.socket) -> None:
    """Nobody wants to see the connections."""


@dataclass(frozen=True, slots=True)
class JsonClient:
    """Stateless, so safe from any thread. `opened` is shown each connection, and may refuse it with RequestFailed."""

    url: str
    key: str = ""
    timeout_s: float = 30.0
    retries: int = 3
    most_bytes: int = 256 << 20
    sleep: Callable[[float], None] = time.sleep
    connect_timeout_s: float | None = None
    opened: Callable[[socket.socket], None] = _ignored

    def post(self, body: object) -> Any:
        """The decoded answer. Raises RequestFailed."""
        raw, sent = json.dumps(body).encode(), Sent(body, self.key)
        attempt = 0
        while True:
            try:
                return _decoded(self._attempt(raw, sent))
            except RequestFailed as failure:
                if not failure.transient or attempt >= self.retries:
                    raise
                self.sleep(_pause(attempt, failure.pause_s))
                attempt += 1

    def _attempt(self, raw: bytes, sent: Sent) -> bytes:
        try:
            return self._exchange(raw, sent)
        except TimeoutError:
            failed = RequestFailed(f"no answer within {self.timeout_s:g} s", timed_out=True)
        except (OSError, UnicodeError, http.client.HTTPException) as error:
            failed = RequestFailed(f"the connection failed ({_kind(error)})", transient=True)
        raise failed  # not from the error, which may hold a line of the answer

    def _exchange(self, raw: bytes, sent: Sent) -> bytes:
        deadline = time.monotonic() + self.timeout_s
        connection = self._connection()
        try:
            self._connect(connection)
            connection.request("POST", _target(self.url), raw, self._headers())
            with connection.getresponse() as response:
                answer = self._read(response, deadline)
        finally:
            connection.close()
        kind = response.headers.get("Content-Type", "")
        if response.status != 200:
            raise RequestFailed(
                f"the endpoint answered {_named(response.status)}{words_of(answer, kind, sent)}",
                status=response.status,
                transient=response.status in _TRANSIENT,
                pause_s=_seconds(response.headers.get("Retry-After", "")),
            )
        if not _is_json(kind):
            raise RequestFailed(f"the answer is {sent.kind(kind)}, not JSON")
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        return kind(parts.hostname or "", parts.port, timeout=self.connect_timeout_s or self.timeout_s)

    def _connect(self, connection: http.client.HTTPConnection) -> None:
        try:
            connection.connect()
        except TimeoutError as error:
            raise RequestFailed(f"no connection within {connection.timeout:g} s", timed_out=True) from error
        connection.sock.settimeout(self.timeout_s)
        self.opened(connection.sock)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        return headers | ({"Authorization": f"Bearer {self.key}"} if self.key else {})

    def _read(self, response: http.client.HTTPResponse, deadline: float) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while chunk := response.read1(_CHUNK):
            chunks.append(chunk)
            size += len(chunk)
            if time.monotonic() > deadline:
                raise TimeoutError
            if size > self.most_bytes:
                raise RequestFailed(f"the answer is longer than {self.most_bytes} bytes")
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        return b"".join(chunks)


def _decoded(answer: bytes) -> Any:
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        pass  # what is raised now must not hold the answer, which is made of what was sent
    raise RequestFailed(f"the answer is not JSON ({len(answer):,} bytes)")


def _named(status: int) -> str:
    """In the words of the standard: those of the server may be anything."""
    known = {each.value: each.phrase for each in HTTPStatus}
    return f"{status} {known.get(status, '')}".rstrip()


def _target(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _is_json(content_type: str) -> bool:
    """A server that does not say is believed."""
    kind = content_type.split(";")[0].strip().lower()
    return kind in ("", "application/json", "text/json") or kind.endswith("+json")


def _kind(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__


def _pause(attempt: int, asked_s: float | None) -> float:
    return min(_FIRST_PAUSE_S * 2**attempt if asked_s is None else asked_s, _LONGEST_PAUSE_S)


def _seconds(retry_after: str) -> float | None:
    """Retry-After is a number of seconds or a date."""
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        moment = email.utils.parsedate_to_datetime(retry_after).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return max(moment - time.time(), 0.0)
