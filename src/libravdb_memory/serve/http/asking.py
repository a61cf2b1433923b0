"""Calls of the method table on behalf of HTTP requests: read, allowed, ordered and counted like all others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from libravdb_memory.identity import Json
from libravdb_memory.serve.access import Access
from libravdb_memory.serve.calls import Answer, read_call
from libravdb_memory.serve.dispatch import Dispatcher
from libravdb_memory.serve.failures import (
    ACCESS_DENIED,
    AMBIGUOUS,
    BUSY,
    CONFLICT,
    NOT_FOUND,
    RULES_OVERRUN,
    STOPPING,
    STORE_FULL,
)
from libravdb_memory.serve.jsonrpc import INVALID_PARAMS, UNKNOWN_METHOD, Request
from libravdb_memory.serve.methods import Table
from libravdb_memory.serve.service import Service

_STATUS: Mapping[int, int] = {
    INVALID_PARAMS: 400,
    ACCESS_DENIED: 403,
    NOT_FOUND: 404,
    UNKNOWN_METHOD: 404,
    AMBIGUOUS: 409,
    CONFLICT: 409,
    RULES_OVERRUN: 422,
    STORE_FULL: 507,
    BUSY: 503,
    STOPPING: 503,
}


@dataclass(frozen=True, slots=True)
class Told:
    """An answer as HTTP tells it: with a result, or with an error of JSON-RPC."""

    status: int
    result: dict[str, Any] | None
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    service: Service
    table: Table
    dispatcher: Dispatcher

    async def ask(self, method: str, params: Mapping[str, Json], access: Access) -> Told:
        call = read_call(self.table, Request(method, params, 0), access)
        if isinstance(call, Answer):
            self.service.metrics.count("calls_refused")
            return _told(call)
        if (at_once := self.dispatcher.at_once(call)) is not None:
            return _told(at_once)
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def done(answer: Answer) -> None:
            if not answered.done():  # who asked may have left
                answered.set_result(answer)

        self.dispatcher.submit(call, done, access)
        return _told(await answered)


def _told(answer: Answer) -> Told:
    form: dict[str, Any] = json.loads(answer.line)
    error: dict[str, Any] | None = form.get("error")
    if error is None:
        return Told(200, form["result"])
    return Told(_STATUS.get(error["code"], 500), None, error)
