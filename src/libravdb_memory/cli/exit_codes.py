"""The exit code of every class of error.

Law: the first row that an error is an instance of decides; so a row stands above those of its parents.
"""

from __future__ import annotations

from libravdb_memory.errors import (
    AmbiguousIdError,
    ConfigError,
    ConflictError,
    EngineError,
    InvalidInputError,
    LibraVDBError,
    NotFoundError,
    StoreError,
)

OK = 0
PROBLEMS_FOUND = 1
USAGE = 2
INTERRUPTED = 130
CLOSED_PIPE = 141
UNEXPECTED = 70
NOT_WRITTEN = 74

BY_ERROR: tuple[tuple[type[LibraVDBError], int], ...] = (
    (InvalidInputError, USAGE),
    (ConfigError, USAGE),
    (NotFoundError, 3),
    (AmbiguousIdError, 3),
    (ConflictError, 4),
    (StoreError, 5),
    (EngineError, 6),
    (LibraVDBError, USAGE),
)


def exit_code_of(error: LibraVDBError) -> int:
    return next(code for kind, code in BY_ERROR if isinstance(error, kind))
