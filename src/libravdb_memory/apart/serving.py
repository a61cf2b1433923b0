"""The process of its own: it makes one object and does what it is called for, each call in a thread.

Laws: it ends when the pipe does, when its parent is gone, or when nobody has called for a while, without waiting for
anything. While it runs it says so every second, however long its calls take; so it ends at once where it can read no
more calls, or can answer one with nothing at all, for it would be waited for in vain. A call for which no thread can be
had is refused alone. It writes nothing to the parent's output; what it logs is logged there. Interrupts are the
parent's affair.

It goes behind others, and while somebody is at work in the parent it keeps off one processor. Linux has a class of
threads that run only where nobody else wants to; it is not used: who wakes up where such a thread runs is taken to have
a processor to himself, and then waits for up to 4 ms until it is taken from it.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, NoReturn

from libravdb_memory.apart.frames import (
    Alive,
    Answer,
    Begin,
    Begun,
    Call,
    Failure,
    Frame,
    GiveUp,
    NoProcessError,
    Pipe,
    Question,
    Told,
)
from libravdb_memory.engines.places import places
from libravdb_memory.errors import EngineError
from libravdb_memory.nimble import go_behind_others, nimble

_log = logging.getLogger(__name__)
LINGER_S = 60.0
_LOOK_S = 1.0
_MOST_CALLS = 32


def main(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    go_behind_others()
    places.keep_off_one()
    with nimble():
        Desk(_own_pipe()).run(parent)


def _own_pipe() -> Pipe:
    """Standard input and output, which nobody else may then use: what a library prints goes to standard error."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return Pipe(open(incoming, "rb"), open(outgoing, "wb"))  # noqa: PTH123 - descriptors, for as long as it runs


class Desk:
    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._object: object = None
        self._guard = threading.Lock()
        self._busy = 0
        self._idle_since = time.monotonic()
        self._given_up: set[int] = set()
        self._refused: set[int] = set()
        self._asked: dict[int, SimpleQueue[Any]] = {}
        self._at = threading.local()
        self._threads = ThreadPoolExecutor(_MOST_CALLS, "libravdb-apart")

    def run(self, parent: int) -> None:
        logging.basicConfig(handlers=[_ToParent(self)], level=logging.INFO, format="%(message)s")
        if os.name != "posix":  # another program may stand between the two
            parent = os.getppid()
        threading.Thread(target=self._watch, args=(parent,), name="libravdb-apart-watch", daemon=True).start()
        try:
            while True:
                self._take(self._pipe.receive())
        except (EOFError, OSError):
            os._exit(0)
        except BaseException:  # threads that wait for an answer would be waited for, for ever
            _end_at_once("reads no more")

    def ask(self, *arguments: Any) -> Any:
        """What the parent answers whoever works at a call."""
        answered: SimpleQueue[Any] = SimpleQueue()
        with self._guard:
            self._asked[self._at.call] = answered
        self.send(Question(self._at.call, arguments))
        frame = answered.get()
        if isinstance(frame, Failure):
            raise frame.error
        return frame.value

    def send(self, frame: Frame) -> None:
        """Raises what pickling raises."""
        try:
            self._pipe.send(frame)
        except OSError:  # nobody is there any more
            os._exit(0)

    def _take(self, frame: Frame) -> None:
        match frame:
            case Begin():
                self._begin(frame)
            case Call():
                if frame.live:
                    places.arrived()
                self._engage(frame)
            case GiveUp():
                with self._guard:
                    self._given_up.add(frame.number)
            case Answer() | Failure():
                with self._guard:
                    answered = self._asked.pop(frame.number)
                answered.put(frame)
            case _:
                raise AssertionError(frame)

    def _begin(self, begin: Begin) -> None:
        try:
            self._object = begin.make(self.ask)
        except Exception as error:  # it is raised where the object is wanted
            self.send(Begun(portable(error)))
            os._exit(1)  # before a call is read that would find no object
        else:
            self.send(Begun())

    def _engage(self, call: Call) -> None:
        refusal: NoProcessError | None = None
        with self._guard:  # nobody begins with it before it is known whether it was refused
            try:
                self._threads.submit(self._do, call)
                self._busy += 1
            except RuntimeError as error:  # it stands in the queue all the same, for whoever is free next
                self._refused.add(call.number)
                refusal = NoProcessError(f"the process apart has no thread for it: {error}")
        if refusal is not None:
            self.send(Failure(call.number, refusal))

    def _do(self, call: Call) -> None:
        with self._guard:
            if call.number in self._refused:
                self._refused.discard(call.number)
                return
        try:
            self._answer(call)
        except BaseException:  # not even a failure could be told
            _end_at_once("cannot answer")

    def _answer(self, call: Call) -> None:
        self._at.call = call.number
        try:
            method = getattr(self._object, call.method)
            value = method(*call.arguments, cancelled=lambda: call.number in self._given_up)
            self.send(Answer(call.number, value))
        except BaseException as error:  # it is raised where it was called
            self.send(Failure(call.number, portable(error)))
        finally:
            with self._guard:
                self._given_up.discard(call.number)
                self._busy -= 1
                self._idle_since = time.monotonic()

    def _watch(self, parent: int) -> None:
        while True:
            self.send(Alive())
            time.sleep(_LOOK_S)
            with self._guard:
                idle = not self._busy and time.monotonic() - self._idle_since > LINGER_S
            if idle or os.getppid() != parent:
                os._exit(0)


def _end_at_once(why: str) -> NoReturn:
    try:
        _log.exception("the process apart %s, and ends", why)
    finally:
        os._exit(1)


def portable(error: BaseException) -> BaseException:
    """The error itself where it can travel, else one that says the same."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever an error's own pickling does
        return EngineError(repr(error))
    return error


class _ToParent(logging.Handler):
    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk

    def emit(self, record: logging.LogRecord) -> None:
        self._desk.send(Told(record.name, record.levelno, self.format(record)))


if sys.platform == "win32":  # pragma: no cover - newlines are not to be translated there
    import msvcrt

    for descriptor in (0, 1):
        msvcrt.setmode(descriptor, os.O_BINARY)
