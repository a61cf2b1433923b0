"""Every error the library raises, in one tree.

    LibraVDBError
    ├── InvalidInputError        a value was refused; names the field           (also ValueError)
    ├── NotFoundError            no record has that id                          (also KeyError)
    ├── AmbiguousIdError         the id alone names several records
    ├── ConflictError            the id exists with other content
    │   └── StaleVersionError    a compare-and-swap lost the race
    ├── RulesOverrunError        hard rules cost more than their share of the budget
    ├── ConfigError              a setting is unknown or has a bad value
    ├── StoreError               the data file and what happens to it
    │   ├── StoreLockedError     another process owns it; names its pid
    │   ├── ForeignFileError     the file there is not ours; it was left untouched
    │   ├── StoreTooNewError     written by a newer version
    │   ├── StoreReadOnlyError   the file or its folder cannot be written
    │   ├── StoreFullError       the disk or a quota is full; nothing acknowledged was lost
    │   ├── StoreCorruptError    a page, hash or index does not hold what it must
    │   ├── StoreClosedError     used after close()
    │   └── AppendOnlyError      raw history may be erased, never edited
    └── EngineError              models and endpoints that embed or summarise
        ├── ModelUnavailableError  a model cannot be loaded or reached
        │   └── ModelTimeoutError  it did not answer in time
        ├── TextRefusedError     the engine works but cannot take this text
        ├── AnswerUnusableError  the engine answered, with nothing that can be kept
        ├── CallCancelledError   the caller no longer wants the answer
        ├── ProcessLostError     the process that does the work ended, again and again
        └── FingerprintMismatchError  the store was embedded in another space

The facts of an error are attributes; the message is made from them, and the hint says what to do next. Printed, an
error is both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from libravdb_memory.spent import NOTHING, Spent

if TYPE_CHECKING:
    from pathlib import Path


SALVAGE = (
    "'libravdb restore BACKUP' puts a backup in its place, 'libravdb export --salvage FILE' saves what can be read"
)


class LibraVDBError(Exception):
    """Root of everything this library raises on purpose."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """By its facts: constructors take other arguments than the message that is made of them."""
        return _remade, (type(self), self.args), self.__dict__


def _remade(kind: type[LibraVDBError], args: tuple[object, ...]) -> LibraVDBError:
    error = kind.__new__(kind)
    error.args = args
    return error


class InvalidInputError(LibraVDBError, ValueError):
    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class NotFoundError(LibraVDBError, KeyError):
    def __init__(self, record_id: str, reason: str = "") -> None:
        super().__init__(reason or f"no record has the id {record_id!r}")
        self.record_id = record_id

    def __str__(self) -> str:
        return str(self.args[0])


class AmbiguousIdError(LibraVDBError):
    def __init__(self, record_id: str, candidates: int, sessions: tuple[str, ...] = ()) -> None:
        where = f", in the sessions {', '.join(map(repr, sessions))}" if sessions else ""
        more = "session" if sessions else "user and session"
        super().__init__(f"the id {record_id!r} names {candidates} records{where}", f"give its {more} too")
        self.record_id = record_id
        self.candidates = candidates
        self.sessions = sessions


class ConflictError(LibraVDBError):
    def __init__(self, record_id: str, reason: str = "exists with other content") -> None:
        super().__init__(f"the id {record_id!r} {reason}")
        self.record_id = record_id


class StaleVersionError(ConflictError):
    def __init__(self, record_id: str, expected: int, found: int) -> None:
        super().__init__(record_id, f"is at version {found}, not {expected}")
        self.expected = expected
        self.found = found


class RulesOverrunError(LibraVDBError):
    def __init__(self, document: str, detail: str, excess: int) -> None:
        super().__init__(f"{document} was not loaded: {detail}", "shorten them or raise assembly.startup_budget")
        self.document = document
        self.excess = excess


class ConfigError(LibraVDBError):
    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"setting {key}: {reason}")
        self.key = key
        self.reason = reason


class StoreError(LibraVDBError):
    """The data file and what happens to it."""


class StoreLockedError(StoreError):
    def __init__(self, path: Path, pid: int | None) -> None:
        owner = f"process {pid}" if pid is not None else "another process"
        super().__init__(f"{path} is in use by {owner}", "stop it first, or talk to it instead")
        self.path = path
        self.pid = pid


class ForeignFileError(StoreError):
    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} is not a LibraVDB Memory store ({reason}); it was left untouched")
        self.path = path
        self.reason = reason


class StoreTooNewError(StoreError):
    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(f"{path} has schema {found}, this version knows up to {known}", "upgrade libravdb-memory")
        self.path = path
        self.found = found
        self.known = known


class StoreReadOnlyError(StoreError):
    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} cannot be written", "check its permissions and those of its folder")
        self.path = path


class StoreFullError(StoreError):
    def __init__(self, path: Path) -> None:
        super().__init__(
            f"no space left for {path}; the write was refused whole and nothing stored before is lost",
            "make room on that disk and try again; nothing needs to be restarted",
        )
        self.path = path


class StoreCorruptError(StoreError):
    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(f"{path} is damaged: {detail}", SALVAGE)
        self.path = path
        self.detail = detail


class StoreClosedError(StoreError):
    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is closed")
        self.path = path


class AppendOnlyError(StoreError):
    def __init__(self, record_id: str) -> None:
        super().__init__(f"the record {record_id!r} is raw history: it can be erased, never edited")
        self.record_id = record_id


class EngineError(LibraVDBError):
    """Models and endpoints that embed or summarise. `spent` is what the failed call of one that summarises came to;
    nothing where none was made."""

    spent: Spent = NOTHING

    def costing(self, spent: Spent) -> Self:
        """The same, with what was spent."""
        self.spent = spent
        return self


class ModelUnavailableError(EngineError):
    def __init__(self, model: str, reason: str) -> None:
        super().__init__(f"model {model} is not available: {reason}")
        self.model = model
        self.reason = reason


class ModelTimeoutError(ModelUnavailableError):
    """`reason` says what was waited for, and how long."""


class AnswerUnusableError(EngineError):
    """`excess` is what an answer that is far too long costs, and the most that it might."""

    def __init__(self, model: str, reason: str, excess: tuple[int, int] | None = None) -> None:
        super().__init__(f"model {model} gave an answer that cannot be used: {reason}")
        self.model = model
        self.reason = reason
        self.excess = excess


class CallCancelledError(EngineError):
    def __init__(self, model: str) -> None:
        super().__init__(f"the call of model {model} was cancelled")
        self.model = model


class ProcessLostError(EngineError):
    """`work` is what the process was asked for, `how` it ended the last time."""

    def __init__(self, work: str, how: str) -> None:
        super().__init__(
            f"the process that was to {work} {how}, again and again",
            "compaction.own_process = false does the work in the same process",
        )
        self.work = work
        self.how = how


class TextRefusedError(EngineError):
    def __init__(self, model: str, reason: str) -> None:
        super().__init__(f"model {model} refused a text: {reason}")
        self.model = model
        self.reason = reason


class FingerprintMismatchError(EngineError):
    def __init__(self, stored: str, configured: str) -> None:
        super().__init__(
            f"the store is embedded with {stored}, the configuration asks for {configured}",
            "configure the stored model, or run 'libravdb reindex' to re-embed",
        )
        self.stored = stored
        self.configured = configured
