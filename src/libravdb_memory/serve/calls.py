"""A request on its way through the table: read, allowed, run, answered.

Laws: every request that wants an answer gets exactly one line, whatever happens to it. Parameters are read and access
is checked here and nowhere else.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any

from libravdb_memory.serve.access import Access
from libravdb_memory.serve.failures import failure_of
from libravdb_memory.serve.fields import parse
from libravdb_memory.serve.jsonrpc import UNKNOWN_METHOD, Id, Request, encode_error, encode_result
from libravdb_memory.serve.methods import Method, Table
from libravdb_memory.serve.service import Service

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose parameters were read. `arrived` is on the monotonic clock."""

    method: Method[Any]
    params: Any
    id: Id
    wants_answer: bool
    access: Access
    order: str | None
    arrived: float


@dataclass(frozen=True, slots=True)
class Answer:
    """`line` is empty when nobody waits for one; `failure` names the class of what went wrong."""

    line: bytes
    failure: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.failure)


def read_call(table: Table, request: Request, access: Access) -> Call | Answer:
    """The call, or what to answer instead."""
    method = table.get(request.method)
    if method is None:
        name = request.method if len(request.method) <= 100 else f"{request.method[:100]}…"
        return _refusal(request.id, request.wants_answer, UNKNOWN_METHOD, f"unknown method: {name}")
    try:
        params = parse(method.params, request.params)
        order = method.order(params)
    except Exception as error:  # a name may be refused already here
        return failed(request.id, request.wants_answer, error, method=method.name)
    return Call(method, params, request.id, request.wants_answer, access, order, time.monotonic())


def run(service: Service, call: Call) -> Answer:
    """The outermost frame of a call: whatever goes wrong is answered."""
    answer: Answer
    try:
        seen = service.seen_by(call.access.namespaces)
        call.access.check(seen, call.method, call.params)
        result = call.method.run(seen, call.params)
        answer = Answer(encode_result(call.id, result) if call.wants_answer else b"")
    except Exception as error:
        answer = failed(call.id, call.wants_answer, error, method=call.method.name)
    seconds = time.monotonic() - call.arrived
    service.metrics.called(call.method.name, seconds, failed=answer.failed, kind=answer.failure)
    return answer


def failed(request_id: Id, wants_answer: bool, error: Exception, *, method: str = "") -> Answer:
    failure = failure_of(error)
    if not failure.expected:
        _log.error("%s failed: %r", method or "a call", error, exc_info=error)
    line = encode_error(request_id, failure.code, failure.message, failure.data) if wants_answer else b""
    return Answer(line, str(failure.data["kind"]))


def _refusal(request_id: Id, wants_answer: bool, code: int, message: str) -> Answer:
    return Answer(encode_error(request_id, code, message) if wants_answer else b"", "unknown_method")
