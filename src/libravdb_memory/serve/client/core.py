"""The state of a client, without sockets: calls that wait for answers, and when to try a daemon that was away.

Laws: every call is resolved exactly once, by its answer, by the loss of its connection or by its time-out. Answers may
come in any order; one to a call that nobody waits for is dropped. Whatever is no answer ends the connection, and raises
nothing. After a failure the circuit is open for a pause between 0.5 s and a bound that doubles up to 16 s; then one
attempt is let through (half-open), and the first answer of the daemon closes it again. `now` and chance are arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from libravdb_memory.errors import InvalidInputError, LibraVDBError
from libravdb_memory.identity import Json
from libravdb_memory.serve.failures import BUSY, STOPPING, STORE, STORE_FULL
from libravdb_memory.serve.jsonrpc import MAX_FRAME_BYTES, BadFrame, encode_request, read_frame

CALL_TIMEOUT_S = 30.0
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 16.0
_MAX_ANSWER_BYTES = 256 << 20


class UnavailableError(LibraVDBError):
    """Nobody answered; whether the call was carried out is not known."""


class RefusedError(LibraVDBError):
    """The daemon answered with an error. `kind` names its class, as in `not_found`."""

    def __init__(self, code: int, message: str, kind: str = "", hint: str = "") -> None:
        super().__init__(message, hint)
        self.code = code
        self.kind = kind

    @property
    def may_pass(self) -> bool:
        """The same call may succeed later: it is the daemon's condition that is refused, not the call."""
        return self.code in (BUSY, STOPPING, STORE, STORE_FULL)


Outcome: TypeAlias = dict[str, Any] | RefusedError | UnavailableError
Done: TypeAlias = Callable[[Outcome], object]


# ── when to try ──────────────────────────────────────────────────────────────────────────────────────────────────


def pause_s(failures: int, chance: float) -> float:
    """Between the shortest pause and a bound that doubles with each failure; `chance` in [0, 1] says where."""
    bound = min(LONGEST_PAUSE_S, SHORTEST_PAUSE_S * (1 << min(failures, 10)))
    return SHORTEST_PAUSE_S + chance * (bound - SHORTEST_PAUSE_S)


@dataclass(frozen=True, slots=True)
class Circuit:
    failures: int = 0
    retry_at: float = 0.0

    def state(self, now: float) -> Literal["closed", "open", "half-open"]:
        if not self.failures:
            return "closed"
        return "open" if now < self.retry_at else "half-open"

    def failed(self, now: float, chance: float) -> Circuit:
        failures = self.failures + 1
        return Circuit(failures, now + pause_s(failures, chance))

    def tried(self, now: float, patience_s: float) -> Circuit:
        """An attempt begins: until it is decided, or its time is over, there is no second one."""
        return Circuit(self.failures, now + patience_s)


class Reach:
    """Whether the daemon may be tried, learned from what happened before."""

    def __init__(self, now: Callable[[], float], chance: Callable[[], float]) -> None:
        self._now, self._chance = now, chance
        self.circuit = Circuit()
        self._reason = ""

    def begin(self, patience_s: float) -> None:
        """Before a connection is made; raises while the circuit is open."""
        now = self._now()
        if self.circuit.state(now) == "open":
            wait_s = self.circuit.retry_at - now
            raise UnavailableError(f"{self._reason}; not tried again for {wait_s:.1f} s")
        self.circuit = self.circuit.tried(now, patience_s)

    def failed(self, reason: str) -> None:
        self._reason = reason
        self.circuit = self.circuit.failed(self._now(), self._chance())

    def answered(self) -> None:
        self.circuit = Circuit()


# ── calls and answers ────────────────────────────────────────────────────────────────────────────────────────────


def encode_call(call_id: int, method: str, params: Mapping[str, Json]) -> bytes:
    """A line that a daemon can read; what none could is refused here, by name."""
    try:
        line = encode_request(call_id, method, params)
        read = read_frame(line)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(method, f"the parameters are not JSON ({error})") from None
    if len(line) > MAX_FRAME_BYTES:
        raise InvalidInputError(method, f"a call may have at most {MAX_FRAME_BYTES} bytes, this one has {len(line)}")
    if isinstance(read, BadFrame):
        raise InvalidInputError(method, read.message)
    return line


@dataclass(frozen=True, slots=True)
class _Waiting:
    deadline: float
    done: Done


class Line:
    """One connection: what was asked on it and is not answered yet."""

    def __init__(self) -> None:
        self._last = 0
        self._waiting: dict[int, _Waiting] = {}
        self._held = bytearray()
        self.failure: UnavailableError | None = None

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def call(self, method: str, params: Mapping[str, Json], deadline: float, done: Done) -> bytes:
        """The bytes to send. On a connection that is lost, the call is resolved at once."""
        line = encode_call(self._last + 1, method, params)
        if self.failure is not None:
            done(self.failure)
            return b""
        self._last += 1
        self._waiting[self._last] = _Waiting(deadline, done)
        return line

    def feed(self, data: bytes) -> None:
        """Resolve the calls whose answers end in this piece."""
        start = len(self._held)
        self._held += data
        if len(self._held) > _MAX_ANSWER_BYTES and b"\n" not in data:
            self.fail("the daemon sent an answer without end")
        while self.failure is None and (end := self._held.find(b"\n", start)) >= 0:
            frame, start = bytes(self._held[:end]), 0
            del self._held[: end + 1]
            if frame.strip():
                self._answer(frame)

    def fail(self, reason: str) -> None:
        """The connection is of no use any more; the first reason counts."""
        if self.failure is not None:
            return
        self.failure = UnavailableError(reason)
        self._held.clear()
        waiting, self._waiting = self._waiting, {}
        for call in waiting.values():
            call.done(self.failure)

    def expire(self, now: float) -> bool:
        """Give the connection up when a call on it is overdue: later ones would wait as long."""
        overdue = any(call.deadline <= now for call in self._waiting.values())
        if overdue:
            self.fail("the daemon did not answer in time")
        return overdue

    def _answer(self, frame: bytes) -> None:
        try:
            value = cast(object, json.loads(frame))
        except (ValueError, RecursionError):
            value = None
        outcome = _outcome(cast(dict[str, object], value)) if isinstance(value, dict) else None
        if outcome is None:
            self.fail("what answers there is no daemon")
            return
        call_id = cast(dict[str, object], value).get("id")
        if call_id is None and isinstance(outcome, RefusedError):
            self._refused(outcome)
        elif isinstance(call_id, int) and (call := self._waiting.pop(call_id, None)) is not None:
            call.done(outcome)

    def _refused(self, error: RefusedError) -> None:
        """An error without id is about a line that the daemon could not read, or about the whole connection."""
        if len(self._waiting) == 1 and not error.may_pass:
            self._waiting.popitem()[1].done(error)
        else:
            self.fail(f"the daemon refused: {error.message}")


def _outcome(answer: Mapping[str, object]) -> Outcome | None:
    error, result = answer.get("error"), answer.get("result")
    if isinstance(error, dict):
        return _refusal(cast(dict[str, object], error))
    return cast(dict[str, Any], result) if isinstance(result, dict) else None


def _refusal(error: Mapping[str, object]) -> RefusedError:
    code, given = error.get("code"), error.get("data")
    data = cast(dict[str, object], given) if isinstance(given, dict) else {}
    message, kind, hint = str(error.get("message") or "failed"), str(data.get("kind", "")), str(data.get("hint", ""))
    return RefusedError(code if isinstance(code, int) else 0, message, kind, hint)
