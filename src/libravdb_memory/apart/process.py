"""A process of its own, as seen by the one that starts it.

Laws: a call that takes long is waited for as long as the process runs, and no longer: one of which nothing is heard (it
is stopped, or swapped out) is ended, and the call is made again by the next, as after one that ended by itself. Nothing
waits for a process that does not read.
"""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any, TypeAlias, cast

from libravdb_memory.apart.frames import (
    Alive,
    Answer,
    Ask,
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
    packed,
)
from libravdb_memory.errors import CallCancelledError, ProcessLostError
from libravdb_memory.store.forking import abandon_in_children

__all__ = ["Apart", "Ask", "NoProcessError", "refuse_unknown_program"]

_log = logging.getLogger(__name__)
Cancelled: TypeAlias = Callable[[], bool]
_Heard: TypeAlias = "SimpleQueue[Answer | Failure | Question | None]"
_NOTICE_S = 0.05
"""How soon it is seen that a call is to be given up."""
_GRACE_S = 5.0
"""How long one that is given up may take to end before its process is ended."""
_CLOSING_S = 2.0
_SILENCE_S = 15.0
"""After so long without a sign one that runs is taken to be stuck; it gives one every second."""
_STARTING = 4
"""Until the first sign, so many times as long: a disk may be slow."""
_TRIES = 3
"""One may have ended because nobody called, and one by accident."""


class _EndedError(Exception):
    """The process ended before it answered."""

    def __init__(self, how: str, begun: bool) -> None:
        super().__init__(how)
        self.begun = begun


class Apart:
    """`make` and what methods take and give must pickle. `answer` is asked when the object asks back, `is_live` with
    every call whether somebody is at work here who is not to wait for a processor. Safe to use from many threads; the
    process is started by the first call, and ended when nothing is heard of it for `silence_s` while one is waited
    for."""

    def __init__(
        self,
        make: Callable[[Ask], object],
        answer: Callable[..., object],
        is_live: Callable[[], bool] = lambda: False,
        silence_s: float = _SILENCE_S,
    ) -> None:
        self._make = make
        self._answer = answer
        self._is_live = is_live
        self._silence_s = silence_s
        self._guard = threading.Lock()
        self._running: _Running | None = None
        self._closed = False
        abandon_in_children(self)

    @property
    def pid(self) -> int | None:
        """Of the process, while there is one."""
        running = self._running
        return running.pid if running is not None and not running.ended else None

    def call(self, method: str, *arguments: Any, cancelled: Cancelled, patience_s: float = math.inf) -> Any:
        """What the method answers or raises. Raises NoProcessError where no process can be had, and ProcessLostError
        where one after the other ends without an answer; CallCancelledError where one ends that is given up, and once
        this is closed; TimeoutError when it takes too long."""
        how = ""
        for attempt in range(_TRIES):
            try:
                return self._started().call(method, arguments, self._is_live(), cancelled, patience_s)
            except _EndedError as ended:
                if self._closed or cancelled():
                    raise CallCancelledError("compaction") from ended
                if not ended.begun:
                    raise NoProcessError(str(ended)) from ended
                how = str(ended)
                if attempt or how != _IDLE:
                    _log.warning("the process that does %s %s", method, how)
        raise ProcessLostError(method, how)

    def close(self) -> None:
        """End the process. What is under way is not waited for."""
        with self._guard:
            running, self._running, self._closed = self._running, None, True
        if running is not None:
            running.close()

    def abandon(self) -> None:
        """In a forked child: the process is its parent's."""
        self._guard = threading.Lock()
        self._running, self._closed = None, True

    def _started(self) -> _Running:
        with self._guard:
            if self._closed:
                raise CallCancelledError("compaction")
            if self._running is None or self._running.ended:
                self._running = _Running(_popen(), self._make, self._answer, self._silence_s)
            return self._running


_IDLE = "ended"


