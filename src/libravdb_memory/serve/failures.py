"""The code of every class of error on the wire.

Law: the first row that an error is an instance of decides; so a row stands above those of its parents. Whatever is not
among them is a fault of ours: the client is told so, and the log has the rest.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from libravdb_memory.errors import (
    AmbiguousIdError,
    ConfigError,
    ConflictError,
    EngineError,
    InvalidInputError,
    LibraVDBError,
    NotFoundError,
    RulesOverrunError,
    StoreClosedError,
    StoreError,
    StoreFullError,
)
from libravdb_memory.identity import Json
from libravdb_memory.serve.access import AccessDeniedError
from libravdb_memory.serve.fields import InvalidParamsError
from libravdb_memory.serve.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS

NOT_FOUND, AMBIGUOUS, CONFLICT, RULES_OVERRUN, ACCESS_DENIED = -32001, -32002, -32003, -32004, -32005
STORE, STORE_FULL, ENGINE, BUSY, STOPPING = -32010, -32011, -32020, -32030, -32031

INTERNAL = "internal"
"""The kind of what is a fault of ours."""
INVALID_PARAMS_PREFIX = "invalid params: "

BY_ERROR: tuple[tuple[type[LibraVDBError], int], ...] = (
    (InvalidParamsError, INVALID_PARAMS),
    (InvalidInputError, INVALID_PARAMS),
    (NotFoundError, NOT_FOUND),
    (AmbiguousIdError, AMBIGUOUS),
    (ConflictError, CONFLICT),
    (RulesOverrunError, RULES_OVERRUN),
    (AccessDeniedError, ACCESS_DENIED),
    (StoreClosedError, STOPPING),
    (StoreFullError, STORE_FULL),
    (StoreError, STORE),
    (EngineError, ENGINE),
    (ConfigError, INTERNAL_ERROR),
    (LibraVDBError, INTERNAL_ERROR),
)


class Failure(NamedTuple):
    """An error as it is answered. An unexpected one must be looked into."""

    code: int
    message: str
    data: dict[str, Json]
    expected: bool = True


def failure_of(error: Exception) -> Failure:
    if not isinstance(error, LibraVDBError):
        message = f"internal error: {type(error).__name__}"
        return Failure(INTERNAL_ERROR, message, {"kind": INTERNAL}, expected=False)
    code = next(code for kind, code in BY_ERROR if isinstance(error, kind))
    data: dict[str, Json] = {"kind": kind_of(type(error))}
    if error.hint:
        data["hint"] = error.hint
    prefix = INVALID_PARAMS_PREFIX if isinstance(error, InvalidInputError) else ""
    return Failure(code, f"{prefix}{error.message}", data)


def kind_of(error: type[LibraVDBError]) -> str:
    """StoreFullError is store_full."""
    name = error.__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
