"""What a client does, step by step, without saying how it waits.

A script yields what it needs from the world, calls and work on the disk, and is sent what came of it; a blocking driver
and an asynchronous one run the same scripts. Law: of calls yielded together, each has one outcome, in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.identity import Json

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """`timeout_s` None is the client's own."""

    method: str
    params: Mapping[str, Json]
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Asks:
    """Sent at once. Sent back: for each, its result or its error."""

    calls: tuple[Ask, ...]


@dataclass(frozen=True, slots=True)
class Disk:
    """Work that may block for a moment. `undo` takes a result that nobody waits for any more."""

    work: Callable[[], Any]
    undo: Callable[[Any], None] = lambda _: None


Script: TypeAlias = Generator[Asks | Disk, Any, T]


@dataclass(frozen=True, slots=True)
class Job(Generic[T]):
    """Jobs of the same order are done one after the other."""

    script: Script[T]
    order: str | None = None


def ask(method: str, params: Mapping[str, Json], timeout_s: float | None = None) -> Script[dict[str, Any]]:
    outcomes: list[dict[str, Any] | LibraVDBError] = yield Asks((Ask(method, params, timeout_s),))
    if isinstance(outcomes[0], LibraVDBError):
        raise outcomes[0]
    return outcomes[0]


def on_disk(work: Callable[[], T], undo: Callable[[T], None] = lambda _: None) -> Script[T]:
    done: T = yield Disk(work, undo)
    return done
