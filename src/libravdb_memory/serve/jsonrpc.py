"""Newline-delimited JSON-RPC 2.0, without sockets: bytes in, requests out; answers in, bytes out.

Laws: whatever bytes come, in whatever pieces, the reader raises nothing and holds no more than one frame: a frame over
the limit is told once and skipped up to its end. One line is one frame; blank lines are none. A frame that is no
request is told with the reason and, where it has one, with its id, so that it can be answered. A request without id
wants no answer. Whatever was read can be written: no number without end, no nesting without bottom. What a frame costs
to read is bounded by more than its bytes: a value of two bytes takes fifty times as many in memory, so values are
counted before any is made.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeGuard, cast

from libravdb_memory.identity import Json

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603

MAX_FRAME_BYTES = 16 << 20
MAX_DEPTH = 128
MAX_VALUES = 1 << 17
_LONGEST_ID = 256
_HTTP = re.compile(rb"[A-Z]+ \S* ?HTTP/\d")

Id: TypeAlias = str | int | float | None


@dataclass(frozen=True, slots=True)
class Request:
    """`id` is None for a notification: nobody waits for an answer."""

    method: str
    params: Mapping[str, Json] = field(default_factory=dict[str, Json])
    id: Id = None
    wants_answer: bool = True


@dataclass(frozen=True, slots=True)
class BadFrame:
    """What came instead of a request, with the error to answer. `is_http`: a browser is at the other end, and the next
    line may be one that a web page wrote; it must not be read."""

    code: int
    message: str
    id: Id = None
    is_http: bool = False


class FrameReader:
    """Cuts a stream of bytes into frames. `limit` may be changed while they are taken: it holds for what follows."""

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self.limit = limit
        self._held = bytearray()
        self._skipping = False

    @property
    def held_bytes(self) -> int:
        return len(self._held)

    def feed(self, data: bytes) -> Iterator[Request | BadFrame]:
        """The frames that end in this piece."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            yield from self._take(data[start:end])
            if not self._skipping:
                yield from self._finish()
            self._skipping = False
            start = end + 1
        yield from self._take(data[start:])

    def end(self) -> Iterator[Request | BadFrame]:
        """The stream is over: a last line without a line end is a frame too."""
        if not self._skipping:
            yield from self._finish()

    def _take(self, piece: bytes) -> Iterator[BadFrame]:
        if self._skipping or not piece:
            return
        if len(self._held) + len(piece) > self.limit:
            self._held, self._skipping = bytearray(), True
            yield BadFrame(INVALID_REQUEST, f"invalid request: a frame may have at most {self.limit} bytes")
        else:
            self._held += piece

    def _finish(self) -> Iterator[Request | BadFrame]:
        line, self._held = self._held, bytearray()
        if line.strip():
            yield read_frame(line)


def read_frame(line: bytes | bytearray) -> Request | BadFrame:
    frame = read_object(line)
    return frame if isinstance(frame, BadFrame) else _request(frame)


def read_object(data: bytes | bytearray) -> dict[str, Json] | BadFrame:
    """The JSON object that these bytes are."""
    try:
        _check_values(data)
        value = cast(Json, json.loads(data.decode(), parse_constant=_refuse_constant, parse_float=_finite))
        if data.count(b"[") + data.count(b"{") > MAX_DEPTH:
            _check_depth(value)
    except RecursionError:
        return BadFrame(PARSE_ERROR, f"invalid request: {_TOO_DEEP}")
    except ValueError as error:  # JSON and UTF-8 errors are among them
        return BadFrame(PARSE_ERROR, f"invalid request: {error}", is_http=_HTTP.match(data) is not None)
    if not isinstance(value, dict):
        kind = "a batch" if isinstance(value, list) else type(value).__name__
        return BadFrame(INVALID_REQUEST, f"invalid request: must be an object, not {kind}")
    return value


def _request(frame: Mapping[str, Json]) -> Request | BadFrame:
    given = frame.get("id")
    if not _is_id(given):
        return BadFrame(INVALID_REQUEST, "invalid request: id must be a short text or a number")
    method, params = frame.get("method"), frame.get("params")
    if frame.get("jsonrpc", "2.0") != "2.0":
        return BadFrame(INVALID_REQUEST, 'invalid request: jsonrpc must be "2.0"', given)
    if not isinstance(method, str) or not method:
        return BadFrame(INVALID_REQUEST, "invalid request: method must be text", given)
    if params is None:
        params = {}
    if not isinstance(params, dict):
        return BadFrame(INVALID_PARAMS, "invalid params: must be an object", given)
    return Request(method, params, given, wants_answer="id" in frame)


def _is_id(value: Json) -> TypeGuard[Id]:
    if isinstance(value, str):
        return len(value) <= _LONGEST_ID
    if isinstance(value, bool):
        return False
    return value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _finite(digits: str) -> float:
    if math.isinf(value := float(digits)):
        raise ValueError("a number is too great")
    return value


def _check_values(data: bytes | bytearray) -> None:
    """Every value but the first follows a comma or an opening bracket. Most texts hold few of them; where there are
    many, only those outside of strings count."""
    if _separators(data) <= MAX_VALUES:
        return
    bare = data.replace(rb"\\", b"").replace(rb"\"", b"")
    if bare.count(b'"') > 4 * MAX_VALUES or _separators(b"".join(bare.split(b'"')[::2])) > MAX_VALUES:
        raise ValueError(f"more than {MAX_VALUES} values")


def _separators(data: bytes | bytearray) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")


_TOO_DEEP = f"nested more than {MAX_DEPTH} deep"


def _check_depth(value: Json) -> None:
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


def _inside(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def encode_request(request_id: int, method: str, params: Mapping[str, Json]) -> bytes:
    return _line({"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)})


def encode_result(request_id: Id, result: Json) -> bytes:
    return _line({"jsonrpc": "2.0", "id": request_id, "result": result})


def encode_error(request_id: Id, code: int, message: str, data: Mapping[str, Json] | None = None) -> bytes:
    """A message is never empty: clients take an error without one for a success."""
    error: dict[str, Json] = {"code": code, "message": message or "failed"}
    if data:
        error["data"] = dict(data)
    return _line({"jsonrpc": "2.0", "id": request_id, "error": error})


def _line(value: Mapping[str, Json]) -> bytes:
    try:
        return _dumped(value, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, which only an escape can carry
        return _dumped(value, ensure_ascii=True).encode() + b"\n"


def _dumped(value: Mapping[str, Json], *, ensure_ascii: bool) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"), allow_nan=False)
