"""Objects that live in a process of their own in the tests; they are made there by what stands here."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from libravdb_memory.apart import Ask
from libravdb_memory.apart.frames import Alive, Pipe
from libravdb_memory.engines.places import places
from libravdb_memory.errors import CallCancelledError, ConfigError, TextRefusedError

Cancelled = Callable[[], bool]


@dataclass(frozen=True)
class Thing:
    ask: Ask

    def double(self, value: Any, cancelled: Cancelled) -> Any:
        return value * 2

    def pid(self, cancelled: Cancelled) -> int:
        return os.getpid()

    def refuse(self, cancelled: Cancelled) -> None:
        raise TextRefusedError("a model", "a reason")

    def unknown(self, cancelled: Cancelled) -> None:
        class Odd(Exception):
            pass

        raise Odd("that no other process knows")

    def unsendable(self, cancelled: Cancelled) -> object:
        return lambda: None

    def die(self, cancelled: Cancelled) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def die_once(self, note: str, cancelled: Cancelled) -> str:
        if not os.path.exists(note):  # noqa: PTH110 - a plain name
            with open(note, "x"):  # noqa: PTH123
                os.kill(os.getpid(), signal.SIGKILL)
        return "alive"

    def stop_once(self, note: str, cancelled: Cancelled) -> str:
        if not os.path.exists(note):  # noqa: PTH110 - a plain name
            with open(note, "x"):  # noqa: PTH123
                self.stop(cancelled)
        return "alive"

    def stop(self, cancelled: Cancelled) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(60)  # a signal may come a little later

    def take(self, seconds: float, cancelled: Cancelled) -> int:
        time.sleep(seconds)
        return os.getpid()

    def wait(self, cancelled: Cancelled) -> None:
        while not cancelled():
            time.sleep(0.01)
        raise CallCancelledError("waiting")

    def never_end(self, note: str, cancelled: Cancelled) -> None:
        with open(note, "a") as begun:  # noqa: PTH123 - a plain name
            begun.write("begun\n")
        while True:
            time.sleep(1)

    def ask_when_given_up(self, note: str, cancelled: Cancelled) -> None:
        while not cancelled():
            time.sleep(0.01)
        try:
            self.ask("too late")
        except CallCancelledError:
            with open(note, "x"):  # noqa: PTH123 - a plain name
                pass

    def thread(self, cancelled: Cancelled) -> int:
        return threading.get_native_id()

    def leaves_room(self, cancelled: Cancelled) -> bool:
        return places._clock() < places._arriving_until

    def asked_without_threads(self, question: str, cancelled: Cancelled) -> Any:
        """Meanwhile no thread can be had here."""
        start = threading.Thread.start
        threading.Thread.start = _no_thread  # type: ignore[method-assign]
        try:
            return self.ask(question)
        finally:
            threading.Thread.start = start  # type: ignore[method-assign]

    def note(self, note: str, cancelled: Cancelled) -> None:
        with open(note, "x"):  # noqa: PTH123 - a plain name
            pass

    def is_noted(self, note: str, cancelled: Cancelled) -> bool:
        return os.path.exists(note)  # noqa: PTH110 - a plain name

    def read_nothing_more_once(self, note: str, cancelled: Cancelled) -> str:
        if not self.is_noted(note, cancelled):
            self.note(note, cancelled)
            Pipe.receive = _no_memory  # type: ignore[method-assign]
            self.ask("the last that is read")
            threading.Event().wait()
        return "alive"

    def say_nothing_more_once(self, note: str, cancelled: Cancelled) -> str:
        if not self.is_noted(note, cancelled):
            self.note(note, cancelled)
            send = Pipe.send
            Pipe.send = lambda pipe, frame: (  # type: ignore[method-assign]
                send(pipe, frame) if isinstance(frame, Alive) else _no_memory()
            )
        return "alive"

    def asked(self, question: str, cancelled: Cancelled) -> Any:
        return self.ask(question)

    def talk(self, cancelled: Cancelled) -> None:
        print("printed where nobody may read it as an answer")  # noqa: T201
        logging.getLogger("things").warning("told")


def _no_thread(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def _no_memory(*_: object) -> Any:
    raise MemoryError


class Broken:
    def __init__(self, ask: Ask) -> None:
        raise ConfigError("a.setting", "is bad")
