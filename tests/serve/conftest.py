"""Fixtures of the daemon's tests: a service on a real store, and calls into it without sockets."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

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

Call: TypeAlias = Callable[..., Any]


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
        return json.loads((call if isinstance(call, Answer) else run(service, call)).line)

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
