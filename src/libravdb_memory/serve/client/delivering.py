"""Storing what was said: at once where the daemon answers, else on disk, and from there later.

Laws: what was said arrives once, because its id is made before the first attempt, and in its session's order, because
nothing is sent at once while anything waits on disk, and nothing of a session is sent before what was said in it before
is answered. What the daemon refuses for good is set aside, and keeps nothing else waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from libravdb_memory.errors import LibraVDBError
from libravdb_memory.serve.client.core import RefusedError, UnavailableError, encode_call
from libravdb_memory.serve.client.entries import Entry, Placed, write_entry
from libravdb_memory.serve.client.locks import FileLock
from libravdb_memory.serve.client.scripts import Ask, Asks, Script, ask, on_disk
from libravdb_memory.serve.client.spool import DAMAGED, REFUSED, Batch, Spool
from libravdb_memory.serve.failures import CONFLICT
from libravdb_memory.serve.fields import parse
from libravdb_memory.serve.methods import Table

_AT_ONCE = 32
_LARGE = 1 << 20
BESIDE_A_CALL_S = 1.0
"""How long a call may be held up by what waited before it."""


@dataclass(frozen=True, slots=True)
class Stored:
    """`delivered` False: it waits on disk, and `note` says why. `result` is the daemon's answer, where there is one."""

    id: str | None
    delivered: bool
    note: str = ""
    result: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An entry that was set aside, as it stood in the spool."""

    raw: bytes
    error: LibraVDBError


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of the entries that waited. `note` says why some still do."""

    delivered: int = 0
    refused: tuple[Refusal, ...] = ()
    damaged: int = 0
    finished: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class Desk:
    """What storing needs beside the daemon."""

    spool: Spool
    table: Table
    now_s: Callable[[], float]


def order_of(desk: Desk, entry: Entry) -> str:
    """The line that the daemon would put it in; parameters that no daemon takes are refused here."""
    method = desk.table[entry.method]
    return method.order(parse(method.params, entry.params)) or ""


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def store(desk: Desk, entry: Entry, name: str | None) -> Script[Stored]:
    note = ""
    if not (yield from on_disk(desk.spool.pending)):
        try:
            answer = yield from ask(entry.method, entry.params)
            return Stored(answer.get("id") or name, True, result=answer)
        except UnavailableError as error:
            note = error.message
        except RefusedError as error:
            if not error.may_pass:
                raise
            note = error.message
    yield from on_disk(partial(desk.spool.append, entry))
    if note:
        return Stored(name, False, note)
    delivery = yield from deliver(desk, BESIDE_A_CALL_S)
    for refusal in delivery.refused:
        if refusal.raw == write_entry(entry):
            raise refusal.error
    return Stored(name, delivery.finished, delivery.note)


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Tally:
    def __init__(self) -> None:
        self.delivered = self.damaged = 0
        self.refused: list[Refusal] = []

    def told(self, note: str = "") -> Delivery:
        return Delivery(self.delivered, tuple(self.refused), self.damaged, not note, note)


def deliver(desk: Desk, within_s: float | None = None) -> Script[Delivery]:
    """Hand over what waits, for so long at most."""
    if not (yield from on_disk(desk.spool.pending)):
        return Delivery()
    claim = yield from on_disk(desk.spool.claim, _let_go)
    if claim is None:
        return Delivery(finished=False, note="another client delivers what waits")
    try:
        return (yield from _deliver_all(desk, None if within_s is None else desk.now_s() + within_s))
    finally:
        claim.release()


def _let_go(claim: FileLock | None) -> None:
    if claim is not None:
        claim.release()


def _deliver_all(desk: Desk, until: float | None) -> Script[Delivery]:
    tally = _Tally()
    while (batch := (yield from on_disk(desk.spool.next_batch))) is not None:
        if note := (yield from _deliver_batch(desk, batch, until, tally)):
            return tally.told(note)
    return tally.told()


def _deliver_batch(desk: Desk, batch: Batch, until: float | None, tally: _Tally) -> Script[str]:
    """Why it broke off, if it did; what was done until then is noted."""
    done, note = 0, ""
    for window in _windows(desk, batch.placed):
        if until is not None and desk.now_s() > until:
            note = "more waits on disk, and goes with the next calls"
            break
        count, note = yield from _deliver_window(desk, window, tally)
        done += count
        if note:
            break
    if not note:
        yield from on_disk(partial(desk.spool.done, batch.segment, batch.end))
    elif done:
        yield from on_disk(partial(desk.spool.done, batch.segment, batch.placed[done - 1].end))
    return note


def _windows(desk: Desk, placed: Sequence[Placed]) -> Iterator[list[Placed]]:
    """Runs of entries of which no two are of one session, so that one that fails has overtaken nothing."""
    window: list[Placed] = []
    orders: set[str] = set()
    for each in placed:
        order = _order(desk, each)
        large = len(each.raw) > _LARGE
        if window and (order in orders or len(window) == _AT_ONCE or large):
            yield window
            window, orders = [], set()
        window.append(each)
        orders.add(order)
        if large:
            yield window
            window, orders = [], set()
    if window:
        yield window


def _order(desk: Desk, placed: Placed) -> str:
    """What no daemon can take is of no session: it is refused by itself."""
    try:
        return f"{placed.end}" if placed.entry is None else "\n" + order_of(desk, placed.entry)
    except (LibraVDBError, KeyError):
        return f"{placed.end}"


def _deliver_window(desk: Desk, window: Sequence[Placed], tally: _Tally) -> Script[tuple[int, str]]:
    """How many of the first of them are dealt with, and why no more."""
    sent = [placed.entry for placed in window if placed.entry is not None]
    outcomes = iter((yield Asks(tuple(map(_asked, sent)))) if sent else ())
    for index, placed in enumerate(window):
        if placed.entry is None:
            yield from on_disk(partial(desk.spool.set_aside, placed.raw, DAMAGED))
            tally.damaged += 1
            continue
        outcome = yield from _settled(placed.entry, next(outcomes))
        if isinstance(outcome, UnavailableError) or (isinstance(outcome, RefusedError) and outcome.may_pass):
            return index, outcome.message
        if isinstance(outcome, LibraVDBError):
            yield from on_disk(partial(desk.spool.set_aside, placed.raw, REFUSED))
            tally.refused.append(Refusal(placed.raw, outcome))
        else:
            tally.delivered += 1
    return len(window), ""


def check_entry(entry: Entry) -> None:
    """That it can be sent, also later: what no daemon could read must not wait for one."""
    asked = _asked(entry)
    encode_call(10**12, asked.method, asked.params)


def _asked(entry: Entry) -> Ask:
    """As it was said then; a time that the host gave stays."""
    timed = entry.method == "ingest_message" and entry.params.get("ts") is None
    return Ask(entry.method, {**entry.params, "ts": entry.said_ms} if timed else entry.params)


def _settled(entry: Entry, outcome: Any) -> Script[Any]:
    """The first attempt may have been carried out, with a time of the daemon's own: without ours it is the same."""
    asked = _asked(entry)
    if not (isinstance(outcome, RefusedError) and outcome.code == CONFLICT) or asked.params is entry.params:
        return outcome
    (again,) = yield Asks((Ask(entry.method, entry.params),))
    return again
