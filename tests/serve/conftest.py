"""Fixtures of the daemon's tests: a service on a real store, and calls into it without sockets."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeAlias, cast

import jsonschema
import numpy  # noqa: F401 - Hypothesis looks at it, also while a background thread is halfway through importing it
import pytest
from tests.serve.process import Daemons, short_folder

from libravdb_memory import Memory
from libravdb_memory.config import Config
from libravdb_memory.serve import inspecting, own
from libravdb_memory.serve.access import SAME_USER, Access
from libravdb_memory.serve.calls import Answer, read_call, run
from libravdb_memory.serve.jsonrpc import Request
from libravdb_memory.serve.methods import table_of
from libravdb_memory.serve.service import Service
from libravdb_memory.serve.shapes import Shapes

Call: TypeAlias = Callable[..., Any]


@cache
def validator(kind: Any) -> jsonschema.Draft202012Validator:
    """Of a result, strictly: nothing may be told that its type does not know."""
    shapes = Shapes("#/$defs/{}".format)
    schema = shapes.of(kind)
    strict = {name: {"additionalProperties": False, **cast(Any, one)} for name, one in shapes.named.items()}
    jsonschema.Draft202012Validator.check_schema({**schema, "$defs": strict})
    return jsonschema.Draft202012Validator({**schema, "$defs": strict})


def fits(kind: Any, result: Any) -> None:
    wrong = [f"{'.'.join(map(str, error.path))}: {error.message}" for error in validator(kind).iter_errors(result)]
    assert not wrong, wrong


@pytest.fixture
def service(hashed: Config) -> Iterator[Service]:
    with Memory.open(config=hashed) as memory:
        yield Service.of(memory, hashed, lambda: time.time_ns() // 1_000_000)


@pytest.fixture
def ask(service: Service) -> Call:
    """The whole answer to a call: with `result` or with `error`."""
    table = table_of([*own.METHODS, *inspecting.METHODS])

    def asked(method: str, params: Any = None, access: Access = SAME_USER) -> Any:
        call = read_call(table, Request(method, params or {}, 7), access)
        answer = json.loads((call if isinstance(call, Answer) else run(service, call)).line)
        if "result" in answer:
            fits(table[method].result, answer["result"])
        return answer

    return asked


@pytest.fixture
def call(ask: Call) -> Call:
    """The result of a call that must succeed."""

    def called(method: str, access: Access = SAME_USER, **params: Any) -> Any:
        answer = ask(method, params, access)
        assert "error" not in answer, answer
        return answer["result"]

    return called


@pytest.fixture
def daemons() -> Iterator[Daemons]:
    """Starts real daemons on one home."""
    with short_folder() as folder:
        started = Daemons(folder / "home")
        try:
            yield started
        finally:
            started.end()
