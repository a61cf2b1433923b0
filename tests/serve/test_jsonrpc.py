"""The frames of the protocol: any bytes, in any pieces."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.serve import jsonrpc
from libravdb_memory.serve.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_DEPTH,
    MAX_VALUES,
    PARSE_ERROR,
    BadFrame,
    FrameReader,
    Request,
    encode_error,
    encode_request,
    encode_result,
    read_frame,
)

LIMIT = 40

requests = st.builds(
    lambda number, text: json.dumps({"jsonrpc": "2.0", "id": number, "method": text or "m"}).encode(),
    st.integers(0, 9),
    st.text(max_size=4),
)
lines = st.one_of(
    st.binary(max_size=LIMIT + 5),
    requests,
    st.sampled_from([b"", b"  ", b"\r", b"[]", b"{}", b"null", b"x" * LIMIT, b"x" * (LIMIT + 1), b"\xff"]),
)
streams = st.lists(lines, max_size=6).map(b"\n".join)


def in_pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(cut, len(stream)) for cut in cuts})
    return [stream[start:end] for start, end in zip([0, *places], [*places, len(stream)], strict=True)]


def reference(stream: bytes) -> list[Request | BadFrame]:
    """What the stream holds, cut in one go."""
    found: list[Request | BadFrame] = []
    for line in stream.split(b"\n"):
        if len(line) > LIMIT:
            found.append(BadFrame(INVALID_REQUEST, f"invalid request: a frame may have at most {LIMIT} bytes"))
        elif line.strip():
            found.append(read_frame(line))
    return found


@given(streams, st.lists(st.integers(0, 200), max_size=8))
def test_any_bytes_in_any_pieces_give_the_same_frames_and_little_is_held(stream: bytes, cuts: list[int]) -> None:
    reader = FrameReader(LIMIT)
    found: list[Request | BadFrame] = []
    for piece in in_pieces(stream, cuts):
        found += reader.feed(piece)
        assert reader.held_bytes <= LIMIT
    found += reader.end()
    assert found == reference(stream)


@given(st.binary(max_size=300))
def test_any_line_is_a_request_or_is_told_what_is_wrong(line: bytes) -> None:
    found = read_frame(line)
    assert isinstance(found, Request) or found.message.startswith("invalid ")


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.integers(0), st.text(min_size=1), st.dictionaries(st.text(), json_values, max_size=3))
def test_what_is_written_is_read_again_as_it_was(number: int, method: str, params: dict[str, Any]) -> None:
    line = encode_request(number, method, params)
    assert line.count(b"\n") == 1
    assert list(FrameReader().feed(line)) == [Request(method, params, number)]


@given(json_values)
def test_an_answer_is_one_line_of_json(result: Any) -> None:
    line = encode_result("a", result)
    assert line.endswith(b"\n") and b"\n" not in line[:-1]
    assert json.loads(line) == {"jsonrpc": "2.0", "id": "a", "result": result}


def test_half_a_surrogate_pair_is_carried_through() -> None:
    found = read_frame(rb'{"id":1,"method":"m","params":{"text":"\ud83d"}}')
    assert isinstance(found, Request)
    assert json.loads(encode_result(1, dict(found.params)))["result"]["text"] == "\ud83d"


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"not json", PARSE_ERROR, None),
        (b'{"id":1,', PARSE_ERROR, None),
        (b'{"id":NaN,"method":"m"}', PARSE_ERROR, None),
        (b'{"id":1,"method":"m","params":{"a":1e999}}', PARSE_ERROR, None),
        (b"\xff\xfe", PARSE_ERROR, None),
        (b"[" * 100_000, PARSE_ERROR, None),
        (b'{"id":1,"method":"m","params":{"a":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}}", PARSE_ERROR, None),
        (b"9" * 5000, PARSE_ERROR, None),
        (b"[]", INVALID_REQUEST, None),
        (b"3", INVALID_REQUEST, None),
        (b'{"id":{},"method":"m"}', INVALID_REQUEST, None),
        (b'{"id":true,"method":"m"}', INVALID_REQUEST, None),
        (b'{"id":7}', INVALID_REQUEST, 7),
        (b'{"id":7,"method":""}', INVALID_REQUEST, 7),
        (b'{"id":7,"jsonrpc":"1.0","method":"m"}', INVALID_REQUEST, 7),
        (b'{"id":7,"method":"m","params":[]}', INVALID_PARAMS, 7),
    ],
)
def test_a_bad_frame_is_told_with_its_id_where_it_has_one(line: bytes, code: int, request_id: object) -> None:
    found = read_frame(line)
    assert isinstance(found, BadFrame)
    assert (found.code, found.id) == (code, request_id)


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1\r", b"POST /a?b=c HTTP/1.0", b"PRI * HTTP/2.0\r"])
def test_a_browser_is_recognised_by_its_first_line(line: bytes) -> None:
    found = read_frame(line)
    assert isinstance(found, BadFrame) and found.is_http
    other = read_frame(b'"' + line)
    assert isinstance(other, BadFrame) and not other.is_http


def test_nesting_up_to_the_bound_is_taken() -> None:
    inside = MAX_DEPTH - 2  # the frame and its params are two levels
    line = b'{"id":1,"method":"m","params":{"a":' + b"[" * inside + b"]" * inside + b"}}"
    assert isinstance(read_frame(line), Request)
    assert isinstance(read_frame(line.replace(b"[]", b"[[]]")), BadFrame)


@pytest.mark.parametrize("value", [b"[]", b"{}", b"1", b'""', b'"\\""', b'{"a":1}', b'"\\\\"'])
def test_more_values_than_the_bound_are_refused_before_any_is_made(value: bytes) -> None:
    line = b'{"id":1,"method":"m","params":{"a":[' + (value + b",") * MAX_VALUES + value + b"]}}"
    assert read_frame(line) == BadFrame(PARSE_ERROR, f"invalid request: more than {MAX_VALUES} values")


def test_a_full_frame_of_tiny_values_takes_little_more_memory_than_its_bytes() -> None:
    line = b'{"id":1,"method":"m","params":{"a":[' + b"[]," * (8 << 20) + b"[]]}}"
    tracemalloc.start()
    try:
        assert isinstance(read_frame(line), BadFrame)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(line)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", ["[],", '{"a": [1, 2]}, ', "\\", '\\"', ',"\\\\",'])
def test_what_looks_like_values_within_a_text_is_text(text: str) -> None:
    params = {"text": text * MAX_VALUES, "after": [1, "b,[", {}]}
    assert read_frame(encode_request(1, "m", params)) == Request("m", params, 1)


@given(st.lists(json_values, max_size=40))
def test_no_more_separators_are_counted_than_there_are_values(values: list[Any]) -> None:
    def count(value: Any) -> int:
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return 1 + sum(map(count, inside))

    bound = count({"id": 1, "method": "m", "params": {"a": values}})
    line = json.dumps({"id": 1, "method": "m", "params": {"a": values}}).encode()
    with mock.patch.object(jsonrpc, "MAX_VALUES", 2 * bound):
        assert isinstance(read_frame(line), Request)
    with mock.patch.object(jsonrpc, "MAX_VALUES", max((bound - 1) // 2 - 1, 0)):
        assert isinstance(read_frame(line), BadFrame)


def test_params_may_be_null_or_absent_and_a_request_without_id_wants_no_answer() -> None:
    assert read_frame(b'{"method":"m","params":null}') == Request("m", {}, None, wants_answer=False)
    assert read_frame(b'{"id":null,"method":"m"}') == Request("m", {}, None, wants_answer=True)


def test_a_frame_over_the_limit_is_told_once_and_the_next_one_is_read() -> None:
    reader = FrameReader(LIMIT)
    found = [frame for _ in range(100) for frame in reader.feed(b"x" * 30)]
    assert len(found) == 1 and reader.held_bytes == 0
    assert list(reader.feed(b'\n{"id":1,"method":"m"}\n')) == [Request("m", {}, 1)]


def test_an_error_never_has_an_empty_message() -> None:
    assert json.loads(encode_error(1, -32603, ""))["error"]["message"]
    assert json.loads(encode_error(1, -32000, "gone", {"id": "x"}))["error"]["data"] == {"id": "x"}