class _Running:
    """One process, its pipe, and the thread that reads from it."""

    def __init__(
        self, process: subprocess.Popen[bytes], make: Callable[[Ask], object], answer: Ask, silence_s: float
    ) -> None:
        self._process = process
        self._answer = answer
        self._silence_s = silence_s
        self._signs = 0
        self._stuck = False
        self._pipe = Pipe(cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stdin))
        self._guard = threading.Lock()
        self._numbers = count(1)
        self._waiting: dict[int, _Heard] = {}
        self._begun = False
        self._refused: BaseException | None = None
        self.ended = False
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        reader = threading.Thread(target=self._read, name="libravdb-apart", daemon=True)
        try:
            reader.start()
            threading.Thread(target=self._write, name="libravdb-apart-out", daemon=True).start()
        except RuntimeError as error:
            process.kill()
            process.wait()
            if reader.ident is None:  # else it closes the pipe
                self._pipe.close()
            raise NoProcessError(f"nobody could listen to it: {error}") from error
        self._send(Begin(make))

    @property
    def pid(self) -> int:
        return self._process.pid

    def call(self, method: str, arguments: tuple[Any, ...], live: bool, cancelled: Cancelled, patience_s: float) -> Any:
        heard: _Heard = SimpleQueue()
        number = next(self._numbers)
        with self._guard:
            if self.ended:
                raise self._end()
            self._waiting[number] = heard
        try:
            self._send(Call(number, method, arguments, live))
            frame = self._awaited(heard, number, cancelled, time.monotonic() + patience_s)
        finally:
            with self._guard:
                self._waiting.pop(number, None)
        if frame is None:
            raise self._end()
        if isinstance(frame, Failure):
            raise frame.error
        return frame.value

    def close(self) -> None:
        """Let it end by itself, or end it where it does not read what it was sent."""
        self._outbox.put(None)
        self._let_end()

    def _awaited(
        self, heard: _Heard, number: int, cancelled: Cancelled, patience_ends: float
    ) -> Answer | Failure | None:
        given_up_at: float | None = None
        silence = _Silence()
        while True:
            try:
                frame = heard.get(timeout=_NOTICE_S)
            except Empty:
                pass
            else:
                if not isinstance(frame, Question):
                    return frame
                self._tell(frame)
            now = time.monotonic()
            if now > patience_ends:
                self._send(GiveUp(number))
                raise TimeoutError
            if given_up_at is None and cancelled():
                given_up_at = now
                self._send(GiveUp(number))
            elif given_up_at is not None and now - given_up_at > _GRACE_S:
                self._process.kill()
            if silence.lasts_s(now, self._signs) > self._silence_s * (1 if self._signs else _STARTING):
                self._stuck = True
                self._process.kill()

    def _send(self, frame: Frame) -> None:
        """Never waits for the process. One that is gone is noticed by whoever waits for its answer."""
        self._outbox.put(packed(frame))

    def _write(self) -> None:
        try:
            while (raw := self._outbox.get()) is not None:
                self._pipe.write(raw)
            self._pipe.end()
        except (OSError, ValueError):  # it is gone, or about to be
            self._process.kill()
        except Exception as error:  # it would be asked nothing more, and waited for all the same
            _log.warning("the process apart is ended, for nothing more can be said to it: %r", error)
            self._process.kill()

    def _read(self) -> None:
        try:
            while True:
                self._take(self._pipe.receive())
        except EOFError:
            pass
        except Exception as error:  # whatever else comes than answers, the process is of no use
            _log.warning("the process apart says what is no answer: %r", error)
        finally:
            if self._process.poll() is None:
                self._let_end()
            with self._guard:
                self.ended = True
                for heard in self._waiting.values():
                    heard.put(None)
            self._outbox.put(None)
            with suppress(OSError):
                self._pipe.close()

    def _let_end(self) -> None:
        """It has closed its end, so it is about to end; else it is ended."""
        try:
            self._process.wait(_CLOSING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _take(self, frame: Frame) -> None:
        self._signs += 1
        match frame:
            case Alive():
                pass
            case Begun():
                self._begun, self._refused = frame.error is None, frame.error
            case Answer() | Failure() | Question():
                with self._guard:
                    heard = self._waiting.get(frame.number)
                if heard is not None:
                    heard.put(frame)
                elif isinstance(frame, Question):
                    self._send(Failure(frame.number, CallCancelledError("compaction")))
            case Told():
                logging.getLogger(frame.logger).log(frame.level, "%s", frame.message)
            case _:
                raise AssertionError(frame)

    def _tell(self, question: Question) -> None:
        try:
            self._send(Answer(question.number, self._answer(*question.arguments)))
        except Exception as error:  # it is raised where it was asked
            self._send(Failure(question.number, error))

    def _end(self) -> _EndedError | NoProcessError:
        if self._refused is not None:
            return NoProcessError(str(self._refused))
        how = f"was not heard of for {self._silence_s:g} s" if self._stuck else _how(self._process.returncode)
        return _EndedError(how, self._begun)


class _Silence:
    """How long nothing was heard, in time that was waited: whoever was stopped himself has not listened meanwhile."""

    def __init__(self) -> None:
        self._signs = -1
        self._lasts_s = 0.0
        self._looked_at = time.monotonic()

    def lasts_s(self, now: float, signs: int) -> float:
        passed_s = min(now - self._looked_at, 2 * _NOTICE_S)
        self._lasts_s = self._lasts_s + passed_s if signs == self._signs else 0.0
        self._looked_at, self._signs = now, signs
        return self._lasts_s


def refuse_unknown_program() -> str:
    """The Python that would be started. Raises NoProcessError where this program is none, but has one inside."""
    program = sys.executable
    if hasattr(sys, "frozen") or not program or not Path(program).stem.lower().startswith(("python", "pypy")):
        raise NoProcessError(f"{program or 'this program'} is not known to be a Python")
    return program


def _popen() -> subprocess.Popen[bytes]:
    """With the modules that are found here, and nothing of the folder it is started in."""
    program = refuse_unknown_program()
    entries: list[object] = [*sys.path]  # of which those that are no texts, and the folder of the moment, are left out
    folders = [entry for entry in entries if isinstance(entry, str) and entry]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    flags = ("BELOW_NORMAL_PRIORITY_CLASS", "CREATE_NEW_PROCESS_GROUP")
    try:
        return subprocess.Popen(
            [program, "-P", "-m", "libravdb_memory.apart", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            creationflags=sum(getattr(subprocess, flag, 0) for flag in flags),  # there are any on Windows alone
            process_group=0 if os.name == "posix" else None,  # a terminal's interrupt is not its affair, from the start
        )
    except OSError as error:
        raise NoProcessError(f"{program} cannot be started: {error}") from error


def _how(code: int) -> str:
    if code == 0:
        return _IDLE
    return f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
