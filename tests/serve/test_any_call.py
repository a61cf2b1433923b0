"""Whatever is sent to whatever method is answered, and never by a fault of ours."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.serve.conftest import fits

from libravdb_memory import Memory, load_config
from libravdb_memory.serve.access import SAME_USER, Access
from libravdb_memory.serve.calls import Answer, read_call, run
from libravdb_memory.serve.fields import json_schema
from libravdb_memory.serve.jsonrpc import BadFrame, Request, read_frame
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.table import every_method

TABLE = every_method()
NAMES = sorted(
    set(TABLE) - {"backup", "verify", "job_start"}
)  # those write files and take long; they have tests of their own
INTERNAL = -32603

words = st.sampled_from(["ada", "s1", "t1", "turns:ada", "user:ada", "session:s1", "global", "", " ", "\ud800", "\0"])
texts = words | st.text(max_size=12)
leaves = st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts
anything: st.SearchStrategy[Any] = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)


def fitting(schema: Any) -> st.SearchStrategy[Any]:
    """Values of the right kind, mostly."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds: dict[Any, st.SearchStrategy[Any]] = {
        "string": texts,
        "integer": st.integers(-1, 30) | st.integers(-(2**53), 2**53),
        "number": st.floats(-1, 2) | st.integers(-(2**53), 2**53),
        "boolean": st.booleans(),
        None: anything,
    }
    if schema.get("type") == "array":
        return st.lists(fitting(schema["items"]), max_size=3)
    if schema.get("type") == "object":
        own = {name: fitting(inner) for name, inner in schema.get("properties", {}).items()}
        if own:
            return st.fixed_dictionaries({}, optional=own)
        return st.dictionaries(texts, fitting(schema.get("additionalProperties", {})), max_size=3)
    return kinds[schema.get("type")]


def params_of(name: str) -> st.SearchStrategy[Any]:
    schema: Any = json_schema(TABLE[name].params)
    own = {key: fitting(inner) | anything for key, inner in schema["properties"].items()}
    needed = {key: own.pop(key) for key in schema.get("required", ())}
    return st.fixed_dictionaries(needed, optional=own)


calls = st.sampled_from(NAMES).flatmap(lambda name: st.tuples(st.just(name), params_of(name)))


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with tempfile.TemporaryDirectory() as folder:
        environ = {"LIBRAVDB_HOME": str(Path(folder)), "LIBRAVDB_EMBEDDING_BACKEND": "hashed"}
        config = load_config(environ=environ)
        with Memory.open(config=config) as memory:
            yield Service.of(memory, config, lambda: time.time_ns() // 1_000_000)


def answer_to(service: Service, name: str, params: Any, access: Access = SAME_USER) -> Any:
    frame = read_frame(json.dumps({"id": 1, "method": name, "params": params}).encode())
    if isinstance(frame, BadFrame):
        return {"error": {"code": frame.code, "message": frame.message}}
    assert isinstance(frame, Request)
    call = read_call(TABLE, frame, access)
    return json.loads((call if isinstance(call, Answer) else run(service, call)).line)


@pytest.mark.parametrize("examples", [400, pytest.param(100_000, marks=pytest.mark.long)])
def test_any_call_is_answered_as_its_method_says_and_never_by_a_fault_of_ours(service: Service, examples: int) -> None:
    @settings(max_examples=examples)
    @given(calls)
    def law(call: tuple[str, Any]) -> None:
        answer = answer_to(service, *call)
        assert ("result" in answer) != ("error" in answer)
        if "result" in answer:
            fits(TABLE[call[0]].result, answer["result"])
        if "error" in answer:
            assert answer["error"]["code"] != INTERNAL, answer
            assert answer["error"]["message"]

    law()


@settings(max_examples=200)
@given(calls)
def test_a_token_without_namespaces_sees_nothing_of_anybody(service: Service, call: tuple[str, Any]) -> None:
    service.memory.ingest("kumquat marmalade", user="ada", session="s1", id="t1")
    answer = json.dumps(answer_to(service, *call, Access("stranger", frozenset({"nobody at all"}))))
    assert "kumquat marmalade" not in answer
